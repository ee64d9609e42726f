"""C&S: correct and smooth (Huang et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from metapn.baselines.mlp import MLPNetwork, TwoLayerClassifier
from metapn.baselines.supervised import SupervisedLearner
from metapn.baselines.views import alone
from metapn.model.features import FeatureMatrix
from metapn.model.network import normalised
from metapn.model.settings import flag, number, setting, whole
from metapn.model.task import Task
from metapn.model.transformer import Transformer
from metapn.propagation.hops import one_hot, personalised_pagerank
from metapn.propagation.operator import SparseMatrix


class Steps(NamedTuple):
    """The settings of the two steps."""

    n_hops: int
    correct_alpha: float
    smooth_alpha: float
    autoscale: bool
    scale: float


class CorrectedNetwork(MLPNetwork):
    """An MLP, corrected by the gold labels where they are known, and smoothed where there is a graph."""

    def __init__(self, transformer: Transformer, steps: Steps) -> None:
        super().__init__(transformer)
        self.steps = steps

    def probabilities(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Probability of each class on a graph without gold nodes, shape (n, c)."""
        P = super().probabilities(X, None)
        return P if T is None else self.smooth(P, T)

    def on_the_training_graph(self, task: Task) -> Tensor:
        """Probability of each class, shape (n, c), from features and gold labels."""
        Y = one_hot(task.gold, task.gold_labels, task.n_nodes, task.n_classes)[task.gold]
        corrected = self.correct(self.probabilities(task.X, None), task.T, task.gold, Y)
        return normalised(self.smooth(corrected.index_copy(0, task.gold, Y), task.T))

    def correct(self, P: Tensor, T: SparseMatrix, gold: Tensor, Y: Tensor) -> Tensor:
        """P + scale · E(K), shape (n, c), from the labels Y of the gold nodes, shape (g, c)."""
        alpha, n_hops = self.steps.correct_alpha, self.steps.n_hops
        errors = Y - P[gold]
        E = torch.zeros_like(P).index_copy(0, gold, errors)
        if not self.steps.autoscale:
            E = personalised_pagerank(T, E, alpha, n_hops, constrain=lambda E: E.index_copy(0, gold, errors))
            return P + self.steps.scale * E
        E = personalised_pagerank(T, E, alpha, n_hops, constrain=lambda E: E.clamp(-1, 1))
        scale = errors.abs().sum() / len(gold) / E.abs().sum(dim=1, keepdim=True)
        # Where next to no error arrives there is nothing to enlarge.
        return P + torch.where(scale > 1000, 1.0, scale) * E

    def smooth(self, P: Tensor, T: SparseMatrix) -> Tensor:
        """Personalised PageRank from P, within [0, 1], shape (n, c)."""
        alpha, n_hops = self.steps.smooth_alpha, self.steps.n_hops
        return personalised_pagerank(T, P, alpha, n_hops, constrain=lambda Z: Z.clamp(0, 1))


class CorrectedLearner(SupervisedLearner):
    """An MLP on the gold rows; when to stop is judged by what becomes of it on the training graph."""

    def __init__(self, network: CorrectedNetwork, task: Task, settings: CorrectAndSmooth) -> None:
        super().__init__(network, task, settings, *alone(task))
        self.corrected, self.task = network, task

    def predict(self) -> Tensor:
        """Probabilities of all nodes, shape (n, c)."""
        return self.corrected.on_the_training_graph(self.task)


@dataclass(eq=False, repr=False, kw_only=True)
class CorrectAndSmooth(TwoLayerClassifier):
    """An MLP whose errors on the gold nodes are spread over the graph, then its corrected predictions.

        P = softmax(ReLU(X W₁ + b₁) W₂ + b₂)
        E(k+1) = (1 - α₁) T E(k) + α₁ E(0)     correct: E(0) = Y - P on the gold nodes, zero elsewhere
        Z = P + scale · E(K)                   and Z = Y on the gold nodes
        Z(k+1) = (1 - α₂) T Z(k) + α₂ Z(0)     smooth

    With ``autoscale`` the scale of node i is σ / ‖E_i(K)‖₁, where σ is the mean of ‖E_i(0)‖₁ over the gold
    nodes; without it the errors of the gold nodes are held fixed. In `predict` there are no gold nodes, and
    the MLP is smoothed where a graph is given.

    Parameters
    ----------
    n_hops : int
        K, of either step.
    correct_alpha, smooth_alpha : float
        Teleport probabilities α₁ and α₂, that is one minus the authors' α. (They found 0.02 and 0.24 for an
        MLP on a graph with 90,941 gold nodes; with a few, 0.1 does better on the validation nodes.)
    autoscale : bool
    scale : float
        Without ``autoscale``.
    hidden, dropout, learning_rate, l2, max_epochs, patience, scaling, n_neighbors, device, random_state
        See `metapn.baselines.mlp.TwoLayerClassifier` and `metapn.baselines.supervised.SupervisedClassifier`.
    """

    n_hops: int = setting(50, whole(1))
    correct_alpha: float = setting(0.1, number(0, 1))
    smooth_alpha: float = setting(0.1, number(0, 1))
    autoscale: bool = setting(True, flag())
    scale: float = setting(1.0, number(0))

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> CorrectedNetwork:
        steps = Steps(self.n_hops, self.correct_alpha, self.smooth_alpha, self.autoscale, self.scale)
        return CorrectedNetwork(self._transformer(n_features, n_classes, generator), steps)

    def _learner(self, network: CorrectedNetwork, task: Task) -> SupervisedLearner:
        return CorrectedLearner(network, task, self)

    def _final_distributions(self, network: CorrectedNetwork, task: Task) -> Tensor:
        return network.on_the_training_graph(task)
