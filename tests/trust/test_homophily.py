import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from metapn.data.synthetic import contextual_sbm
from metapn.graph import Graph
from metapn.trust.homophily import labelled_homophily
from metapn.trust.intervals import wilson_interval


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_scipy_s(case):
    k, n = case
    theirs = binomtest(k, n).proportion_ci(method="wilson")
    assert wilson_interval(k / n, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_of_nothing_nothing_is_known():
    assert wilson_interval(0.0, 0) == (0.0, 1.0)
    none = labelled_homophily(Graph.from_edges([(0, 1)], n_nodes=3), np.array([0, -1, 1]))
    assert (none.n_edges, none.low, none.high) == (0, 0.0, 1.0)


def test_by_hand():
    """A triangle of a, a, b and an edge to a node without a label: one of three edges joins one class."""
    graph = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], n_nodes=4, weights=[9, 1, 1, 1])
    found = labelled_homophily(graph, np.array([0, 0, 1, -1]))
    assert found.n_edges == 3 and found.same == pytest.approx(1 / 3)
    assert found.chance == pytest.approx((4 / 6) ** 2 + (2 / 6) ** 2)
    assert found.adjusted == pytest.approx((1 / 3 - 5 / 9) / (4 / 9))
    assert found.adjusted_low < found.adjusted < found.adjusted_high


@pytest.mark.parametrize("homophily", [0.25, 0.6, 0.9])
def test_it_finds_what_a_block_model_was_drawn_with(homophily):
    graph = contextual_sbm(2000, n_classes=4, mean_degree=8, homophily=homophily, seed=1)
    found = labelled_homophily(graph, np.where(np.arange(2000) % 2 == 0, graph.labels, -1))
    assert found.low < homophily < found.high
    assert found.chance == pytest.approx(0.25, abs=0.01)
    assert found.adjusted == pytest.approx((homophily - 0.25) / 0.75, abs=0.06)


def test_a_large_class_does_not_look_like_homophily():
    random = np.random.default_rng(0)
    codes = (random.uniform(size=1000) < 0.1).astype(int)
    graph = Graph.from_edges(random.integers(1000, size=(5000, 2)), n_nodes=1000)
    found = labelled_homophily(graph, codes)
    assert found.same > 0.75 and abs(found.adjusted) < 0.05
