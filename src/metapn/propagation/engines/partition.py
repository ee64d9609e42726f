"""The partitioned product: rows of the graph in parts, each of which knows the rows that it needs of the others."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from metapn.data.files import whole_file
from metapn.graph import FloatArray, IntArray
from metapn.propagation.pieces import Pieces


class Part:
    """Consecutive rows of A, and what they need of the rows of other parts.

    Labels travel as U = D̃^(-1/2) Y, for which a hop is a plain average over a node and its neighbours::

        Y(k+1) = D̃^(-1/2) (A + I) D̃^(-1/2) Y(k)    ⟺    U(k+1) = D̃⁻¹ (A + I) U(k)

    So the structure alone is stored, degrees scale before the first hop and after the last, and no part needs
    the degrees of another.

    Parameters
    ----------
    starts : int array, shape (rows + 1,)
        Where each row begins among the columns.
    columns : int array, shape (entries,)
        The part's own rows are 0, 1, ..., and the rows of the halo follow.
    halo : int64 array, shape (h,)
        Nodes of other parts that the columns name, in ascending order.
    weights : float32 array, shape (entries,), or None
        None where every edge has weight one.
    """

    def __init__(
        self,
        starts: npt.NDArray[np.integer],
        columns: npt.NDArray[np.integer],
        halo: IntArray,
        weights: FloatArray | None = None,
    ) -> None:
        self.starts, self.columns, self.halo, self.weights = starts, columns, halo, weights
        self.n_rows = len(starts) - 1
        entries = np.diff(starts).astype(np.float64)
        if weights is not None:
            running = np.concatenate(([0], np.cumsum(weights, dtype=np.float64)))
            entries = running[starts[1:]] - running[starts[:-1]]
        #: Of A + I, shape (rows,).
        self.degrees = entries + 1
        self._pieces = Pieces(torch.from_numpy(starts))
        self._average = torch.from_numpy((1 / self.degrees).astype(np.float32))[:, None]

    @classmethod
    def of_entries(
        cls, row: IntArray, column: IntArray, weight: FloatArray | None, *, first: int, last: int, n_nodes: int
    ) -> Part:
        """Part of the rows first..last-1 from its entries, in any order; of equal ones the largest weight counts."""
        n_rows = last - first
        key = (row - first) * n_nodes + column
        if weight is None:
            key, weights = np.unique(key), None
        else:
            order = np.lexsort((-weight, key))
            key, once = np.unique(key[order], return_index=True)
            weights = weight[order][once]
        row, column = np.divmod(key, n_nodes)
        own = (column >= first) & (column < last)
        halo, places = np.unique(column[~own], return_inverse=True)
        # Its own numbers are small: 32 bits reach as far as 2^31 entries or rows.
        number: type[np.integer] = np.int32 if max(len(key), n_rows + len(halo)) < 2**31 else np.int64
        columns = np.empty(len(key), dtype=number)
        columns[own] = column[own] - first
        columns[~own] = places + n_rows
        starts = np.searchsorted(row, np.arange(n_rows + 1)).astype(number)
        return cls(starts, columns, halo, weights)

    def save(self, folder: Path) -> None:
        """Write the arrays into a folder; ``halo.npy`` comes last, so that a folder with it is whole."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("starts", "columns", "weights", "halo"):
            values = getattr(self, name)
            if values is not None:
                with whole_file(folder / f"{name}.npy") as handle:
                    np.save(handle, values, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> Part:
        """Read a part that `save` wrote into memory."""
        starts, columns, halo = (np.load(folder / f"{name}.npy") for name in ("starts", "columns", "halo"))
        weights = folder / "weights.npy"
        return cls(starts, columns, halo, np.load(weights) if weights.exists() else None)

    def average(self, table: Tensor) -> Tensor:
        """U(k+1) of its rows, shape (rows, d), from U(k) of its rows and of its halo, shape (rows + h, d)."""
        if not len(self.columns):
            return table
        weights = None if self.weights is None else torch.from_numpy(self.weights)
        columns, starts = torch.from_numpy(self.columns), self._pieces.starts
        bags = torch.embedding_bag(table, columns, starts, False, 0, False, weights, True)[0]
        return self._pieces.fold(bags).add_(table[: self.n_rows]).mul_(self._average)


def cut(entries: npt.ArrayLike, n_parts: int) -> IntArray:
    """Bounds of the parts, shape (parts + 1,): about as many entries and rows in each; a part may be empty.

    Examples
    --------
    >>> cut([9, 1, 1, 1], 2).tolist()
    [0, 1, 4]
    """
    load = np.cumsum(np.asarray(entries, dtype=np.int64) + 1)
    shares = load[-1] * np.arange(1, n_parts) / n_parts
    return np.concatenate(([0], np.searchsorted(load, shares) + 1, [len(load)])).clip(max=len(load))


def requested(halo: IntArray, bounds: IntArray) -> list[IntArray]:
    """What a part needs of each part, as places among that part's rows.

    Examples
    --------
    >>> [rows.tolist() for rows in requested(np.array([1, 5, 6]), np.array([0, 2, 4, 8]))]
    [[1], [], [1, 2]]
    """
    places = np.searchsorted(halo, bounds)
    ends = zip(bounds[:-1], places[:-1], places[1:], strict=True)
    return [halo[start:stop] - first for first, start, stop in ends]


def bytes_per_hop(n_nodes: int, n_edges: int, n_columns: int, n_workers: int, *, bytes_per_value: int = 4) -> float:
    """Bytes that all workers together send each other in a hop, where edges join any two nodes alike.

    A worker has n / w nodes. Of their 2 m / w edge ends (w - 1) / w lie with the others, and name so many of the
    others' N = n (w - 1) / w nodes::

        h = N (1 - exp(-2 m (w - 1) / (w² N)))        bytes = w h d · bytes a value

    The more neighbours have near numbers, the fewer rows travel: this is about the most.

    Examples
    --------
    >>> bytes_per_hop(10**9, 10**10, 16, 1)
    0.0
    >>> f"{bytes_per_hop(10**9, 10**10, 16, 16):.2e}"
    '6.85e+11'
    """
    others = n_nodes * (n_workers - 1) / n_workers
    if not others:
        return 0.0
    ends = 2 * n_edges * (n_workers - 1) / n_workers**2
    return -n_workers * others * math.expm1(-ends / others) * n_columns * bytes_per_value
