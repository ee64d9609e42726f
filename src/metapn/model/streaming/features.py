"""The feature matrix as streaming needs it: by batches while training, by blocks of nodes when predicting."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor

from metapn.model.features import FeatureMatrix
from metapn.model.task import FeatureRows


class DealtFeatures(Protocol):
    """Rows of X in the order in which the nodes were dealt."""

    def batch(self, block: int) -> FeatureMatrix:
        """Rows of the nodes of a block, shape (b, f)."""


class FeatureSource(FeatureRows, Protocol):
    """X, wherever it lies."""

    def block(self, start: int, stop: int) -> FeatureMatrix:
        """Rows of the nodes start to stop, shape (stop - start, f)."""

    def deal(self, order: Tensor, block_size: int) -> DealtFeatures:
        """Prepare batches: block i holds the nodes order[i · b : (i + 1) · b]."""


class HeldFeatures:
    """X in memory, sparse or dense.

    Parameters
    ----------
    X : FeatureMatrix, shape (n, f)
    """

    def __init__(self, X: FeatureMatrix) -> None:
        self.X, self.shape, self.n_stored = X, X.shape, X.n_stored

    def rows(self, nodes: npt.NDArray[np.int64]) -> FeatureMatrix:
        """Return the rows of these nodes, shape (len(nodes), f)."""
        return self.X.rows(nodes)

    def block(self, start: int, stop: int) -> FeatureMatrix:
        """Rows of the nodes start to stop, shape (stop - start, f)."""
        return self.X.rows(np.arange(start, stop))

    def deal(self, order: Tensor, block_size: int) -> DealtFeatures:
        """Prepare batches: nothing to do but to look them up."""
        return _Looked(self.X, order.split(block_size))


class _Looked:
    def __init__(self, X: FeatureMatrix, deals: tuple[Tensor, ...]) -> None:
        self.X, self.deals = X, deals

    def batch(self, block: int) -> FeatureMatrix:
        return self.X.rows(self.deals[block].numpy())
