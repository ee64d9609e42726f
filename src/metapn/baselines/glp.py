"""GLP: generalised label propagation (Li et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from metapn.baselines.filters import Filter, FilteredClassifier
from metapn.baselines.mlp import MLPNetwork
from metapn.baselines.supervised import SupervisedLearner
from metapn.baselines.views import smoothed_first
from metapn.model.features import FeatureMatrix
from metapn.model.task import Task
from metapn.model.transformer import Transformer
from metapn.propagation.operator import SparseMatrix


class GLPNetwork(MLPNetwork):
    """logits = ReLU(S X W₁ + b₁) W₂ + b₂, computed as S (X W₁): X stays sparse."""

    def __init__(self, transformer: Transformer) -> None:
        super().__init__(transformer)
        self.filter = Filter()

    def logits(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Scores of each class, shape (n, c); T is None for features that are smooth already, as in training."""
        if T is None:
            return super().logits(X, T)
        return self.embed(X, T) @ self.transformer.W2 + self.transformer.b2

    def embed(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Hidden layer, shape (n, h)."""
        return torch.relu(self.filter(T, X @ self.transformer.W1) + self.transformer.b1)


@dataclass(eq=False, repr=False, kw_only=True)
class GLP(FilteredClassifier):
    """An MLP on features that were smoothed by a strong low-pass filter of the graph.

        P = softmax(ReLU(S X W₁ + b₁) W₂ + b₂),  S = T^k (rnm) or (I + α (I - T))^-1 (ar)

    Parameters
    ----------
    filter, k, alpha, l2
        See `metapn.baselines.filters.FilteredClassifier`.
    hidden, dropout, learning_rate, max_epochs, patience, scaling, n_neighbors, device, random_state
        See `metapn.baselines.mlp.TwoLayerClassifier` and `metapn.baselines.supervised.SupervisedClassifier`.

    Attributes
    ----------
    filter_ : {"rnm", "ar"}
        The filter of the weights that were kept.
    """

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> GLPNetwork:
        return GLPNetwork(self._transformer(n_features, n_classes, generator))

    def _learner(self, network: GLPNetwork, task: Task) -> SupervisedLearner:
        views = smoothed_first(task, lambda H: network.filter(task.T, H))
        return SupervisedLearner(network, task, self, *views)
