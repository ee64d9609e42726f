"""DAGNN: deep adaptive graph neural network (Liu et al. 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from metapn.baselines.mlp import MLPNetwork, TwoLayerClassifier
from metapn.model.features import FeatureMatrix
from metapn.model.settings import number, setting, whole
from metapn.model.transformer import Transformer, uniform
from metapn.propagation.hops import hops
from metapn.propagation.operator import SparseMatrix


class DAGNNNetwork(MLPNetwork):
    """Transformer, and the projection s of shape (c,) with its bias that judges each hop."""

    def __init__(self, transformer: Transformer, *, n_hops: int) -> None:
        super().__init__(transformer)
        self.n_hops = n_hops
        n_classes = transformer.b2.shape[0]
        self.s = uniform((n_classes,), 1 / math.sqrt(n_classes), transformer.generator)
        self.b = uniform((), 1 / math.sqrt(n_classes), transformer.generator)

    def logits(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Scores of each class, shape (n, c)."""
        stack = torch.stack(list(hops(T, self.transformer(X), self.n_hops)), dim=1)
        retained = torch.sigmoid(stack @ self.s + self.b)
        return (retained.unsqueeze(-2) @ stack).squeeze(-2)


@dataclass(eq=False, repr=False, kw_only=True)
class DAGNN(TwoLayerClassifier):
    """The scores of an MLP at every hop; each node decides how much it retains of each.

        H(0) = ReLU(X W₁ + b₁) W₂ + b₂,  H(k+1) = T H(k)
        P_i = softmax(Σ_k σ(s · H_i(k) + b) H_i(k))

    Parameters
    ----------
    n_hops : int
        K.
    hidden, dropout, learning_rate, l2, max_epochs, patience, scaling, n_neighbors, device, random_state
        See `metapn.baselines.mlp.TwoLayerClassifier` and `metapn.baselines.supervised.SupervisedClassifier`.
    """

    n_hops: int = setting(10, whole(1))
    dropout: float = setting(0.7, number(0, 1, open_high=True))
    learning_rate: float = setting(0.01, number(0))

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> DAGNNNetwork:
        return DAGNNNetwork(self._transformer(n_features, n_classes, generator), n_hops=self.n_hops)
