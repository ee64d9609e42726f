"""Predictions that are never in memory all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from metapn.model.closed_forms import Head, activate
from metapn.model.streaming.features import FeatureSource
from metapn.propagation.engines.contract import RowBlocks

#: Rows that are predicted or looked at in one go.
ROWS = 2**15


class TransformedRows:
    """softmax(f_θ(X)) of r runs, side by side, made when it is asked for; see `RowBlocks`.

    Parameters
    ----------
    X : FeatureSource, shape (n, f)
    theta : sequence of tensor
        W₁ (r, f, h), b₁ (r, 1, h), W₂ᵀ (r, c, h), b₂ (r, c, 1).
    """

    def __init__(self, X: FeatureSource, theta: Sequence[Tensor]) -> None:
        self.X, self.W1, self.head = X, theta[0], Head(*theta[1:])
        self.shape: tuple[int, int] = (X.shape[0], self.head.b2.shape[0] * self.head.b2.shape[1])

    @torch.no_grad()
    def rows(self, start: int, stop: int) -> Tensor:
        """Probabilities of the nodes start to stop, shape (stop - start, r c)."""
        parts = []
        for first in range(start, stop, ROWS):
            block = self.X.block(first, min(first + ROWS, stop))
            p = activate(block.products(self.W1), self.head).p
            parts.append(p.reshape(self.shape[1], -1).T)
        return torch.cat(parts).contiguous().cpu() if parts else torch.zeros(0, self.shape[1])


class Predictions:
    """Some columns of a matrix that is read by rows, in the place of a tensor of shape (n, c).

    Parameters
    ----------
    matrix : RowBlocks, shape (n, d)
    columns : slice
        Those of one run.
    """

    def __init__(self, matrix: RowBlocks, columns: slice) -> None:
        self.matrix, self.columns = matrix, columns

    def __getitem__(self, nodes: Any) -> Tensor:
        """Rows of some nodes; a slice reads them in one go."""
        n_rows = self.matrix.shape[0]
        if isinstance(nodes, slice):
            start, stop, step = nodes.indices(n_rows)
            return self.matrix.rows(start, stop)[::step, self.columns]
        rows = [self.matrix.rows(node, node + 1)[:, self.columns] for node in torch.as_tensor(nodes).tolist()]
        return torch.cat(rows)

    def argmax(self, dim: int) -> Tensor:
        """Most probable class of each node, shape (n,), int32."""
        labels = np.empty(self.matrix.shape[0], np.int32)
        for start in range(0, len(labels), ROWS):
            stop = min(start + ROWS, len(labels))
            labels[start:stop] = self[start:stop].argmax(dim=dim).numpy()
        return torch.from_numpy(labels)
