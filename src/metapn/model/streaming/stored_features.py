"""The feature matrix in a file: rows by node, and a second file of them in the order of the batches."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from metapn.graph import FloatArray
from metapn.model.features import FeatureMatrix, FeatureScaling
from metapn.model.streaming.shuffle import shuffle_rows
from metapn.propagation.engines.flat_file import FlatFile
from metapn.propagation.engines.work_folder import WorkFolder

_ROWS = 2**14


class StoredFeatures:
    """X in a file, see `metapn.model.streaming.features.FeatureSource`; scaled when it is read.

    Parameters
    ----------
    file : path
        Float32 rows, one for each node.
    shape : pair of int
        (n, f).
    key : str
        Changes when the features do.
    work : WorkFolder
        For the rows in the order of the batches.
    kind : str
        Of scaling, see `metapn.model.features.FeatureScaling`.
    device : torch.device or str
    """

    def __init__(
        self, file: Path, shape: tuple[int, int], key: str, work: WorkFolder, *, kind: str, device: torch.device | str
    ) -> None:
        self.shape, self.n_stored, self.device = shape, shape[0] * shape[1], device
        self._file, self._key, self._work = FlatFile(file, "<f4"), key, work
        self.scaling = self._fitted("columns" if kind == "auto" else kind)

    def rows(self, nodes: npt.NDArray[np.int64]) -> FeatureMatrix:
        """Return the rows of these nodes, shape (len(nodes), f); meant for few."""
        rows = [self._file.read(int(node) * self.shape[1], self.shape[1]) for node in nodes]
        return self._matrix(np.stack(rows))

    def block(self, start: int, stop: int) -> FeatureMatrix:
        """Rows of the nodes start to stop, shape (stop - start, f)."""
        return self._matrix(self._read(start, stop))

    def deal(self, order: Tensor, block_size: int) -> _Dealt:
        """Write the rows in the order of the batches, if they are not there yet."""
        digest = hashlib.sha256(self._key.encode())
        digest.update(order.numpy().data)
        place, noted = self._work.part("dealt", digest.hexdigest())
        if not noted:
            target = FlatFile(place / "features", "<f4", write=True)
            shuffle_rows(self._file, target, self.shape[1], order.numpy(), place)
            target.sync()
            self._work.note(place, digest.hexdigest(), rows=len(order))
        return _Dealt(self, FlatFile(place / "features", "<f4"), block_size)

    def _read(self, start: int, stop: int) -> FloatArray:
        return self._file.read(start * self.shape[1], (stop - start) * self.shape[1]).reshape(-1, self.shape[1])

    def _matrix(self, rows: FloatArray) -> FeatureMatrix:
        return FeatureMatrix(self.scaling.transform(rows), device=self.device)

    def _fitted(self, kind: str) -> FeatureScaling:
        """Learn the scaling from blocks of rows; see `FeatureScaling.fit`, which has all of X."""
        n, f = self.shape
        if kind != "columns":
            return FeatureScaling(kind == "rows", np.zeros(f), np.ones(f))
        starts = range(0, n, _ROWS)
        offset = sum(self._read(s, min(s + _ROWS, n)).sum(axis=0, dtype=np.float64) for s in starts) / n
        spread = np.sqrt(sum(np.square(self._read(s, min(s + _ROWS, n)) - offset).sum(axis=0) for s in starts) / n)
        constant = spread <= 10 * np.finfo(np.float32).eps * np.abs(offset)
        factor = np.where(constant, 0.0, 1 / np.where(constant, 1.0, spread))
        norm = sum(np.abs((self._read(s, min(s + _ROWS, n)) - offset) * factor).sum() for s in starts) / n
        return FeatureScaling(False, np.asarray(offset), factor / (norm if norm > 0 else 1.0))


class _Dealt:
    def __init__(self, features: StoredFeatures, file: FlatFile, block_size: int) -> None:
        self.features, self.file, self.size = features, file, block_size

    def batch(self, block: int) -> FeatureMatrix:
        n, f = self.features.shape
        start, stop = block * self.size, min((block + 1) * self.size, n)
        return self.features._matrix(self.file.read(start * f, (stop - start) * f).reshape(-1, f))
