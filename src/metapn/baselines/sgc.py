"""SGC: simplified graph convolution (Wu et al. 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from metapn.baselines.supervised import LogitNetwork, SupervisedClassifier, SupervisedLearner
from metapn.baselines.views import smoothed_first
from metapn.model.features import FeatureMatrix
from metapn.model.settings import setting, whole
from metapn.model.task import Task
from metapn.model.transformer import uniform
from metapn.propagation.hops import hops
from metapn.propagation.operator import SparseMatrix


class SGCNetwork(LogitNetwork):
    """logits = T^K X W + b, computed as T^K (X W): X stays sparse."""

    def __init__(self, n_features: int, n_classes: int, *, n_hops: int, generator: torch.Generator) -> None:
        super().__init__()
        self.n_hops = n_hops
        self.W = uniform((n_features, n_classes), 1 / math.sqrt(n_features), generator)
        self.b = uniform((n_classes,), 1 / math.sqrt(n_classes), generator)

    @property
    def first_layer(self) -> nn.Parameter:
        """W, shape (f, c)."""
        return self.W

    def logits(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Scores of each class, shape (n, c)."""
        return self.smooth(T, X @ self.W) + self.b

    def smooth(self, T: SparseMatrix | None, H: Tensor) -> Tensor:
        """T^K H, shape (n, d)."""
        *_, last = hops(T, H, self.n_hops)
        return last

    def embed(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Scores of each class, shape (n, c): there is no hidden layer."""
        return self.logits(X, T)


@dataclass(eq=False, repr=False, kw_only=True)
class SGC(SupervisedClassifier):
    """Logistic regression on features that were averaged over the neighbours K times.

        P = softmax(T^K X W + b)

    Parameters
    ----------
    n_hops : int
        K.
    learning_rate, l2, max_epochs, patience, scaling, n_neighbors, device, random_state
        See `metapn.baselines.supervised.SupervisedClassifier`.
    """

    n_hops: int = setting(2, whole(1))

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> SGCNetwork:
        return SGCNetwork(n_features, n_classes, n_hops=self.n_hops, generator=generator)

    def _learner(self, network: SGCNetwork, task: Task) -> SupervisedLearner:
        views = smoothed_first(task, lambda H: network.smooth(task.T, H))
        return SupervisedLearner(network, task, self, *views)
