"""The feature matrix as one of several workers has it: rows of its parts, and those of the gold nodes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy import sparse
from torch import Tensor

from metapn.graph import Features
from metapn.model.features import FeatureMatrix


class OwnFeatures:
    """X by parts, see `metapn.model.streaming.features.FeatureSource`.

    Parameters
    ----------
    shape : pair of int
        (n, f).
    n_stored : int
        Stored entries of all of X.
    parts : mapping of int to array or sparse array
        Rows of X of each of its parts, by the node of the first.
    gold : array or sparse array, shape (g, f)
        Rows of the gold nodes, which every worker has.
    """

    def __init__(self, shape: tuple[int, int], n_stored: int, parts: Mapping[int, Features], gold: Features) -> None:
        self.shape, self.n_stored, self.parts, self.gold = shape, n_stored, dict(sorted(parts.items())), gold

    def rows(self, nodes: npt.NDArray[np.int64]) -> FeatureMatrix:
        """Rows of the gold nodes; no others are asked of all workers."""
        assert len(nodes) == self.gold.shape[0]
        return FeatureMatrix(self.gold)

    def block(self, start: int, stop: int) -> FeatureMatrix:
        """Rows of the nodes start to stop, all of one part."""
        first = max(first for first in self.parts if first <= start)
        return FeatureMatrix(self.parts[first][start - first : stop - first])

    def deal(self, order: Tensor, block_size: int) -> _Dealt:
        """Prepare batches, of which it has its nodes, part by part."""
        return _Dealt(self.parts, order.numpy(), block_size)


class _Dealt:
    def __init__(self, parts: dict[int, Features], order: npt.NDArray[np.int64], block_size: int) -> None:
        self.parts, self.order, self.size = parts, order, block_size

    def batch(self, block: int) -> FeatureMatrix:
        nodes = self.order[block * self.size : (block + 1) * self.size]
        found = []
        for first, rows in self.parts.items():
            own = nodes[(nodes >= first) & (nodes < first + rows.shape[0])]
            found.append(rows[own - first])
        whole = sparse.vstack(found, format="csr") if sparse.issparse(found[0]) else np.concatenate(found)
        return FeatureMatrix(whole)
