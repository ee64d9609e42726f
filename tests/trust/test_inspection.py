import json

import numpy as np
import pytest
from scipy import sparse

from metapn.data.synthetic import contextual_sbm
from metapn.errors import InputError
from metapn.graph import Graph
from metapn.model.metapn import MetaPN
from metapn.trust import duration, inspection, machine
from metapn.trust.duration import estimate_seconds
from metapn.trust.inspection import inspect


@pytest.fixture
def archipelago():
    """A path of five nodes, a pair, and a node alone; labels a at one end of the path and b on it."""
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (5, 6)], n_nodes=8)
    y = np.array(["a", "a", "b", None, None, None, None, None], dtype=object)
    return graph, y, np.eye(8)


def test_it_counts(archipelago):
    graph, y, X = archipelago
    look = inspect(graph, y, X, timed=False)
    assert (look.n_nodes, look.n_edges, look.n_features) == (8, 5, 8)
    assert (look.n_components, look.largest_component) == (3, 5)
    degrees = {"min": 0, "median": 1, "mean": 10 / 8, "p99": 2, "max": 2, "isolated": 1}
    assert look.degrees == pytest.approx(degrees)
    assert look.labels == {"a": 2, "b": 1}
    assert look.hops == {"0": 3, "1": 1, "2": 1} and look.n_unreached == 3
    assert (look.homophily.n_edges, look.homophily.same) == (2, 0.5)
    assert inspect(graph, y, X, model=MetaPN(n_hops=1), timed=False).n_beyond == 1


def test_it_is_told_in_words_and_in_json(archipelago):
    look = inspect(*archipelago)
    text = str(look)
    for words in ("8 nodes, 5 edges, 8 features", "a 2, b 1", "0: 3, 1: 1, 2: 1", "3 no label can reach", "too few"):
        assert words in text
    plain = json.loads(json.dumps(look.as_dict()))
    assert plain["homophily"]["n_edges"] == 2 and plain["seconds"] > 0 and plain["memory_bytes"] > 1e8
    assert len(plain["warnings"]) == text.count("Warning: ") == 2
    assert "no label can reach 3 nodes (37.5%)" in plain["warnings"][0]
    assert "one label only (b)" in plain["warnings"][1]


@pytest.mark.parametrize(("homophily", "word"), [(0.25, "will hurt"), (0.5, "may hurt"), (0.8, None)])
def test_it_warns_where_propagation_hurts(homophily, word):
    graph = contextual_sbm(600, n_classes=4, mean_degree=6, homophily=homophily, seed=2)
    y = np.where(np.random.default_rng(0).uniform(size=600) < 0.35, graph.labels, -1)
    warnings = " ".join(inspect(graph, y, timed=False).warnings)
    assert (word in warnings and "--method mlp" in warnings) if word else "hurt" not in warnings


def test_it_warns_before_memory_runs_out(archipelago, monkeypatch):
    graph, y, X = archipelago
    monkeypatch.setattr(inspection, "free_memory", lambda: 10**8)
    look = inspect(graph, y, X)
    assert not look.fits_into_memory and look.seconds is None
    assert "needs about 0.4 GB, but this machine has 0.1 GB left" in look.warnings[0]
    monkeypatch.setattr(inspection, "free_memory", lambda: None)
    unknown = inspect(graph, y, X)
    assert unknown.fits_into_memory and unknown.seconds is not None and "left" not in str(unknown)


def test_without_features_it_says_so(archipelago):
    graph, y, _ = archipelago
    look = inspect(graph, y)
    assert look.memory_bytes is None and look.seconds is None and look.n_features is None
    assert "not known without features" in str(look)


def test_without_a_label_there_is_nothing_to_look_at(archipelago):
    graph, _, X = archipelago
    with pytest.raises(InputError, match="no label"):
        inspect(graph, np.full(8, -1), X)


def test_the_memory_is_the_estimate_of_meta_pn(archipelago):
    graph, y, X = archipelago
    dense, thin = (inspect(graph, y, rows, timed=False).memory_bytes for rows in (X, sparse.csr_array(X)))
    assert dense == int(MetaPN.estimate_memory(8, 5, 8, 2, 10, g=3))
    assert thin == int(MetaPN.estimate_memory(8, 5, 8, 2, 10, g=3, stored=8))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_time_is_tried_on_a_part_and_grows_with_the_graph(monkeypatch, form):
    """A clock that goes by the nodes of the part: the estimate is then what the docstring says."""
    graph = contextual_sbm(900, n_classes=3, mean_degree=4, seed=1)
    codes = np.where(np.arange(900) < 30, graph.labels, -1)
    monkeypatch.setattr(duration, "SAMPLE", 100)
    seen = []

    class Clock:
        now = 0.0

        @classmethod
        def perf_counter(cls):
            cls.now += 2.0
            return cls.now

    original = MetaPN.fit

    def fit(self, X, y, graph, **more):
        seen.append((X.shape[0], graph.n_nodes, set(y[y >= 0]), (y >= 0).sum()))
        return original(self, X, y, graph=graph, **more)

    monkeypatch.setattr(MetaPN, "fit", fit)
    monkeypatch.setattr(duration, "time", Clock)
    model = MetaPN(batch_size=10, max_epochs=70)
    # 2 s an epoch on 100 of 900 nodes, 90 batches: the fewest epochs, 60.
    assert estimate_seconds(graph, codes, form(graph.features), model) == pytest.approx(2 * 9 * 60)
    assert seen == [(100, 100, {0, 1, 2}, 30)]


def test_a_part_without_edges_can_be_timed(monkeypatch):
    monkeypatch.setattr(duration, "SAMPLE", 20)
    graph = Graph.from_edges([(i, i + 1000) for i in range(1000)], n_nodes=2000)
    codes = np.full(2000, -1)
    codes[:2] = [0, 1]
    assert estimate_seconds(graph, codes, np.ones((2000, 2))) > 0


def test_free_memory_is_the_less_of_machine_and_container(monkeypatch, tmp_path):
    for name, content in (
        ("meminfo", "MemTotal: 9 kB\nMemAvailable:    2000 kB\n"),
        ("max", "5000"),
        ("now", "1000"),
    ):
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "_LIMIT", tmp_path / "max")
    monkeypatch.setattr(machine, "_USED", tmp_path / "now")
    assert machine.free_memory() == 4000
    (tmp_path / "max").write_text("max\n")
    assert machine.free_memory() == 2_048_000
    monkeypatch.setattr(machine, "_LIMIT", tmp_path / "nowhere")
    assert machine.free_memory() == 2_048_000
