"""Rows of a file in another order, in memory that does not grow with the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from metapn.graph import IntArray
from metapn.propagation.engines.flat_file import FlatFile
from metapn.propagation.engines.work_folder import room

#: Bytes of rows that are in work at once.
_BYTES = 2**27


def shuffle_rows(source: FlatFile, target: FlatFile, width: int, order: IntArray, folder: Path) -> None:
    """Write row order[i] of the source as row i of the target.

    The source is read once, from one end to the other: each row goes to the file of the range that its new
    place is in, and then range by range to its place.

    Parameters
    ----------
    source, target : FlatFile
        Float32 rows, one after another.
    width : int
        Numbers of a row.
    order : int array, shape (n,)
    folder : path
        For temporary files, as large as the source and 8 bytes a row.
    """
    n = len(order)
    size = max(1, _BYTES // (4 * width + 8))
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    record = np.dtype([("place", "<i8"), ("row", "<f4", (width,))])
    files = [folder / f"rows-{i:04d}.part" for i in range(-(-n // size))]
    try:
        with room(folder, "dealing the features"):
            handles = [file.open("wb") for file in files]
            try:
                for start in range(0, n, size):
                    records = np.empty(min(size, n - start), record)
                    records["row"] = source.read(start * width, len(records) * width).reshape(-1, width)
                    records["place"] = place[start : start + size]
                    ranges = records["place"] // size
                    by_range = np.argsort(ranges, kind="stable")
                    ends = np.searchsorted(ranges[by_range], np.arange(len(files) + 1))
                    for i in np.flatnonzero(np.diff(ends)).tolist():
                        handles[i].write(records[by_range[ends[i] : ends[i + 1]]].tobytes())
            finally:
                for handle in handles:
                    handle.close()
        for number, file in enumerate(files):
            records = np.fromfile(file, record)
            rows = np.empty((len(records), width), np.float32)
            rows[records["place"] - number * size] = records["row"]
            target.write(number * size * width, rows)
            file.unlink()
    finally:
        for file in files:
            file.unlink(missing_ok=True)
