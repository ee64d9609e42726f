"""Numbers in a file, read and written at any place without mapping it into memory.

A mapped file counts as resident memory for as long as its pages are touched; what is read here lies in the
page cache, which the system takes back when it needs it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.errors import InputError
from metapn.propagation.engines.work_folder import room


class FlatFile:
    """A file of numbers of one type.

    Parameters
    ----------
    path : path
    dtype : dtype
    write : bool
        Whether to write; the file is made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> file = FlatFile(Path(tempfile.mkdtemp()) / "numbers", np.int64, write=True)
    >>> file.write(2, np.array([7, 8, 9]))
    >>> file.read(3, 2)
    array([8, 9])
    """

    def __init__(self, path: Path, dtype: npt.DTypeLike, *, write: bool = False) -> None:
        self.path, self.dtype = path, np.dtype(dtype)
        flags = os.O_RDWR | os.O_CREAT if write else os.O_RDONLY
        with room(path.parent, f"opening {path.name}"):
            self._descriptor = os.open(path, flags, 0o644)

    def read(self, start: int, count: int) -> npt.NDArray[Any]:
        """Return numbers start to start + count, shape (count,)."""
        values = np.empty(count, self.dtype)
        self.read_into(start, values)
        return values

    def read_into(self, start: int, values: npt.NDArray[Any]) -> None:
        """Fill an array from place ``start`` on."""
        view, offset = values.reshape(-1).view(np.uint8).data, start * self.dtype.itemsize
        while len(view):
            # Some systems read at most 2 GB at a time.
            got = os.preadv(self._descriptor, [view[: 2**30]], offset)
            if got == 0:
                raise InputError(f"{self.path} is shorter than it should be; remove its folder, and it is made again")
            view, offset = view[got:], offset + got

    def write(self, start: int, values: npt.NDArray[Any]) -> None:
        """Write an array from place ``start`` on."""
        view = np.ascontiguousarray(values, self.dtype).reshape(-1).view(np.uint8).data
        offset = start * self.dtype.itemsize
        with room(self.path.parent, f"writing {self.path.name}"):
            while len(view):
                done = os.pwrite(self._descriptor, view[: 2**30], offset)
                view, offset = view[done:], offset + done

    def sync(self) -> None:
        """Return when all is on the disk."""
        with room(self.path.parent, f"writing {self.path.name}"):
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        self.close()
