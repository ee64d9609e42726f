"""A fit from Parquet files: the result of a fit in memory, and the same after any end that was not meant."""

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from metapn.data.synthetic import contextual_sbm
from metapn.errors import InputError
from metapn.model.features import FeatureScaling
from metapn.model.metapn import MetaPN
from metapn.model.storage import load, save
from metapn.model.streaming.fit import fit_stored, write_parquet
from metapn.model.streaming.nodes import ParquetNodes
from metapn.propagation.engines.sources import ParquetEdges

N = 300
GRAPH = contextual_sbm(N, n_classes=3, n_features=8, mean_degree=6, separation=2.0, seed=2)
NAMES = np.array(["ant", "bee", "cat"])
SETTINGS = {"batch_size": 64, "max_epochs": 25, "n_hops": 4, "hidden": 16, "random_state": 0}


def known(seed=0):
    y = np.full(N, None, dtype=object)
    random = np.random.default_rng(seed)
    for c in range(3):
        chosen = random.permutation(np.flatnonzero(GRAPH.labels == c))[:4]
        y[chosen] = NAMES[c]
    return y


@pytest.fixture
def files(tmp_path):
    """Edges in two files of a folder, nodes in random order with features as a list and as two columns."""
    rows, columns = GRAPH.adjacency.nonzero()
    edges = tmp_path / "edges"
    edges.mkdir()
    for i, part in enumerate(np.array_split(np.arange(len(rows)), 2)):
        parquet.write_table(pa.table({"source": rows[part], "target": columns[part]}), edges / f"part-{i}.parquet")
    order = np.random.default_rng(1).permutation(N)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(GRAPH.features[order, :6].ravel()), 6)
    table = {"node": order, "label": pa.array(known()[order]), "x": lists}
    table |= {f"y{i}": GRAPH.features[order, 6 + i].astype(np.float64) for i in range(2)}
    parquet.write_table(pa.table(table), tmp_path / "nodes.parquet")
    return edges, tmp_path / "nodes.parquet"


def fitted(files, work, **more):
    model = MetaPN(**SETTINGS)
    nodes = ParquetNodes(files[1])
    return model, fit_stored(model, ParquetEdges(files[0], nodes.n_nodes), nodes, work, **more)


def test_it_learns_what_it_learns_in_memory(files, tmp_path):
    model, found = fitted(files, tmp_path / "work")
    memory = MetaPN(**SETTINGS).fit(GRAPH.features, known(), graph=GRAPH)
    assert model.n_iter_ == memory.n_iter_
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    P = found.predictions[:]
    np.testing.assert_allclose(P / P.sum(dim=1, keepdim=True), memory.label_distributions_, atol=2e-3)
    np.testing.assert_allclose(model.predict_proba(GRAPH.features), memory.predict_proba(GRAPH.features), atol=2e-3)
    assert (model.report_.n_edges, model.report_.n_labelled) == (GRAPH.n_edges, 12)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.predict(GRAPH.features), model.predict(GRAPH.features))
    write_parquet(found, model, tmp_path / "predictions.parquet", rows=77)
    table = parquet.read_table(tmp_path / "predictions.parquet").to_pandas()
    assert table.columns.tolist() == ["node", "label", "p_ant", "p_bee", "p_cat", "margin"]
    assert table.node.tolist() == list(range(N))
    assert (table.label == memory.transduction_).mean() > 0.99
    np.testing.assert_allclose(table[["p_ant", "p_bee", "p_cat"]].sum(axis=1), 1, rtol=1e-5)


def test_float16_changes_the_predictions_by_little(files, tmp_path):
    exact, half = (fitted(files, tmp_path / str(half), half=half)[1].predictions[:] for half in (False, True))
    assert float((exact - half).abs().max()) < 0.02


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("what, place", [("propagating", 2), ("training", 3), ("training", 11), ("predicting", 2)])
def test_an_ended_fit_goes_on_and_ends_with_the_same_bits(files, tmp_path, what, place):
    _, expected = fitted(files, tmp_path / "whole")
    seen = []

    def stop(now, done, total):
        if (now, done) == (what, place):
            raise StoppedError

    with pytest.raises(StoppedError):
        fitted(files, tmp_path / "work", checkpoint_seconds=0, on_progress=stop)
    _, found = fitted(files, tmp_path / "work", on_progress=lambda now, done, total: seen.append((now, done)))
    assert bool((found.predictions[:] == expected.predictions[:]).all())
    epochs = [done for now, done in seen if now == "training"]
    if what == "training":
        assert epochs[0] == place + 1
    assert [done for now, done in seen if now == "propagating"] == ([3, 4] if what == "propagating" else [])


KILLED = """
import os, sys, signal
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_fit import *
import torch
torch.set_num_threads(1)  # as here: with another number of threads the last bits vary
def kill(now, done, total):
    if (now, done) == ("training", 7):
        os.kill(os.getpid(), signal.SIGKILL)
fitted((Path(sys.argv[2]), Path(sys.argv[3])), Path(sys.argv[4]), checkpoint_seconds=0, on_progress=kill)
"""


def test_a_killed_process_is_gone_on_from(files, tmp_path):
    here = os.path.dirname(__file__)  # noqa: PTH120
    command = [sys.executable, "-c", KILLED, here, *map(str, files), str(tmp_path / "work")]
    assert subprocess.run(command).returncode == -9
    epochs = []
    _, found = fitted(files, tmp_path / "work", on_progress=lambda now, done, total: epochs.append((now, done)))
    assert ("training", 8) in epochs
    assert ("training", 7) not in epochs
    _, expected = fitted(files, tmp_path / "whole")
    assert bool((found.predictions[:] == expected.predictions[:]).all())


def test_a_checkpoint_of_other_settings_is_passed_over(files, tmp_path):
    fitted(files, tmp_path / "work", checkpoint_seconds=0)
    nodes = ParquetNodes(files[1])
    epochs = []
    other = MetaPN(**{**SETTINGS, "learning_rate": 0.01})
    fit_stored(
        other, ParquetEdges(files[0], N), nodes, tmp_path / "work", on_progress=lambda *each: epochs.append(each[:2])
    )
    assert ("training", 1) in epochs


def test_a_damaged_checkpoint_is_passed_over(files, tmp_path):
    _, expected = fitted(files, tmp_path / "work", checkpoint_seconds=0)
    (tmp_path / "work" / "training.safetensors").write_bytes(b"no tensors")
    _, found = fitted(files, tmp_path / "work")
    assert bool((found.predictions[:] == expected.predictions[:]).all())


@pytest.mark.parametrize("kind", ["rows", "columns", "none"])
def test_the_scaling_is_that_of_memory(files, tmp_path, kind):
    model = MetaPN(**{**SETTINGS, "max_epochs": 1, "scaling": kind})
    fit_stored(model, ParquetEdges(files[0], N), ParquetNodes(files[1]), tmp_path / "work")
    expected = FeatureScaling.fit(GRAPH.features, kind)
    np.testing.assert_allclose(model._scaling.offset, expected.offset, atol=1e-7)
    np.testing.assert_allclose(model._scaling.factor, expected.factor, rtol=1e-6)
    assert model._scaling.by_row == expected.by_row


def write_nodes(file, **columns):
    table = {"node": np.arange(3), "label": ["a", "b", None], "x": [1.0, 2.0, 3.0]} | columns
    parquet.write_table(pa.table({name: value for name, value in table.items() if value is not None}), file)


@pytest.mark.parametrize(
    "columns, sentence",
    [
        ({"node": [0, 1, 1]}, "names the node 1 twice|names the node one of them twice"),
        ({"node": [0, 1, 3]}, "names the node 3 twice or beyond the 3 rows"),
        ({"node": ["0", "1", "2"]}, "column 'node' of .* is of type string; number the nodes"),
        ({"node": None}, "has no column 'node', but label, x"),
        ({"label": [None, None, None]}, "holds no label"),
        ({"label": ["a", "a", None]}, "only one class"),
        ({"x": None}, "has no features beside node and label"),
        ({"x": [1.0, None, 2.0]}, "has missing values"),
        ({"x": ["u", "v", "w"]}, "is of type string; engine disk takes numbers only"),
        ({"x": [[1.0], [2.0, 3.0], []]}, "lists of different lengths"),
        ({"x": [1.0, np.inf, 2.0]}, "not all finite"),
    ],
)
def test_bad_nodes_are_told_in_a_sentence(tmp_path, columns, sentence):
    write_nodes(tmp_path / "nodes.parquet", **columns)
    parquet.write_table(pa.table({"source": [0, 1], "target": [1, 2]}), tmp_path / "edges.parquet")
    with pytest.raises(InputError, match=sentence):
        fit_stored(
            MetaPN(), ParquetEdges(tmp_path / "edges.parquet", 3), ParquetNodes(tmp_path / "nodes.parquet"),
            tmp_path / "work",
        )  # fmt: skip


@pytest.mark.parametrize(
    "columns, sentence",
    [
        ({"source": [0, 5]}, "edge 1 of .* joins 5 and 2, but nodes are whole numbers from 0 to 2"),
        ({"source": [0, None]}, "has 1 missing values"),
        ({"source": ["a", "b"]}, "is of type string"),
        ({"weight": [1.0, -1.0]}, "the weight of edge 1 .* is -1.0"),
        ({"weight": [1.0, None]}, "has 1 missing weights"),
        ({"weight": ["u", "v"]}, "give weights as numbers"),
    ],
)
def test_bad_edges_are_told_in_a_sentence(tmp_path, columns, sentence):
    file = tmp_path / "edges.parquet"
    parquet.write_table(pa.table({"source": [0, 1], "target": [1, 2], "weight": [1.0, 1.0]} | columns), file)
    with pytest.raises(InputError, match=sentence):
        list(ParquetEdges(file, 3, weight="weight").blocks())


def test_files_that_are_not_there_or_no_parquet_are_told(tmp_path):
    with pytest.raises(InputError, match="holds no Parquet file"):
        ParquetEdges(tmp_path, 3)
    (tmp_path / "edges.parquet").write_text("source,target")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        ParquetEdges(tmp_path, 3)
