"""From edges in any order to rows of neighbours, in memory that does not grow with the edges.

1. Count the ends of the edges in bins of consecutive nodes.
2. Cut the nodes into ranges with about as many ends each as can be sorted in memory.
3. Write each edge, in both directions, to the file of the range that its row is in, as one number
   (row - first row of the range) · n + column.
4. Read range by range, sort, drop repetitions, and write the columns.

The edges are read twice. A weight travels beside its number, and the largest of equal numbers is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from metapn.errors import InputError
from metapn.graph import FloatArray, IntArray
from metapn.propagation.engines.contract import EdgeBlock, EdgeSource
from metapn.propagation.engines.work_folder import room

#: Bins of the count, and the most files of ranges that are open at once (about).
_BINS, _FILES = 2**20, 256


class SortedRows(NamedTuple):
    """Consecutive rows of neighbours: the first row, entries of each row, columns, and weights or None."""

    first: int
    lengths: IntArray
    columns: IntArray
    weights: FloatArray | None


def sorted_rows(edges: EdgeSource, folder: Path, memory: int) -> Iterator[SortedRows]:
    """Yield all rows in order, some at a time; neighbours ascend, and neither self-loops nor repetitions are left.

    Parameters
    ----------
    edges : EdgeSource
    folder : path
        For temporary files: 8 bytes for each direction of an edge (12 with weights).
    memory : int
        Bytes that sorting may take.
    """
    n = edges.n_nodes
    bounds = _ranges(edges, memory)
    if int(np.diff(bounds).max()) * n >= 2**63:
        raise InputError(f"{n:,} nodes are more than can be sorted with {memory / 1e9:.1f} GB; give more memory")
    record = np.dtype([("key", "<i8"), ("weight", "<f4")]) if edges.weighted else np.dtype("<i8")
    files = [folder / f"range-{i:04d}.part" for i in range(len(bounds) - 1)]
    try:
        _distribute(edges, bounds, files, record)
        for i, file in enumerate(files):
            yield _sorted(np.fromfile(file, record), int(bounds[i]), int(bounds[i + 1]), n)
            file.unlink()
    finally:
        for file in files:
            file.unlink(missing_ok=True)


def _ranges(edges: EdgeSource, memory: int) -> IntArray:
    """Bounds of the ranges of rows, shape (ranges + 1,)."""
    n, size = edges.n_nodes, -(-edges.n_nodes // _BINS)
    n_bins = -(-n // size)
    counts = np.zeros(n_bins, np.int64)
    for block in edges.blocks():
        counts += np.bincount(block.source // size, minlength=n_bins)
        counts += np.bincount(block.target // size, minlength=n_bins)
    # Four times a record of 8 or 12 bytes: the sort, its mask, and the columns made of it.
    record = 12 if edges.weighted else 8
    most = max(memory // (4 * record), int(counts.sum()) // _FILES, 1)
    bounds, filled = [0], 0
    for place, count in enumerate(counts.tolist()):
        if filled and filled + count > most:
            bounds.append(place * size)
            filled = 0
        filled += count
    return np.array([*bounds, n])


def _distribute(edges: EdgeSource, bounds: IntArray, files: list[Path], record: np.dtype[Any]) -> None:
    """Write each direction of each edge to the file of its range."""
    with room(files[0].parent, "sorting the edges"):
        handles = [file.open("wb") for file in files]
        try:
            for block in edges.blocks():
                ranges, records = _both_directions(block, bounds, record)
                order = np.argsort(ranges, kind="stable")
                ends = np.searchsorted(ranges[order], np.arange(len(files) + 1))
                records = records[order]
                for i in np.flatnonzero(np.diff(ends)):
                    handles[i].write(records[ends[i] : ends[i + 1]].tobytes())
        finally:
            for handle in handles:
                handle.close()


def _both_directions(
    block: EdgeBlock, bounds: IntArray, record: np.dtype[Any]
) -> tuple[npt.NDArray[np.int16], npt.NDArray[Any]]:
    """Range and record of each direction of each edge that is no self-loop."""
    proper = block.source != block.target
    source, target = block.source[proper], block.target[proper]
    rows, columns = np.concatenate([source, target]), np.concatenate([target, source])
    ranges = (np.searchsorted(bounds, rows, side="right") - 1).astype(np.int16)
    keys = (rows - bounds[ranges]) * bounds[-1] + columns
    if block.weight is None:
        return ranges, keys
    records = np.empty(len(keys), record)
    records["key"], records["weight"] = keys, np.tile(block.weight[proper], 2)
    return ranges, records


def _sorted(records: npt.NDArray[Any], first: int, last: int, n: int) -> SortedRows:
    """Sort the records of a range of rows."""
    weights = None
    if records.dtype.names is None:
        keys = records
        keys.sort()
        keys = keys[_starts(keys)]
    else:
        order = np.argsort(records["key"], kind="stable")
        keys = records["key"][order]
        starts = np.flatnonzero(_starts(keys))
        weights = np.maximum.reduceat(records["weight"][order], starts) if len(starts) else np.zeros(0, np.float32)
        keys = keys[starts]
    ends = np.searchsorted(keys, np.arange(last - first + 1) * n)
    return SortedRows(first, np.diff(ends), np.remainder(keys, n, out=keys), weights)


def _starts(keys: IntArray) -> npt.NDArray[np.bool_]:
    """Whether a sorted number differs from the one before, shape (m,)."""
    differs = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=differs[1:])
    return differs
