"""GCN: graph convolutional network (Kipf and Welling 2017)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from metapn.baselines.mlp import MLPNetwork, TwoLayerClassifier
from metapn.baselines.sgc import SGCNetwork
from metapn.model.features import FeatureMatrix
from metapn.model.settings import setting, whole
from metapn.model.transformer import Transformer, dropout_mask, uniform
from metapn.propagation.operator import SparseMatrix


class GCNNetwork(MLPNetwork):
    """H₁ = ReLU(S X W₁ + b₁), H_l+1 = ReLU(S H_l V_l + v_l), logits = S H_L-1 W₂ + b₂.

    S = T; it may be another smoothing in a subclass. Of L layers the first and the last have the weights of
    a transformer, W₁ and W₂.
    """

    def __init__(self, transformer: Transformer, *, n_layers: int = 2) -> None:
        super().__init__(transformer)
        hidden, generator = len(transformer.b1), transformer.generator
        bound = 1 / math.sqrt(hidden)
        self.V = nn.ParameterList(uniform((hidden, hidden), bound, generator) for _ in range(n_layers - 2))
        self.v = nn.ParameterList(uniform((hidden,), bound, generator) for _ in range(n_layers - 2))

    def smooth(self, T: SparseMatrix | None, H: Tensor) -> Tensor:
        """S H, shape (n, d); T is None for nodes without edges."""
        return H if T is None else T @ H

    def logits(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Scores of each class, shape (n, c)."""
        net = self.transformer
        if self.training:
            X = X.dropout(net.dropout, net.generator)
        return self.smooth(T, self._noisy(self.embed(X, T)) @ net.W2) + net.b2

    def embed(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Last hidden layer, shape (n, h)."""
        H = torch.relu(self.smooth(T, X @ self.transformer.W1) + self.transformer.b1)
        for V, v in zip(self.V, self.v, strict=True):
            H = torch.relu(self.smooth(T, self._noisy(H) @ V) + v)
        return H

    def _noisy(self, H: Tensor) -> Tensor:
        net = self.transformer
        return H * dropout_mask(H, net.dropout, net.generator) if self.training else H


class OneLayerNetwork(SGCNetwork):
    """logits = T X W + b, with dropout on X."""

    def __init__(self, n_features: int, n_classes: int, *, dropout: float, generator: torch.Generator) -> None:
        super().__init__(n_features, n_classes, n_hops=1, generator=generator)
        self.dropout, self.generator = dropout, generator

    def logits(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Scores of each class, shape (n, c)."""
        return super().logits(X.dropout(self.dropout, self.generator) if self.training else X, T)


@dataclass(eq=False, repr=False, kw_only=True)
class GCN(TwoLayerClassifier):
    """L layers, two by default, each of which averages over the neighbours.

        H_0 = X,  H_l = ReLU(T H_l-1 W_l + b_l)
        P = softmax(T H_L-1 W_L + b_L)

    Parameters
    ----------
    n_layers : int
        L. One layer has nothing hidden.
    hidden, dropout, learning_rate, l2, max_epochs, patience, scaling, n_neighbors, device, random_state
        See `metapn.baselines.mlp.TwoLayerClassifier` and `metapn.baselines.supervised.SupervisedClassifier`.
    """

    n_layers: int = setting(2, whole(1))

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> GCNNetwork | OneLayerNetwork:
        if self.n_layers == 1:
            return OneLayerNetwork(n_features, n_classes, dropout=self.dropout, generator=generator)
        return GCNNetwork(self._transformer(n_features, n_classes, generator), n_layers=self.n_layers)
