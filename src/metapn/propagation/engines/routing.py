"""From edges to parts: each edge goes to the parts of both its ends, by Ray Data where it comes from Parquet."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from metapn.errors import InputError
from metapn.graph import IntArray
from metapn.propagation.engines.cluster import imported, ray_data, results
from metapn.propagation.engines.contract import EdgeBlock, EdgeSource
from metapn.propagation.engines.partition import Part, cut
from metapn.propagation.engines.sources import ParquetEdges
from metapn.propagation.engines.work_folder import WorkFolder

if TYPE_CHECKING:
    import pyarrow as pa

#: Edge ends are counted in at most so many ranges of rows: fine enough for parts of one size.
_RANGES = 2**16


def parts_of(edges: EdgeSource, work: WorkFolder, n_parts: int) -> IntArray:
    """Cut the graph into parts, each in a folder of its own; return their bounds, shape (parts + 1,).

    Parts of the same edges that are there already are used as they are, however many they are.
    """
    key = edges.fingerprint()
    folder, noted = work.part("parts", key)
    if noted:
        return np.array(noted["bounds"], dtype=np.int64)
    entries = folder / "entries"
    shutil.rmtree(entries, ignore_errors=True)
    entries.mkdir()
    size = -(-edges.n_nodes // _RANGES)
    bounds = (cut(_counts(edges, size), n_parts) * size).clip(max=edges.n_nodes)
    _route(edges, bounds, entries)
    build = imported().remote(_build)
    results([build.remote(entries, folder, number, bounds) for number in range(n_parts)])
    work.note(folder, key, bounds=bounds.tolist())
    shutil.rmtree(entries)
    return bounds


def part_folder(folder: Path, number: int) -> Path:
    """Where a part is."""
    return folder / f"part-{number:05d}"


def _counts(edges: EdgeSource, size: int) -> IntArray:
    """Edge ends in each range of ``size`` rows."""
    n_ranges = -(-edges.n_nodes // size)

    def count(block: EdgeBlock) -> IntArray:
        return np.bincount(np.concatenate((block.source, block.target)) // size, minlength=n_ranges)

    counts = np.zeros(n_ranges, dtype=np.int64)
    if not isinstance(edges, ParquetEdges):
        return sum((count(block) for block in edges.blocks()), counts)
    parse = edges.block

    def of_table(table: pa.Table) -> dict[str, Any]:
        try:
            return {"count": count(parse(table))[None], "problem": [""]}
        except InputError as error:  # Ray Data would bury it under one of its own
            return {"count": np.zeros((1, n_ranges), np.int64), "problem": [str(error)]}

    for batch in _tables(edges, of_table).iter_batches(batch_format="numpy"):
        for problem in filter(None, batch["problem"]):
            raise InputError(problem)
        counts = counts + batch["count"].sum(axis=0)
    return counts


def _route(edges: EdgeSource, bounds: IntArray, folder: Path) -> None:
    """Write the entries of A, each part's into the folder ``part=...`` of its number."""
    from pyarrow import parquet

    if isinstance(edges, ParquetEdges):
        routed = _tables(edges, lambda table: _entries(edges.block(table), bounds))
        routed.write_parquet(str(folder), partition_cols=["part"])
        return
    for block in edges.blocks():
        parquet.write_to_dataset(_entries(block, bounds), folder, partition_cols=["part"])


def _tables(edges: ParquetEdges, function: Callable[[pa.Table], Any]) -> Any:
    """The edges as a Ray dataset of Arrow tables, each turned into something else."""
    files = [str(file.absolute()) for file in edges.files]
    return ray_data().read_parquet(files).select_columns(edges.columns).map_batches(function, batch_format="pyarrow")


def _entries(block: EdgeBlock, bounds: IntArray) -> pa.Table:
    """Both entries of A that each edge makes, self-loops left out, with the part that has their row."""
    import pyarrow as pa

    proper = block.source != block.target
    ends = block.source[proper], block.target[proper]
    rows = np.concatenate(ends)
    part = np.searchsorted(bounds, rows, side="right") - 1
    columns = {"part": part, "row": rows, "column": np.concatenate(ends[::-1])}
    if block.weight is not None:
        columns["weight"] = np.tile(block.weight[proper], 2)
    return pa.table(columns)


def _build(entries: Path, folder: Path, number: int, bounds: IntArray) -> None:
    """Make a part of its entries; runs on any node of the cluster."""
    from pyarrow import parquet

    place, weight = entries / f"part={number}", None
    row = column = np.empty(0, dtype=np.int64)
    if place.exists():
        table = parquet.read_table(place, partitioning=None)
        row, column = (table[name].to_numpy() for name in ("row", "column"))
        weight = table["weight"].to_numpy() if "weight" in table.column_names else None
    first, last = int(bounds[number]), int(bounds[number + 1])
    part = Part.of_entries(row, column, weight, first=first, last=last, n_nodes=int(bounds[-1]))
    part.save(part_folder(folder, number))
