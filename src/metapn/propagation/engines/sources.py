"""Where the edges come from: Parquet files, an array that may be memory-mapped, or a `Graph`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.errors import InputError
from metapn.graph import Graph, IntArray
from metapn.propagation.engines.contract import EdgeBlock

#: Edges of a block: 16 MB as two columns of 64-bit numbers, and several times that while they are sorted out.
_BLOCK = 1_000_000


class ParquetEdges:
    """Edges in one Parquet file or in many, such as Spark writes: int64 columns, and float weights if wanted.

    Parameters
    ----------
    where : path or sequence of path
        Files, or folders of files ending in .parquet.
    n_nodes : int
        n; nodes are 0..n-1.
    source, target : str
        Columns of the two ends.
    weight : str, optional
        Column of the weights; by default every edge has weight one.
    """

    def __init__(
        self,
        where: str | Path | Sequence[str | Path],
        n_nodes: int,
        *,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
    ) -> None:
        self.files = parquet_files(where)
        self.n_nodes, self.columns = n_nodes, [source, target, *([weight] if weight else [])]
        for file in self.files:
            names = parquet_file(file).schema_arrow.names
            for column in self.columns:
                if column not in names:
                    raise InputError(
                        f"{file} has no column {column!r}, but {', '.join(names)}; name the column of the edges' ends"
                    )

    @property
    def weighted(self) -> bool:
        """Whether there is a column of weights."""
        return len(self.columns) == 3

    def blocks(self) -> Iterator[EdgeBlock]:
        """Yield the edges file by file."""
        for file in self.files:
            first = 0
            for batch in parquet_file(file).iter_batches(_BLOCK, columns=self.columns):
                yield self.block(batch, str(file), first)
                first += len(batch)

    def block(self, table: Any, where: str = "the edges", first: int = 0) -> EdgeBlock:
        """Edges of some rows of a file, an Arrow table or batch; ``where`` and ``first`` say which in errors."""
        columns = [table.column(name) for name in self.columns]
        source, target = (whole_numbers(columns[i], self.columns[i], where) for i in (0, 1))
        weight = _weights(columns[2], self.columns[2], where) if self.weighted else None
        return checked(EdgeBlock(source, target, weight), self.n_nodes, where, first)

    def fingerprint(self) -> str:
        """Names, sizes and times of the files, and the columns read."""
        return fingerprint_of(self.files, [self.n_nodes, self.columns])


class ArrayEdges:
    """Edges as the rows of an array, which may be memory-mapped (``np.load(file, mmap_mode="r")``).

    Parameters
    ----------
    ends : int array, shape (m, 2)
    n_nodes : int
        n; nodes are 0..n-1.
    """

    weighted = False

    def __init__(self, ends: npt.NDArray[Any], n_nodes: int) -> None:
        if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":
            raise InputError(
                f"edges have shape {ends.shape} and type {ends.dtype}; give whole numbers in two columns, source and "
                "target"
            )
        self.ends, self.n_nodes = ends, n_nodes

    def blocks(self) -> Iterator[EdgeBlock]:
        """Yield the rows in order."""
        for start in range(0, len(self.ends), _BLOCK):
            part = np.array(self.ends[start : start + _BLOCK], dtype=np.int64)
            block = EdgeBlock(np.ascontiguousarray(part[:, 0]), np.ascontiguousarray(part[:, 1]), None)
            yield checked(block, self.n_nodes, "the edges", start)

    def fingerprint(self) -> str:
        """Hash of the numbers."""
        digest = hashlib.sha256(f"{self.n_nodes} {self.ends.shape}".encode())
        for block in self.blocks():
            digest.update(block.source.tobytes())
            digest.update(block.target.tobytes())
        return digest.hexdigest()


class GraphEdges:
    """The edges of a graph in memory; its weights count if they are not all one.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.weighted = bool((graph.adjacency.data != 1).any())

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return self.graph.n_nodes

    def blocks(self) -> Iterator[EdgeBlock]:
        """Yield each edge once, in blocks of rows."""
        adjacency = self.graph.adjacency
        starts = adjacency.indptr.astype(np.int64)
        first = 0
        while first < self.n_nodes:
            last = max(first + 1, int(np.searchsorted(starts, starts[first] + _BLOCK, side="right")) - 1)
            here = slice(starts[first], starts[last])
            source = np.repeat(np.arange(first, last, dtype=np.int64), np.diff(starts[first : last + 1]))
            target = adjacency.indices[here].astype(np.int64)
            once = source < target
            yield EdgeBlock(source[once], target[once], adjacency.data[here][once] if self.weighted else None)
            first = last

    def fingerprint(self) -> str:
        """Hash of the adjacency matrix."""
        digest = hashlib.sha256(f"{self.n_nodes}".encode())
        for part in (self.graph.adjacency.indptr, self.graph.adjacency.indices, self.graph.adjacency.data):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()


def parquet_files(where: str | Path | Sequence[str | Path]) -> list[Path]:
    """Find the files: those given, and those ending in .parquet of the folders given, in order of their names."""
    places = [Path(where)] if isinstance(where, str | Path) else [Path(each) for each in where]
    files: list[Path] = []
    for place in places:
        found = sorted(place.glob("*.parquet")) if place.is_dir() else [place]
        if not found or not all(file.is_file() for file in found):
            raise InputError(f"{place} holds no Parquet file; give a file, or a folder of files ending in .parquet")
        files += found
    return files


def fingerprint_of(files: Sequence[Path], more: Any) -> str:
    """Hash of the names, sizes and times of files, and of what else matters."""
    parts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr((parts, more)).encode()).hexdigest()


def whole_numbers(column: Any, name: str, file: Path | str) -> IntArray:
    """Values of a column of whole numbers, none missing, shape (m,)."""
    import pyarrow as pa

    if not pa.types.is_integer(column.type):
        raise InputError(
            f"column {name!r} of {file} is of type {column.type}; number the nodes by int64 from 0 (fit without "
            "--engine accepts any ids)"
        )
    if column.null_count:
        raise InputError(f"column {name!r} of {file} has {column.null_count} missing values; drop these rows")
    return column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)  # type: ignore[no-any-return]


def checked(block: EdgeBlock, n_nodes: int, where: str, first: int) -> EdgeBlock:
    """Return a block whose ends are nodes and whose weights are weights."""
    for ends in (block.source, block.target):
        wrong = (ends < 0) | (ends >= n_nodes)
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError(
                f"edge {first + row} of {where} joins {block.source[row]} and {block.target[row]}, but nodes are "
                f"whole numbers from 0 to {n_nodes - 1}; number the nodes so, or give more nodes"
            )
    if block.weight is not None:
        wrong = ~np.isfinite(block.weight) | (block.weight < 0)
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError(
                f"the weight of edge {first + row} of {where} is {block.weight[row]}; "
                "give finite numbers from 0 upwards"
            )
    return block


def _weights(column: Any, name: str, file: Path | str) -> npt.NDArray[np.float32]:
    if column.null_count:
        raise InputError(f"column {name!r} of {file} has {column.null_count} missing weights; give each edge one")
    try:
        with np.errstate(over="ignore"):
            return column.to_numpy(zero_copy_only=False).astype(np.float32)  # type: ignore[no-any-return]
    except (TypeError, ValueError):
        raise InputError(f"column {name!r} of {file} is of type {column.type}; give weights as numbers") from None


def parquet_file(file: Path) -> Any:
    """Open a Parquet file."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise InputError("Parquet files need pyarrow; run pip install 'metapn[tables]'") from None
    try:
        return parquet.ParquetFile(file)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{file} cannot be read as Parquet ({str(error).splitlines()[0]}); write it anew") from None
