"""Nodes from Parquet files: features to a file in the order of the nodes, and the few labels into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from metapn.errors import InputError
from metapn.graph import FloatArray, IntArray
from metapn.propagation.engines.flat_file import FlatFile
from metapn.propagation.engines.sources import fingerprint_of, parquet_file, parquet_files, whole_numbers
from metapn.propagation.engines.work_folder import WorkFolder, check_room

_ROWS = 2**16


class StoredNodes(NamedTuple):
    """What was read: the file of features (n, f), labelled nodes (g,) and their labels (g,), and a fingerprint."""

    file: Path
    shape: tuple[int, int]
    gold: IntArray
    labels: npt.NDArray[Any]
    key: str


class ParquetNodes:
    """Nodes in one Parquet file or in many.

    Parameters
    ----------
    where : path or sequence of path
        Files, or folders of files ending in .parquet.
    node : str
        Column of the numbers 0..n-1, each of which comes once, in any order.
    label : str
        Column of the labels, whole numbers or strings; null, or -1 among numbers, where there is none.
    features : sequence of str, optional
        Columns of numbers, or of lists of as many numbers each; all other columns by default.
    """

    def __init__(
        self,
        where: str | Path | Sequence[str | Path],
        *,
        node: str = "node",
        label: str = "label",
        features: Sequence[str] | None = None,
    ) -> None:
        self.files = parquet_files(where)
        self.n_nodes = sum(parquet_file(file).metadata.num_rows for file in self.files)
        names = parquet_file(self.files[0]).schema_arrow.names
        self.node, self.label = node, label
        self.features = [name for name in names if name not in (node, label)] if features is None else list(features)
        for name in (node, label, *self.features):
            if name not in names:
                raise InputError(f"{self.files[0]} has no column {name!r}, but {', '.join(names)}; name the column")
        if not self.features:
            raise InputError(f"{self.files[0]} has no features beside {node} and {label}; add columns of numbers")

    def fingerprint(self) -> str:
        """Names, sizes and times of the files, and the columns read."""
        return fingerprint_of(self.files, [self.node, self.label, self.features])

    def stored(self, work: WorkFolder) -> StoredNodes:
        """Write the features to the folder of work, if they are not there yet, and read the labels."""
        key = self.fingerprint()
        place, noted = work.part("features", key)
        if not noted:
            noted = self._write(place)
            work.note(place, key, **noted)
        labels = np.load(place / "labels.npz", allow_pickle=False)
        shape = self.n_nodes, int(noted["n_features"])
        return StoredNodes(place / "features", shape, labels["gold"], labels["labels"], key)

    def _write(self, place: Path) -> dict[str, Any]:
        target = FlatFile(place / "features", "<f4", write=True)
        seen, gold, labels, width = np.zeros(self.n_nodes, dtype=bool), [], [], 0
        for file, batch in self._batches():
            nodes = self._numbers(batch, file, seen)
            rows = np.concatenate([self._columns(batch, name, file) for name in self.features], axis=1)
            if not width:
                width = rows.shape[1]
                check_room(place, 8 * self.n_nodes * width, "the features, twice,")
            if rows.shape[1] != width or not np.isfinite(rows).all():
                raise InputError(
                    f"the features of {file} are not all finite numbers, as many in each row; fill in what is missing"
                )
            order = np.argsort(nodes, kind="stable")
            # One writing for each piece of nodes that follow each other: for sorted files, one for all.
            for piece in np.split(order, np.flatnonzero(np.diff(nodes[order]) != 1) + 1):
                target.write(int(nodes[piece[0]]) * width, rows[piece])
            own = batch.column(self.label).to_pylist()
            for node, label in zip(nodes.tolist(), own, strict=True):
                if label is not None and label != -1:
                    gold.append(node)
                    labels.append(label)
        target.sync()
        if not gold:
            raise InputError(
                f"column {self.label!r} of {self.files[0]} holds no label; label a few nodes of each class"
            )
        by_node = np.argsort(gold)
        np.savez(place / "labels.npz", gold=np.array(gold)[by_node], labels=np.array(labels)[by_node])
        return {"n_features": width}

    def _batches(self) -> Iterator[tuple[Path, Any]]:
        for file in self.files:
            columns = [self.node, self.label, *self.features]
            for batch in parquet_file(file).iter_batches(_ROWS, columns=columns):
                yield file, batch

    def _numbers(self, batch: Any, file: Path, seen: npt.NDArray[np.bool_]) -> IntArray:
        """Numbers of the nodes of a batch, which nobody has had before."""
        nodes = whole_numbers(batch.column(self.node), self.node, file)
        wrong = (nodes < 0) | (nodes >= self.n_nodes)
        if not wrong.any():
            wrong = seen[nodes]
        if wrong.any() or len(np.unique(nodes)) < len(nodes):
            node = nodes[wrong][0] if wrong.any() else "one of them"
            raise InputError(
                f"{file} names the node {node} twice or beyond the {self.n_nodes:,} rows there are; number the nodes "
                f"from 0 to {self.n_nodes - 1}, each once"
            )
        seen[nodes] = True
        return nodes

    def _columns(self, batch: Any, name: str, file: Path) -> FloatArray:
        """A column as numbers, shape (rows, numbers of each)."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = batch.column(name)
        lists = pa.types.is_fixed_size_list(column.type) or pa.types.is_list(column.type)
        values = column.flatten() if lists else column
        kind = values.type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
            raise InputError(f"column {name!r} of {file} is of type {column.type}; engine disk takes numbers only")
        if column.null_count or values.null_count or (lists and len(pc.unique(pc.list_value_length(column))) != 1):
            raise InputError(
                f"column {name!r} of {file} has missing values, or lists of different lengths; "
                "give as many numbers in each row"
            )
        numbers = values.to_numpy(zero_copy_only=False).astype(np.float32)
        return numbers.reshape(len(column), -1)  # type: ignore[no-any-return]
