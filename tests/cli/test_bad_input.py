"""Whatever is wrong with the input: one sentence, exit code 2, no traceback, nothing half-written."""

import json
import re

import numpy as np
import pytest

from metapn.data.npz import read_npz

DATASET = ("evaluate", "--dataset", "sbm-300", "--runs", "1")


def members(**changes):
    """A small good file, changed; None leaves a member out."""
    good = {
        "adj_matrix.data": np.ones(4, np.float32),
        "adj_matrix.indices": np.array([1, 0, 2, 1]),
        "adj_matrix.indptr": np.array([0, 1, 3, 4]),
        "adj_matrix.shape": np.array([3, 3]),
        "attr_matrix": np.eye(3, dtype=np.float32),
        "labels": np.array([0, -1, 1]),
    }
    return {name: value for name, value in (good | changes).items() if value is not None}


FILES = {
    "lengths that differ": (members(labels=np.array([0, 1])), "labels has 2 rows but the graph has 3 nodes"),
    "NaN in features": (members(attr_matrix=np.full((3, 3), np.nan, np.float32)), "NaN"),
    "negative weights": (members(**{"adj_matrix.data": -np.ones(4, np.float32)}), "negative"),
    "infinite weights": (members(**{"adj_matrix.data": np.full(4, np.inf, np.float32)}), "finite|infinit"),
    "a class with no label": (members(class_names=np.array(["a", "b", "c"])), "names the class 'c'"),
    "labels all -1": (members(labels=np.full(3, -1)), "labels no node"),
    "one class only": (members(labels=np.array([0, -1, 0])), "second class"),
    "no labels at all": (members(labels=None), "no labels|no column of labels"),
    "no edges member": (members(**{"adj_matrix.indptr": None}), "adj_matrix"),
}


def is_one_sentence(code, out, err):
    assert code == 2, (code, out, err)
    assert err.startswith("Error: ") and err.count("\n") == 1, err
    assert "Traceback" not in out + err
    return err


@pytest.mark.parametrize("case", FILES)
def test_a_bad_file(metapn, tmp_path, case):
    content, pattern = FILES[case]
    np.savez(tmp_path / "bad.npz", **content)
    err = is_one_sentence(*metapn("fit", tmp_path / "bad.npz", "--out", tmp_path / "run"))
    assert re.search(pattern, err), err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 cut off"], ids=["empty", "text", "cut off"])
def test_a_corrupt_file(metapn, tmp_path, content):
    (tmp_path / "bad.npz").write_bytes(content)
    err = is_one_sentence(*metapn("fit", tmp_path / "bad.npz", "--out", tmp_path / "run"))
    assert "bad.npz" in err
    assert not (tmp_path / "run").exists()


COMMANDS = {
    "unknown data set": (("evaluate", "--dataset", "cora-m"), "cora_ml"),
    "unknown method": ((*DATASET, "--method", "metapm"), "metapn"),
    "too many shots": ((*DATASET, "--shot", "1000"), "shot"),
    "unknown setting": ((*DATASET, "--set", "n_hop=3"), "n_hops"),
    "a setting without value": ((*DATASET, "--set", "n_hops"), "name=value"),
    "a wrong value": ((*DATASET, "--set", "n_hops=many"), "whole number"),
    "a final prediction of a method that has one": ((*DATASET, "--method", "lp", "--final", "pseudo"), "--final"),
    "half a shot": ((*DATASET, "--shot", "2.5"), "whole number"),
    "a file that is not there": (("fit", "nowhere.npz", "--out", "run"), "nowhere.npz"),
    "a model that is not there": (("predict", "nowhere", "graph.npz", "--out", "x.csv"), "nowhere"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_a_bad_command_line(metapn, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    arguments, word = COMMANDS[case]
    assert word in is_one_sentence(*metapn(*arguments))
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_option_is_a_usage_error(metapn):
    code, _, err = metapn("evaluate", "--no-such-option")
    assert code == 2 and "no-such-option" in err and "Traceback" not in err


def test_a_model_needs_the_features_it_was_fitted_with(metapn, tmp_path, own_graph):
    path, _ = own_graph
    assert metapn("fit", path, "--out", tmp_path / "run")[0] == 0
    np.savez(tmp_path / "other.npz", **members())
    err = is_one_sentence(*metapn("predict", tmp_path / "run", tmp_path / "other.npz", "--out", tmp_path / "x.csv"))
    assert "features" in err and not (tmp_path / "x.csv").exists()


def test_an_output_that_cannot_be_written(metapn, tmp_path, own_graph):
    path, _ = own_graph
    (tmp_path / "taken").write_text("a file, not a folder")
    is_one_sentence(*metapn("fit", path, "--out", tmp_path / "taken"))
    assert (tmp_path / "taken").read_text() == "a file, not a folder"


def test_a_directed_file_fits_and_says_that_edges_count_both_ways(metapn, tmp_path):
    np.savez(tmp_path / "directed.npz", **members(**{"adj_matrix.data": np.array([1, 2, 1, 1], np.float32)}))
    code, out, _ = metapn("fit", tmp_path / "directed.npz", "--out", tmp_path / "run")
    assert code == 0 and "count in both directions" in out


def test_debug_shows_the_traceback(metapn, tmp_path):
    from metapn import InputError

    with pytest.raises(InputError):
        metapn("--debug", "fit", tmp_path / "nowhere.npz", "--out", tmp_path / "run")


def test_the_good_file_is_good(metapn, tmp_path):
    np.savez(tmp_path / "good.npz", **members())
    assert read_npz(tmp_path / "good.npz").n_edges == 2
    code, out, _ = metapn("fit", tmp_path / "good.npz", "--out", tmp_path / "run")
    assert code == 0 and "2 labels of 2 classes" in out
    assert json.loads((tmp_path / "run" / "model.json").read_text())["format"] == "metapn-model"
