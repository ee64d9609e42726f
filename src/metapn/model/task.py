"""What a method is given to learn from: graph, features and the few labels, as tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from metapn.model.features import FeatureMatrix
from metapn.propagation.operator import SparseMatrix


class Predicted(Protocol):
    """Probabilities of all nodes, shape (n, c): a tensor, or what lies elsewhere and is looked up."""

    def __getitem__(self, nodes: Any, /) -> Tensor:
        """Probabilities of some nodes, shape (len(nodes), c)."""

    def argmax(self, dim: int) -> Tensor:
        """Most probable class of each node, shape (n,); ``dim`` is 1."""


class FeatureRows(Protocol):
    """The feature matrix X, of which rows can be had."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, f)."""

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""

    def rows(self, nodes: npt.NDArray[np.int64]) -> FeatureMatrix:
        """Return the rows of these nodes, shape (len(nodes), f)."""


class Problem(Protocol):
    """What is known of a problem wherever its graph lies; see `Task` for what each is."""

    @property
    def X(self) -> FeatureRows: ...  # noqa: D102, N802
    @property
    def n_nodes(self) -> int: ...  # noqa: D102
    @property
    def n_classes(self) -> int: ...  # noqa: D102
    @property
    def gold(self) -> Tensor: ...  # noqa: D102
    @property
    def gold_labels(self) -> Tensor: ...  # noqa: D102
    @property
    def validation(self) -> Tensor | None: ...  # noqa: D102
    @property
    def validation_labels(self) -> Tensor | None: ...  # noqa: D102
    @property
    def generator(self) -> torch.Generator: ...  # noqa: D102
    @property
    def device(self) -> torch.device: ...  # noqa: D102

    def predict(self, network: Any, *, spread: bool = True) -> Predicted:
        """Probabilities of all nodes by a network, with the graph or by features alone, shape (n, c)."""


@dataclass(frozen=True)
class Task:
    """One problem: label n nodes with c classes from g gold labels.

    Parameters
    ----------
    T : SparseMatrix, shape (n, n)
        Symmetric normalised adjacency with self-loops.
    X : FeatureMatrix, shape (n, f)
    gold, gold_labels : tensor, shape (g,)
        The labelled nodes and their classes. No other label is in a task, but the validation nodes'.
    validation, validation_labels : tensor, shape (v,), or None
    n_classes : int
    generator : torch.Generator
        The one source of randomness.
    """

    T: SparseMatrix
    X: FeatureMatrix
    gold: Tensor
    gold_labels: Tensor
    n_classes: int
    generator: torch.Generator
    validation: Tensor | None = None
    validation_labels: Tensor | None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return self.T.shape[0]

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.gold.device

    def predict(self, network: Any, *, spread: bool = True) -> Tensor:
        """Probabilities of all nodes by a network, with the graph or by features alone, shape (n, c)."""
        P: Tensor = network.probabilities(self.X, self.T if spread else None)
        return P
