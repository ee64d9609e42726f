"""GCN: graph convolutional network (Kipf and Welling 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from metapn.baselines.mlp import MLPNetwork, TwoLayerClassifier
from metapn.model.features import FeatureMatrix
from metapn.model.transformer import dropout_mask
from metapn.propagation.operator import SparseMatrix


class GCNNetwork(MLPNetwork):
    """logits = S ReLU(S X W₁ + b₁) W₂ + b₂ with S = T; S may be another smoothing in a subclass."""

    def smooth(self, T: SparseMatrix | None, H: Tensor) -> Tensor:
        """S H, shape (n, d); T is None for nodes without edges."""
        return H if T is None else T @ H

    def logits(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Scores of each class, shape (n, c)."""
        net = self.transformer
        if self.training:
            X = X.dropout(net.dropout, net.generator)
        hidden = self.embed(X, T)
        if self.training:
            hidden = hidden * dropout_mask(hidden, net.dropout, net.generator)
        return self.smooth(T, hidden @ net.W2) + net.b2

    def embed(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Hidden layer, shape (n, h)."""
        return torch.relu(self.smooth(T, X @ self.transformer.W1) + self.transformer.b1)


@dataclass(eq=False, repr=False, kw_only=True)
class GCN(TwoLayerClassifier):
    """Two layers, each of which averages over the neighbours.

        P = softmax(T ReLU(T X W₁ + b₁) W₂ + b₂)

    Parameters
    ----------
    hidden, dropout, learning_rate, l2, max_epochs, patience, scaling, n_neighbors, device, random_state
        See `metapn.baselines.mlp.TwoLayerClassifier` and `metapn.baselines.supervised.SupervisedClassifier`.
    """

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> GCNNetwork:
        return GCNNetwork(self._transformer(n_features, n_classes, generator))
