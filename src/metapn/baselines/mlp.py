"""MLP: the features alone."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from metapn.baselines.supervised import LogitNetwork, SupervisedClassifier, SupervisedLearner
from metapn.baselines.views import alone
from metapn.model.features import FeatureMatrix
from metapn.model.settings import number, setting, whole
from metapn.model.task import Task
from metapn.model.transformer import Transformer
from metapn.propagation.operator import SparseMatrix


class MLPNetwork(LogitNetwork):
    """logits = ReLU(X W₁ + b₁) W₂ + b₂, the transformer of Meta-PN; base of the networks that build on it."""

    def __init__(self, transformer: Transformer) -> None:
        super().__init__()
        self.transformer = transformer

    @property
    def first_layer(self) -> nn.Parameter:
        """W₁, shape (f, h)."""
        return self.transformer.W1

    def logits(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Scores of each class, shape (n, c)."""
        logits: Tensor = self.transformer(X)
        return logits

    def embed(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Hidden layer, shape (n, h)."""
        return self.transformer.embed(X)


@dataclass(eq=False, repr=False, kw_only=True)
class TwoLayerClassifier(SupervisedClassifier):
    """Base of the methods with a hidden layer.

    Parameters
    ----------
    hidden : int
        Width of the hidden layer.
    dropout : float
        On features and hidden layer.
    """

    hidden: int = setting(64, whole(1))
    dropout: float = setting(0.2, number(0, 1, open_high=True))

    def _transformer(self, n_features: int, n_classes: int, generator: torch.Generator) -> Transformer:
        return Transformer(n_features, self.hidden, n_classes, dropout=self.dropout, generator=generator)


@dataclass(eq=False, repr=False, kw_only=True)
class MLP(TwoLayerClassifier):
    """Two layers on the features; the graph is not looked at.

        P = softmax(ReLU(X W₁ + b₁) W₂ + b₂)

    Parameters
    ----------
    hidden, dropout, learning_rate, l2, max_epochs, patience, scaling, n_neighbors, device, random_state
        See `TwoLayerClassifier` and `metapn.baselines.supervised.SupervisedClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1], [0, 2], [1, 0], [2, 0]])
    >>> MLP(random_state=0).fit(X, ["a", None, "b", None], graph=[(0, 2)]).transduction_.tolist()
    ['a', 'a', 'b', 'b']
    """

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> MLPNetwork:
        return MLPNetwork(self._transformer(n_features, n_classes, generator))

    def _learner(self, network: MLPNetwork, task: Task) -> SupervisedLearner:
        return SupervisedLearner(network, task, self, *alone(task))
