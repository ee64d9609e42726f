"""Two tables as someone has them, a run that was fitted to them, and the command line in this process."""

import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from metapn.cli import main
from metapn.data.synthetic import contextual_sbm


def tables():
    """120 nodes with ids of no order, numbers with gaps, a town, a flag, and five labels of each of three classes."""
    known = contextual_sbm(120, n_classes=3, n_features=4, mean_degree=8, separation=2.0, seed=6)
    rng = np.random.default_rng(0)
    ids = np.array([f"c{number:04}" for number in rng.permutation(9999)[:120]])
    numbers = known.features.astype(float)
    numbers[rng.random(numbers.shape) < 0.05] = np.nan
    towns = np.array(["Ulm", "Jena", "Bonn"])[
        np.where(rng.random(120) < 0.6, known.labels, rng.integers(3, size=120))
    ]
    truth = np.array(["churn", "grow", "stay"])[known.labels]
    labels = np.full(120, None, dtype=object)
    for name in set(truth):
        first = np.flatnonzero(truth == name)[:5]
        labels[first] = truth[first]
    nodes = {"id": ids, **{f"x{k}": pa.array(numbers[:, k], from_pandas=True) for k in range(4)}}
    nodes |= {"town": towns, "paid": rng.random(120) < 0.5, "label": pa.array(labels.tolist(), pa.string())}
    upper = known.adjacency.tocoo()
    once = upper.row < upper.col
    edges = pa.table({"src": ids[upper.row[once]], "dst": ids[upper.col[once]]})
    return pa.table(nodes), edges, truth


@pytest.fixture(scope="session")
def own(tmp_path_factory):
    """Folder with nodes.csv, nodes.parquet, edges.csv and a fitted ``run``; and what is in them."""
    folder = tmp_path_factory.mktemp("own")
    nodes, edges, truth = tables()
    pa.csv.write_csv(nodes, folder / "nodes.csv")
    pa.parquet.write_table(nodes, folder / "nodes.parquet")
    pa.csv.write_csv(edges, folder / "edges.csv")
    given = ("--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv")
    assert call("fit", *given, "--out", folder / "run", "--format", "parquet", "--format", "csv") == 0
    return SimpleNamespace(folder=folder, run=folder / "run", given=given, nodes=nodes, edges=edges, truth=truth)


def call(*arguments):
    """Run a command line in this process; its exit code."""
    before, sys.argv = sys.argv, ["metapn", *map(str, arguments)]
    try:
        main()
    except SystemExit as left:
        return left.code or 0
    finally:
        sys.argv = before
    return 0


@pytest.fixture
def metapn(capsys):
    """Run a command line in this process: its exit code, output and errors."""

    def run(*arguments):
        code = call(*arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
