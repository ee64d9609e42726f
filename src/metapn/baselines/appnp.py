"""APPNP: predict, then propagate by personalised PageRank (Klicpera et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from metapn.baselines.mlp import MLPNetwork, TwoLayerClassifier
from metapn.model.features import FeatureMatrix
from metapn.model.settings import number, setting, whole
from metapn.model.transformer import Transformer
from metapn.propagation.hops import personalised_pagerank
from metapn.propagation.operator import SparseMatrix


class APPNPNetwork(MLPNetwork):
    """logits = Z(K) with Z(0) = f_θ(X)."""

    def __init__(self, transformer: Transformer, *, alpha: float, n_hops: int) -> None:
        super().__init__(transformer)
        self.alpha, self.n_hops = alpha, n_hops

    def logits(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Scores of each class, shape (n, c)."""
        return personalised_pagerank(T, self.transformer(X), self.alpha, self.n_hops)


@dataclass(eq=False, repr=False, kw_only=True)
class APPNP(TwoLayerClassifier):
    """The scores of an MLP, spread by K steps of personalised PageRank and trained through them.

        Z(0) = ReLU(X W₁ + b₁) W₂ + b₂
        Z(k+1) = (1 - α) T Z(k) + α Z(0)
        P = softmax(Z(K))

    Parameters
    ----------
    n_hops : int
        K.
    alpha : float
        Teleport probability α; the paper uses 0.1, and 0.2 on the co-authorship graph.
    hidden, dropout, learning_rate, l2, max_epochs, patience, scaling, n_neighbors, device, random_state
        See `metapn.baselines.mlp.TwoLayerClassifier` and `metapn.baselines.supervised.SupervisedClassifier`.
    """

    n_hops: int = setting(10, whole(1))
    alpha: float = setting(0.1, number(0, 1))

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> APPNPNetwork:
        transformer = self._transformer(n_features, n_classes, generator)
        return APPNPNetwork(transformer, alpha=self.alpha, n_hops=self.n_hops)
