"""C&S: correct and smooth (Huang et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from metapn.baselines.mlp import MLP, MLPNetwork
from metapn.model.features import FeatureMatrix
from metapn.model.network import normalised
from metapn.model.settings import flag, number, setting, whole
from metapn.model.task import Task
from metapn.model.transformer import Transformer
from metapn.propagation.hops import one_hot, personalised_pagerank
from metapn.propagation.operator import SparseMatrix


class SmoothedNetwork(MLPNetwork):
    """An MLP, smoothed where there is a graph: no gold label is known there to correct by."""

    def __init__(self, transformer: Transformer, *, alpha: float, n_hops: int) -> None:
        super().__init__(transformer)
        self.alpha, self.n_hops = alpha, n_hops

    def probabilities(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Probability of each class, shape (n, c)."""
        P = super().probabilities(X, None)
        return P if T is None else self.smooth(P, T)

    def smooth(self, P: Tensor, T: SparseMatrix) -> Tensor:
        """Personalised PageRank from P, within [0, 1], shape (n, c)."""
        return personalised_pagerank(T, P, self.alpha, self.n_hops, constrain=lambda Z: Z.clamp(0, 1))


@dataclass(eq=False, repr=False, kw_only=True)
class CorrectAndSmooth(MLP):
    """An MLP whose errors on the gold nodes are spread over the graph, then its corrected predictions.

        P = softmax(ReLU(X W₁ + b₁) W₂ + b₂)
        E(k+1) = (1 - α₁) T E(k) + α₁ E(0)     correct: E(0) = Y - P on the gold nodes, zero elsewhere
        Z = P + scale · E(K)                   and Z = Y on the gold nodes
        Z(k+1) = (1 - α₂) T Z(k) + α₂ Z(0)     smooth

    With ``autoscale`` the scale of node i is σ / ‖E_i(K)‖₁, where σ is the mean error of the gold nodes,
    ‖E_i(0)‖₁; without it the errors of the gold nodes are held fixed. In `predict` there are no gold nodes,
    and the MLP is smoothed where a graph is given.

    Parameters
    ----------
    n_hops : int
        K, of either step.
    correct_alpha, smooth_alpha : float
        Teleport probabilities α₁ and α₂ (one minus the authors' α). The defaults are those that the authors
        found for an MLP.
    autoscale : bool
    scale : float
        Without ``autoscale``.
    hidden, dropout, learning_rate, l2, max_epochs, patience, scaling, n_neighbors, device, random_state
        See `metapn.baselines.mlp.TwoLayerClassifier` and `metapn.baselines.supervised.SupervisedClassifier`.
    """

    n_hops: int = setting(50, whole(1))
    correct_alpha: float = setting(0.02, number(0, 1))
    smooth_alpha: float = setting(0.24, number(0, 1))
    autoscale: bool = setting(True, flag())
    scale: float = setting(1.0, number(0))

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> SmoothedNetwork:
        transformer = self._transformer(n_features, n_classes, generator)
        return SmoothedNetwork(transformer, alpha=self.smooth_alpha, n_hops=self.n_hops)

    def _final_distributions(self, network: SmoothedNetwork, task: Task) -> Tensor:
        Y = one_hot(task.gold, task.gold_labels, task.n_nodes, task.n_classes)[task.gold]
        Z = self._corrected(network.probabilities(task.X, None), Y, task)
        Z[task.gold] = Y
        return normalised(network.smooth(Z, task.T))

    def _corrected(self, P: Tensor, Y: Tensor, task: Task) -> Tensor:
        """P + scale · E(K), shape (n, c), from the labels Y of the gold nodes, shape (g, c)."""
        errors = Y - P[task.gold]
        E = torch.zeros_like(P).index_copy(0, task.gold, errors)
        if not self.autoscale:
            hold = lambda E: E.index_copy(0, task.gold, errors)  # noqa: E731
            return P + self.scale * personalised_pagerank(
                task.T, E, self.correct_alpha, self.n_hops, constrain=hold
            )
        E = personalised_pagerank(task.T, E, self.correct_alpha, self.n_hops, constrain=lambda E: E.clamp(-1, 1))
        scale = errors.abs().sum() / len(task.gold) / E.abs().sum(dim=1, keepdim=True)
        # Where next to no error arrives there is nothing to enlarge.
        return P + torch.where(scale > 1000, 1.0, scale) * E
