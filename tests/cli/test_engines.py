"""--engine of fit, evaluate and reproduce."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from metapn.data.synthetic import contextual_sbm
from metapn.experiments.cell import Cell
from metapn.experiments.request import Request
from metapn.model.storage import load


@pytest.fixture
def files(tmp_path):
    graph = contextual_sbm(200, n_classes=3, n_features=8, separation=2.0, seed=1)
    rows, columns = graph.adjacency.nonzero()
    labels = np.full(200, None, dtype=object)
    for c, name in enumerate(["red", "green", "blue"]):
        labels[np.flatnonzero(graph.labels == c)[:3]] = name
    parquet.write_table(pa.table({"source": rows, "target": columns}), tmp_path / "edges.parquet")
    table = {"node": np.arange(200), "label": pa.array(labels)} | {f"x{i}": graph.features[:, i] for i in range(8)}
    parquet.write_table(pa.table(table), tmp_path / "nodes.parquet")
    return ["--edges", tmp_path / "edges.parquet", "--nodes", tmp_path / "nodes.parquet"], graph


def test_fit_of_parquet_files_by_engine_disk(metapn, files, tmp_path, monkeypatch):
    given, graph = files

    def never(*args, **kwargs):
        raise AssertionError("the tables are read into memory")

    monkeypatch.setattr("metapn.data.tables.read_tables", never)
    code, out, err = metapn("fit", "--engine", "disk", *given, "--out", tmp_path / "run")
    assert (code, err) == (0, "")
    assert "MetaPN on 200 nodes" in out
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == [
        "model.json", "model.safetensors", "predictions.parquet",
    ]  # fmt: skip
    assert not (tmp_path / "run.work").exists()
    table = parquet.read_table(tmp_path / "run" / "predictions.parquet").to_pandas()
    truth = np.array(["red", "green", "blue"])[graph.labels]
    assert (table.label == truth).mean() > 0.8
    assert (load(tmp_path / "run").predict(graph.features) == truth).mean() > 0.6
    code, _, err = metapn("fit", "--engine", "disk", *given, "--out", tmp_path / "run")
    assert code == 2
    code, _, err = metapn("fit", "--engine", "disk", *given, "--out", tmp_path / "b", "--format", "csv")
    assert (code, err.count("\n")) == (2, 1)
    assert "--format csv cannot be had with --engine disk on Parquet files" in err


def test_a_graph_that_does_not_fit_into_memory_has_another_engine_proposed(metapn, files, tmp_path, monkeypatch):
    given, _ = files
    monkeypatch.setattr("metapn.propagation.engines.available.available_memory", lambda: 10**8)
    code, _, err = metapn("fit", *given, "--out", tmp_path / "run")
    assert code == 2
    assert "this fit would need about 0 GB of memory, and 0 GB are free: use --engine disk" in err


def test_evaluate_by_engine_disk_is_that_by_memory(metapn):
    found = {}
    for engine in ("memory", "disk"):
        given = ("--dataset", "sbm-300", "--shot", 3, "--runs", 1, "--set", "max_epochs=20", "--engine", engine)
        code, out, err = metapn("evaluate", *given, "--protocol", "no-validation", "--json", "--quiet")
        assert (code, err) == (0, "")
        found[engine] = json.loads(out)["accuracies"]
    assert found["disk"] == pytest.approx(found["memory"], abs=0.02)
    code, _, err = metapn("evaluate", "--dataset", "sbm-300", "--method", "gcn", "--engine", "disk")
    assert code == 2
    assert "gcn propagates in memory only" in err


def test_the_engine_is_with_the_cells_that_have_one_and_not_in_their_keys():
    request = Request(("table2",), datasets=["cora_ml"], methods=["metapn", "gcn"], engine="disk")
    cells = request.cells({"cora_ml"})["table2"]
    assert {(cell.method, cell.settings.get("engine")) for cell in cells} == {("metapn", "disk"), ("gcn", None)}
    assert Cell("cora_ml", settings={"engine": "disk"}).key() == Cell("cora_ml").key()
    assert Cell("cora_ml", settings={"engine": "disk"}).effective()["engine"] == "disk"
