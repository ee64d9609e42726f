"""How long an edge table takes to become a graph, and in how much memory, in a process of its own."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from metapn.bench.measure import Measure
from metapn.data.tables import read_tables
from metapn.data.tables.source import arrow
from metapn.experiments.memory import peak_memory

#: Edges for each node, and rows that are drawn and written at a time.
DEGREE, ROWS = 10, 1_000_000
#: What is aimed at for ten million rows.
SECONDS, GIGABYTES = 20, 3


class Reading(NamedTuple):
    """One table read: seconds, peak of the process in bytes, edges and nodes found in it."""

    seconds: float
    peak: float
    edges: int
    nodes: int


def write_edges(path: Path, n_rows: int, prefix: str) -> None:
    """Write a CSV file of two columns with random ends, each id a number behind a prefix."""
    pa, csv = arrow(), arrow("pyarrow.csv")
    random = np.random.default_rng(0)
    kind = pa.string() if prefix else pa.int64()
    with csv.CSVWriter(path, pa.schema({"source": kind, "target": kind})) as writer:
        for start in range(0, n_rows, ROWS):
            ends = [pa.array(random.integers(0, n_rows // DEGREE, min(ROWS, n_rows - start))) for _ in range(2)]
            if prefix:
                joined = arrow("pyarrow.compute").binary_join_element_wise
                ends = [joined(prefix, end.cast(pa.string()), "") for end in ends]
            writer.write(pa.record_batch(ends, names=["source", "target"]))


def read_once(path: Path, threads: int) -> Reading:
    """Read a table into a graph and measure it."""
    arrow().set_cpu_count(threads)
    with peak_memory() as megabytes:
        start = time.perf_counter()
        graph = read_tables(path).graph
        return Reading(time.perf_counter() - start, 1e6 * megabytes(), graph.n_edges, graph.n_nodes)


def reading(n_rows: int, *, threads: int) -> list[Measure]:
    """Read an edge table with ids of whole numbers, and one with ids of text."""
    context = multiprocessing.get_context("spawn")
    measures = []
    for kind, prefix in (("whole numbers", ""), ("text", "user-")):
        with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(1, mp_context=context) as pool:
            path = Path(folder) / "edges.csv"
            write_edges(path, n_rows, prefix)
            found = pool.submit(read_once, path, threads).result()
            megabytes = path.stat().st_size / 1e6
        details: dict[str, Any] = {"megabytes": megabytes, "edges": float(found.edges), "nodes": float(found.nodes)}
        share = n_rows / 10_000_000
        what = f"{n_rows:,} rows of CSV with ids of {kind}"
        measures += [
            Measure(f"reading/{kind}", f"seconds to read {what}", found.seconds, SECONDS * share, details=details),
            Measure(f"reading/{kind}/memory", f"gigabytes to read {what}", found.peak / 1e9, GIGABYTES),
        ]
    return measures
