from dataclasses import replace

import numpy as np
import pytest

from metapn import datasets
from metapn.data.download import fetch, is_upstream
from metapn.data.npz import write_npz
from metapn.data.registry import SOURCES, Counts
from metapn.data.synthetic import contextual_sbm
from metapn.errors import InputError
from metapn.graph import Graph

NPZ = ["cora_ml", "citeseer", "pubmed", "ms_academic"]
KNOWN = {"cora_ml": 1500, "citeseer": 1500, "pubmed": 1500, "ms_academic": 5000}


@pytest.mark.real_graphs
@pytest.mark.parametrize("name", NPZ)
def test_the_real_graphs_hold_what_the_paper_says(name, real_data):
    graph = datasets.load(name)
    assert Counts.of(graph) == SOURCES[name].counts
    assert graph.name == name
    assert (graph.adjacency.data == 1).all()
    assert graph.components().max() == 0
    assert np.unique(graph.labels).tolist() == list(range(graph.n_classes))
    split = datasets.split(graph, shot=5, seed=1)
    assert len(split.train) == 5 * graph.n_classes
    assert len(split.stopping) == 500
    assert len(split.test) == graph.n_nodes - KNOWN[name]


@pytest.mark.real_graphs
@pytest.mark.parametrize("name", ["cora_ml", "citeseer"])
def test_the_registry_has_upstreams_checksums(name, real_data):
    assert is_upstream(real_data / f"{name}.npz", SOURCES[name])


@pytest.mark.real_graphs
def test_class_names_are_read_where_they_are_strings(real_data):
    assert datasets.load("citeseer").class_names[:3] == ("AI", "Agents", "DB")


@pytest.mark.real_graphs
def test_a_download_of_a_real_graph_loads(real_data, cache, monkeypatch):
    cache.mkdir()
    (cache / "citeseer.npz.part").write_bytes((real_data / "citeseer.npz").read_bytes()[:1000])
    monkeypatch.delenv("METAPN_DATA")
    monkeypatch.setitem(SOURCES, "citeseer", _replaced("citeseer", address=(real_data / "citeseer.npz").as_uri()))
    assert fetch(SOURCES["citeseer"]) == cache / "citeseer.npz"
    assert datasets.load("citeseer").n_nodes == 2110


def _replaced(name, **changes):
    return replace(SOURCES[name], **changes)


@pytest.mark.parametrize("spelling", ["digits", "Digits", " DIGITS ", "sbm-50", "SBM-50", "sbm_50"])
def test_spelling_makes_no_difference(spelling):
    assert datasets.load(spelling).name == spelling.strip().lower().replace("_", "-")


@pytest.mark.parametrize(
    ("spelling", "name"),
    [("Cora-ML", "cora_ml"), ("CORA_ML", "cora_ml"), ("MS-CS", "ms_academic"), ("ogbn_arxiv", "ogbn-arxiv")],
)
def test_the_papers_names_will_do(spelling, name):
    with pytest.raises(InputError, match=SOURCES[name].file), pytest.MonkeyPatch.context() as patch:
        patch.setitem(SOURCES, name, _replaced(name, address="http://127.0.0.1:9/nothing"))
        datasets.load(spelling)


def test_digits_need_no_network_and_are_checked():
    graph = datasets.load("digits")
    assert graph.features.shape == (1797, 64)
    assert graph.features.dtype == np.float32
    assert (graph.features.min(), graph.features.max()) == (0, 1)
    assert graph.labels.dtype == np.int64
    split = datasets.split(graph, shot=5, seed=0)
    assert (len(split.train), len(split.stopping), len(split.test)) == (50, 359, 719)


@pytest.mark.parametrize(("name", "hint"), [("core_ml", "cora_ml"), ("pubmet", "pubmed"), ("cora", "cora_ml")])
def test_a_name_nearly_right_is_corrected(name, hint):
    with pytest.raises(InputError, match=f"did you mean {hint}"):
        datasets.load(name)


@pytest.mark.parametrize("name", ["", "xyz", "sbm-", "sbm-1.5", "sbm--3", "../cora_ml"])
def test_an_unknown_name_is_told_in_one_sentence(name):
    with pytest.raises(InputError, match="there is no data set") as told:
        datasets.load(name)
    assert "\n" not in str(told.value)


def test_a_file_with_other_counts_is_refused(tmp_path, monkeypatch):
    write_npz(tmp_path / "cora_ml.npz", contextual_sbm(100))
    monkeypatch.setenv("METAPN_DATA", str(tmp_path))
    with pytest.raises(InputError) as told:
        datasets.load("cora_ml")
    sentence = str(told.value)
    assert sentence.startswith(str(tmp_path / "cora_ml.npz"))
    assert "2,810 nodes" in sentence and "500 edges" in sentence


def test_a_reencoded_file_with_the_right_counts_is_accepted(tmp_path, monkeypatch):
    graph = contextual_sbm(300)
    write_npz(tmp_path / "pubmed.npz", graph)
    monkeypatch.setenv("METAPN_DATA", str(tmp_path))
    monkeypatch.setitem(SOURCES, "pubmed", _replaced("pubmed", counts=Counts.of(graph)))
    assert datasets.load("pubmed").name == "pubmed"


def test_the_list_says_what_is_on_this_machine(tmp_path, monkeypatch):
    (tmp_path / "cora_ml.npz").touch()
    monkeypatch.setenv("METAPN_DATA", str(tmp_path))
    lines = {line.name: line for line in datasets.describe()}
    assert list(lines) == [*datasets.names(), "sbm-<n>"]
    assert lines["cora_ml"].path == tmp_path / "cora_ml.npz" and lines["cora_ml"].ready
    assert lines["citeseer"].path is None and not lines["citeseer"].ready
    assert lines["digits"].ready and lines["sbm-<n>"].counts is None
    assert lines["ms_academic"].title == "MS-CS"


@pytest.mark.parametrize("n_nodes", [40, 100, 2499, 2500, 6000])
def test_a_graph_of_any_size_keeps_nodes_to_test_on(n_nodes):
    split = datasets.split(contextual_sbm(n_nodes), shot=2, seed=0)
    assert len(split.test) >= 0.4 * n_nodes
    if n_nodes >= 2500:
        assert (len(split.stopping), len(split.test)) == (500, n_nodes - 1500)


def test_a_ratio_takes_the_published_split():
    graph = datasets.load("arxiv-like")
    split = datasets.split(graph, shot=0.01, seed=0)
    assert (len(split.train), len(split.stopping), len(split.test)) == (1693, 29799, 48603)


@pytest.mark.parametrize("shot", [1.5, -3, 0, float("nan"), float("inf")])
def test_a_shot_that_is_none_is_refused(shot):
    with pytest.raises(InputError, match="the shot is"):
        datasets.split(contextual_sbm(100), shot, seed=0)


def test_a_graph_without_labels_cannot_be_split():
    with pytest.raises(InputError, match="no labels"):
        datasets.split(Graph.from_edges([(0, 1)], 2), 1, 0)
