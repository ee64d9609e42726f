"""A label matrix by parts of its rows: U(k) of a hop, or what has been computed of all nodes."""

from __future__ import annotations

import uuid
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from metapn.errors import InputError
from metapn.graph import FloatArray, IntArray


class RowFiles:
    """A float32 matrix of shape (n, d), a file for each part of its rows; it can be sent to where it is read.

    Parameters
    ----------
    folder : path
    bounds : int array, shape (parts + 1,)
        First row of each part, and n.
    n_columns : int
        d.
    """

    def __init__(self, folder: Path, bounds: IntArray, n_columns: int) -> None:
        self.folder, self.bounds, self.shape = folder, bounds, (int(bounds[-1]), n_columns)

    @staticmethod
    def file(folder: Path, part: int) -> Path:
        """Where the rows of a part are."""
        return folder / f"part-{part:05d}.npy"

    def rows(self, start: int, stop: int) -> Tensor:
        """Rows start to stop, shape (stop - start, d)."""
        found = [np.empty((0, self.shape[1]), dtype=np.float32)]
        for part, (first, last) in enumerate(zip(self.bounds[:-1], self.bounds[1:], strict=True)):
            low, high = max(start, first), min(stop, last)
            if low < high:
                found.append(np.load(self.file(self.folder, part), mmap_mode="r")[low - first : high - first])
        return torch.from_numpy(np.concatenate(found))


def write_rows(file: Path, rows: FloatArray) -> None:
    """Write a file that takes its name when it is whole, even if its process is killed.

    It does not wait for the disk, as `metapn.data.files.whole_file` does: that would take longer than a hop.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f"{file.name}.{uuid.uuid4().hex}.part")
    try:
        with beside.open("wb") as handle:
            np.save(handle, rows, allow_pickle=False)
        beside.replace(file)
    except OSError as error:
        raise InputError(
            f"{file} cannot be written ({error.strerror}); what is complete is kept: make room and run it again"
        ) from None
    finally:
        beside.unlink(missing_ok=True)


def hop_file(hops: Path, hop: int, part: int) -> Path:
    """Where U(k) of a part is."""
    return RowFiles.file(hops / f"hop-{hop:04d}", part)


def last_hop(hops: Path, n_parts: int) -> int:
    """Last hop of which the rows of all parts are there, 0 without any.

    A part writes hop k + 1 only after all others have sent it hop k, so hops are completed one after another.
    """
    done = [int(place.name.removeprefix("hop-")) for place in hops.glob("hop-*")]
    return max((k for k in done if all(hop_file(hops, k, part).exists() for part in range(n_parts))), default=0)
