"""A label matrix on disk, in blocks of columns: what is in memory at once is one block, or some rows."""

from __future__ import annotations

import weakref
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from metapn.propagation.engines.flat_file import FlatFile

#: Rows that are copied at a time.
_ROWS = 2**16


class LabelFiles:
    """A float32 matrix of shape (n, d), a file for each block of columns; rows follow each other in a file.

    Parameters
    ----------
    stem : path
        The files are named by it and the number of their block.
    shape : pair of int
        (n, d).
    bounds : list of int
        Where the blocks of columns start and end, from 0 to d.
    temporary : bool
        Whether the files go with the object.
    """

    def __init__(
        self, stem: Path, shape: tuple[int, int], bounds: list[int], *, temporary: bool = False, write: bool = True
    ) -> None:
        self.shape, self.bounds = shape, bounds
        self.paths = [stem.with_name(f"{stem.name}-{block:03d}") for block in range(len(bounds) - 1)]
        self._files = [FlatFile(path, "<f4", write=write) for path in self.paths]
        if temporary:
            weakref.finalize(self, _remove, self.paths)

    @property
    def blocks(self) -> list[slice]:
        """Columns of each block."""
        return [slice(start, stop) for start, stop in zip(self.bounds[:-1], self.bounds[1:], strict=True)]

    def write(self, block: int, first: int, rows: Tensor) -> None:
        """Write rows, shape (rows, columns of the block), from the row ``first`` on."""
        self._files[block].write(first * rows.shape[1], rows.numpy())

    def load(self, block: int) -> Tensor:
        """Read a block of columns whole, shape (n, columns of the block)."""
        columns = self.blocks[block]
        values = np.empty((self.shape[0], columns.stop - columns.start), np.float32)
        self._files[block].read_into(0, values)
        return torch.from_numpy(values)

    def part(self, block: int, first: int, count: int) -> Tensor:
        """Some rows of a block of columns, shape (count, columns of the block)."""
        columns = self.blocks[block]
        width = columns.stop - columns.start
        return torch.from_numpy(self._files[block].read(first * width, count * width).reshape(count, width))

    def rows(self, start: int, stop: int) -> Tensor:
        """Rows start to stop, shape (stop - start, d)."""
        values = np.empty((stop - start, self.shape[1]), np.float32)
        for block, columns in enumerate(self.blocks):
            values[:, columns] = self.part(block, start, stop - start)
        return torch.from_numpy(values)

    def sync(self) -> None:
        """Return when all is on the disk."""
        for file in self._files:
            file.sync()


def row_ranges(n_rows: int) -> list[tuple[int, int]]:
    """First and last row of each piece of n rows that is copied at a time."""
    return [(start, min(start + _ROWS, n_rows)) for start in range(0, n_rows, _ROWS)]


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
