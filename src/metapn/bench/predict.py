"""How many rows a second a run labels, from file to file."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from metapn.bench.measure import Measure
from metapn.data.columns import ColumnEncoder
from metapn.deploy.pipeline import Pipeline
from metapn.deploy.predicting import predict_rows
from metapn.model.metapn import MetaPN

CLASSES, FEATURES, ROUNDS = 40, 128, 3


def predict_speed(n_rows: int, threads: int) -> list[Measure]:
    """Label a table of 128 dense features in 40 classes, read from Parquet and from CSV, written as Parquet."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    torch.set_num_threads(threads)
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n_rows, FEATURES))
    table = pa.table({"id": np.arange(n_rows), **{f"x{k}": numbers[:, k] for k in range(FEATURES)}})
    pipeline = _fitted(table.slice(0, 2000).drop_columns("id"))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        pa.parquet.write_table(table, place / "new.parquet")
        pa.csv.write_csv(table, place / "new.csv")
        parquet, csv = (_rows_a_second(pipeline, place / name) for name in ("new.parquet", "new.csv"))
    return [
        Measure("predict/parquet", "rows a second, 128 features, from Parquet", parquet, 100_000, at_most=False),
        Measure("predict/csv", "rows a second, 128 features, from CSV", csv),
    ]


def _fitted(rows: object) -> Pipeline:
    """A pipeline of the size that is measured; how well it labels is of no account here."""
    encoder = ColumnEncoder().fit(rows)
    X = encoder.transform(rows)
    n_nodes = len(X)
    rng = np.random.default_rng(1)
    y = np.where(np.arange(n_nodes) < 5 * CLASSES, np.arange(n_nodes) % CLASSES, -1)
    model = MetaPN(max_epochs=2, random_state=0).fit(X, y, graph=rng.integers(n_nodes, size=(5 * n_nodes, 2)))
    return Pipeline(model, encoder)


def _rows_a_second(pipeline: Pipeline, nodes: Path) -> float:
    best = 0.0
    for _ in range(ROUNDS):
        start = time.perf_counter()
        labelled = predict_rows(pipeline, nodes, nodes.with_name("labels.parquet"))
        best = max(best, labelled.n_nodes / (time.perf_counter() - start))
    return best
