"""Predictions for new nodes: the same whether they stream by or come at once, in this process or in another."""

import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from metapn import InputError, Pipeline, load
from metapn.deploy import predicting
from metapn.deploy.ahead import ahead

PROBABILITIES = ["p_churn", "p_grow", "p_stay"]


def values(table):
    return np.column_stack([table[name].to_numpy() for name in PROBABILITIES])


@pytest.fixture
def new(own, tmp_path):
    """new.parquet and new.csv: the nodes without their labels, in another order, with another column."""
    table = own.nodes.drop_columns("label").append_column("note", pa.array(["x"] * 120))
    table = table.take(np.random.default_rng(1).permutation(120)).select(table.column_names[::-1])
    pq.write_table(table, tmp_path / "new.parquet")
    pa.csv.write_csv(table, tmp_path / "new.csv")
    return table


def test_a_fitted_run_holds_what_it_promises(own):
    assert sorted(path.name for path in own.run.iterdir()) == [
        "README.md",
        "model.json",
        "model.safetensors",
        "pipeline.json",
        "pipeline.safetensors",
        "predictions.csv",
        "predictions.parquet",
        "report.html",
    ]
    table = pq.read_table(own.run / "predictions.parquet")
    assert table.column_names == ["id", "label", *PROBABILITIES, "margin", "hops", "reached"]
    assert table["id"].to_pylist() == own.nodes["id"].to_pylist()
    assert (table["label"].to_numpy() == own.truth).mean() > 0.8
    known = [label is not None for label in own.nodes["label"].to_pylist()]
    assert [hops == 0 for hops in table["hops"].to_pylist()] == known
    np.testing.assert_allclose(values(table).sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_rows_that_stream_by_are_judged_as_they_are_at_once(own, metapn, tmp_path, monkeypatch, new, suffix):
    monkeypatch.setattr(predicting, "_ROWS", 7)
    out = tmp_path / "labels.parquet"
    code, told, err = metapn("predict", own.run, "--nodes", tmp_path / f"new.{suffix}", "--out", out)
    assert code == 0 and "120 nodes labelled by their features alone" in told, err
    found = pq.read_table(out)
    assert found.column_names == ["id", "label", *PROBABILITIES, "margin"]
    assert found["id"].to_pylist() == new["id"].to_pylist()
    expected = Pipeline.load(own.run).predict_proba(new)
    # A product of seven rows may add in another order than one of all.
    np.testing.assert_allclose(values(found), expected, atol=1e-6)


def test_with_edges_labels_spread_and_the_same_nodes_have_the_same_probabilities_as_in_the_fit(own, metapn, tmp_path):
    out = tmp_path / "again.parquet"
    assert metapn("predict", own.run, *own.given, "--out", out)[0] == 0
    fitted = pq.read_table(own.run / "predictions.parquet")
    assert pq.read_table(out).equals(fitted.drop_columns(["hops", "reached"]))
    assert metapn("predict", own.run, *own.given, "--no-graph", "--out", out)[0] == 0
    assert values(pq.read_table(out)).tobytes() != values(fitted).tobytes()


def test_a_loaded_pipeline_predicts_the_same_bits_in_another_process(own, tmp_path, new):
    pq.write_table(new, tmp_path / "new.parquet")
    code = (
        "import sys, pyarrow.parquet as pq\nfrom metapn import Pipeline\n"
        "P = Pipeline.load(sys.argv[1]).predict_proba(pq.read_table(sys.argv[2]))\n"
        "sys.stdout.buffer.write(P.tobytes())\n"
    )
    other = subprocess.run(
        [sys.executable, "-c", code, own.run, tmp_path / "new.parquet"], capture_output=True, check=True
    )
    assert other.stdout == Pipeline.load(own.run).predict_proba(new).tobytes()


def test_data_frames_do_as_well_as_tables(own, new):
    pipeline = Pipeline.load(own.run)
    frame = new.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert pipeline.predict_proba(frame).tobytes() == pipeline.predict_proba(new).tobytes()
    assert set(pipeline.predict(frame)) <= {"churn", "grow", "stay"}


def test_unknown_categories_are_counted_and_say_nothing(own, metapn, tmp_path, new):
    towns = new["town"].to_pylist()
    strange = new.set_column(new.column_names.index("town"), "town", pa.array(["Paris", "Rom", *towns[2:]]))
    pq.write_table(strange, tmp_path / "strange.parquet")
    code, told, _ = metapn("predict", own.run, "--nodes", tmp_path / "strange.parquet", "--out", tmp_path / "x.csv")
    assert code == 0 and "2 values of column 'town' the model has never met" in told
    assert np.isfinite(Pipeline.load(own.run).predict_proba(strange)).all()


def test_a_bare_model_is_a_pipeline_too(own):
    bare = Pipeline(load(own.run))
    X = Pipeline.load(own.run).encoded(own.nodes)
    np.testing.assert_allclose(bare.predict_proba(X), load(own.run).predict_proba(X), atol=1e-7)


def test_a_model_of_the_graph_alone_judges_no_other_graph(own, metapn, tmp_path):
    code, _, err = metapn("fit", *own.given, "--features", "", "--out", tmp_path / "run", "--no-calibrate")
    assert code == 0, err
    code, _, err = metapn("predict", tmp_path / "run", *own.given, "--out", tmp_path / "x.csv")
    assert code == 2 and "place in the graph" in err and not (tmp_path / "x.csv").exists()
    code, _, err = metapn("export", tmp_path / "run", "--onnx", tmp_path / "x.onnx")
    assert code == 2 and "place in the graph" in err


def test_without_edges_neighbours_are_joined(own, metapn, tmp_path):
    code, told, err = metapn(
        "fit", "--nodes", own.folder / "nodes.parquet", "--out", tmp_path / "run", "--no-calibrate"
    )
    assert code == 0 and "nearest neighbours" in told, err
    assert pq.read_table(tmp_path / "run" / "predictions.parquet")["reached"].null_count == 0


def test_ids_that_are_numbers_stay_numbers(metapn, tmp_path):
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(40) < 20, np.arange(40) % 2, -1)
    table = pa.table({"id": np.arange(40) * 10**12, "a": rng.normal(size=40) + labels, "label": labels})
    pq.write_table(table, tmp_path / "nodes.parquet")
    assert metapn("fit", "--nodes", tmp_path / "nodes.parquet", "--out", tmp_path / "run", "--no-calibrate")[0] == 0
    found = pq.read_table(tmp_path / "run" / "predictions.parquet")
    assert found["id"].to_pylist() == table["id"].to_pylist() and set(found["label"].to_pylist()) == {0, 1}


def test_an_iterator_that_runs_ahead_hands_on_errors_and_stops_with_its_reader():
    def numbers():
        yield from range(3)
        raise InputError("no more")

    items = ahead(numbers())
    assert [next(items) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InputError, match="no more"):
        next(items)


def test_it_runs_no_more_ahead_than_it_may():
    """What is in memory does not grow with the table: two blocks wait, one is read, one is judged."""
    made = []

    def endless():
        while True:
            made.append(len(made))
            yield made[-1]

    items = ahead(endless(), most=2)
    for number in range(20):
        assert next(items) == number
        assert len(made) <= number + 1 + 2 + 1
    items.close()
    assert not [each for each in threading.enumerate() if each.name == "metapn reads ahead"]
