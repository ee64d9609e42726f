"""A graph on disk: rows of neighbours in files, and the product with T by blocks of rows.

    T Z = S ((A + I) (S Z)),  S = D̃^(-1/2)

The files are ``row_starts`` (n + 1 numbers, int64), ``columns`` (int64, ascending in each row), ``scale`` (the
diagonal of S, float32) and, for a weighted graph, ``weights`` (float32).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from metapn.graph import IntArray
from metapn.propagation.engines.contract import EdgeSource
from metapn.propagation.engines.external_sort import SortedRows, sorted_rows
from metapn.propagation.engines.flat_file import FlatFile
from metapn.propagation.engines.read_ahead import read_ahead
from metapn.propagation.engines.work_folder import WorkFolder
from metapn.propagation.pieces import Pieces

#: The most entries and rows of a block: 16 MB of columns, and rows of 16 classes in as much.
_ENTRIES, _ROWS = 2_000_000, 2**18


class _Rows(NamedTuple):
    first: int
    last: int
    starts: Tensor
    columns: Tensor
    weights: Tensor | None
    scale: Tensor


class StoredGraph:
    """Rows of neighbours in the part ``graph`` of a folder.

    Parameters
    ----------
    place : path
    noted : dict
        What its manifest says: n_nodes, n_entries, n_isolated, weighted, and the bounds of the blocks of rows.
    """

    def __init__(self, place: Path, noted: dict[str, Any]) -> None:
        self.n_nodes, self.n_entries = int(noted["n_nodes"]), int(noted["n_entries"])
        self.n_isolated, self.bounds = int(noted["n_isolated"]), list(noted["bounds"])
        self._starts, self._columns = FlatFile(place / "row_starts", "<i8"), FlatFile(place / "columns", "<i8")
        self._scale = FlatFile(place / "scale", "<f4")
        self._weights = FlatFile(place / "weights", "<f4") if noted["weighted"] else None

    @classmethod
    def of(cls, edges: EdgeSource, key: str, work: WorkFolder, memory: int) -> StoredGraph:
        """Open the graph, or sort the edges first if it is not there yet."""
        place, noted = work.part("graph", key)
        if not noted:
            noted = _write(sorted_rows(edges, place, memory), edges, place)
            work.note(place, key, **noted)
        return cls(place, noted)

    def scale(self, Z: Tensor) -> None:
        """Z ← S Z in place, shape (n, d)."""
        for first, last in self._blocks():
            Z[first:last] *= torch.from_numpy(self._scale.read(first, last - first))[:, None]

    def product(self, scaled: Tensor, keep: Callable[[int, Tensor], None]) -> None:
        """T Z by blocks of rows: ``keep`` gets the first row of each block, and the block (rows, d).

        Parameters
        ----------
        scaled : tensor, shape (n, d)
            S Z, see `scale`.
        keep : callable
        """
        for block in read_ahead(self._read, self._blocks()):
            cut = Pieces(block.starts)
            sums = torch.embedding_bag(
                scaled, block.columns, cut.starts, False, 0, False, block.weights, include_last_offset=True
            )[0]
            rows = cut.fold(sums).add_(scaled[block.first : block.last])
            keep(block.first, rows.mul_(block.scale[:, None]))

    def _blocks(self) -> Iterator[tuple[int, int]]:
        return zip(self.bounds[:-1], self.bounds[1:], strict=True)

    def _read(self, rows: tuple[int, int]) -> _Rows:
        first, last = rows
        starts = self._starts.read(first, last - first + 1)
        start, count = int(starts[0]), int(starts[-1] - starts[0])
        weights = None if self._weights is None else torch.from_numpy(self._weights.read(start, count))
        columns = torch.from_numpy(self._columns.read(start, count))
        scale = torch.from_numpy(self._scale.read(first, last - first))
        return _Rows(first, last, torch.from_numpy(starts - start), columns, weights, scale)


def _write(rows: Iterator[SortedRows], edges: EdgeSource, place: Path) -> dict[str, Any]:
    """Write the files; return what the manifest notes."""
    types = {"row_starts": "<i8", "columns": "<i8", "scale": "<f4"} | ({"weights": "<f4"} if edges.weighted else {})
    files = {name: FlatFile(place / name, dtype, write=True) for name, dtype in types.items()}
    files["row_starts"].write(0, np.zeros(1))
    written, isolated, bounds = 0, 0, [0]
    for part in rows:
        starts = np.concatenate([[0], np.cumsum(part.lengths)])
        files["row_starts"].write(part.first + 1, written + starts[1:])
        files["columns"].write(written, part.columns)
        degrees = 1.0 + part.lengths
        if part.weights is not None:
            files["weights"].write(written, part.weights)
            sums = np.concatenate([[0.0], np.cumsum(part.weights, dtype=np.float64)])
            degrees = 1 + np.diff(sums[starts])
        files["scale"].write(part.first, 1 / np.sqrt(degrees))
        bounds += _bounds(part.first, starts)
        written += len(part.columns)
        isolated += int((part.lengths == 0).sum())
    for file in files.values():
        file.sync()
        file.close()
    counts = {"n_nodes": edges.n_nodes, "n_entries": written, "n_isolated": isolated}
    return counts | {"weighted": edges.weighted, "bounds": bounds}


def _bounds(first: int, starts: IntArray) -> list[int]:
    """Where the blocks of these rows end, as numbers of rows."""
    bounds, row, n_rows = [], 0, len(starts) - 1
    while row < n_rows:
        fits = int(np.searchsorted(starts, starts[row] + _ENTRIES, side="right")) - 1
        row = min(max(fits, row + 1), row + _ROWS, n_rows)
        bounds.append(first + row)
    return bounds
