"""Sums over very many neighbours, to the precision of float32."""

from __future__ import annotations

import torch
from torch import Tensor

#: The error of a float32 sum grows with its terms: at worst it is 5e-7 of the sum for 32 terms, 4e-6 for 256,
#: and 1e-3 for the 10^5 neighbours that a hub may have. Rows of more than LONG entries are cut into PIECEs.
LONG, PIECE = 256, 32


class Pieces:
    """Rows of a sparse matrix, of which long ones are cut, so that sums of pieces are added in float64.

    Parameters
    ----------
    row_starts : int tensor, shape (n + 1,)
        Where each row starts among the stored entries.

    Attributes
    ----------
    starts : int tensor, shape (p + 1,)
        Where each piece starts; those of a row follow each other.

    Examples
    --------
    >>> cut = Pieces(torch.tensor([0, 2, 302]))
    >>> cut.starts
    tensor([  0,   2,  34,  66,  98, 130, 162, 194, 226, 258, 290, 302])
    >>> cut.fold(torch.ones(11, 1))
    tensor([[ 1.],
            [10.]])
    """

    def __init__(self, row_starts: Tensor) -> None:
        lengths = row_starts.diff()
        self.starts, self._first = row_starts, None
        if len(lengths) == 0 or int(lengths.max()) <= LONG:
            return
        pieces = lengths.add(PIECE - 1).div_(PIECE, rounding_mode="floor")
        counts = torch.where(lengths > LONG, pieces, 1)
        first = counts.cumsum(0) - counts
        within = torch.arange(int(counts.sum()), device=row_starts.device) - first.repeat_interleave(counts)
        starts = row_starts[:-1].repeat_interleave(counts) + PIECE * within
        self.starts = torch.cat([starts, row_starts[-1:]]).to(row_starts.dtype)
        self._first = first
        self._rows = torch.nonzero(counts > 1)[:, 0]
        owner = torch.arange(len(self._rows), device=row_starts.device).repeat_interleave(counts[self._rows])
        self._owner, self._parts = owner, torch.nonzero((counts > 1).repeat_interleave(counts))[:, 0]

    def fold(self, sums: Tensor) -> Tensor:
        """Sums of the rows, shape (n, d), from those of the pieces, shape (p, d)."""
        if self._first is None:
            return sums
        rows = sums[self._first]
        long = torch.zeros(len(self._rows), sums.shape[1], dtype=torch.float64, device=sums.device)
        rows[self._rows] = long.index_add_(0, self._owner, sums[self._parts].double()).to(sums.dtype)
        return rows
