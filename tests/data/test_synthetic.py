import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn.data.synthetic import arxiv_like, contextual_sbm
from metapn.errors import InputError


def inside(graph):
    """Share of edges within classes."""
    edges = graph.adjacency.tocoo()
    return (graph.labels[edges.row] == graph.labels[edges.col]).mean()


def degrees(graph):
    return np.diff(graph.adjacency.indptr)


@pytest.mark.parametrize("homophily", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("exponent", [None, 2.5])
def test_homophily_and_degree_are_near_their_targets(homophily, exponent):
    graph = contextual_sbm(6000, mean_degree=8, homophily=homophily, degree_exponent=exponent, seed=1)
    assert graph.n_edges == 24000
    assert abs(inside(graph) - homophily) < 0.02
    assert (graph.adjacency.data == 1).all()


def test_degrees_are_heavy_tailed_only_where_asked():
    even, heavy = contextual_sbm(5000), contextual_sbm(5000, degree_exponent=2.5)
    assert degrees(even).max() < 40
    assert degrees(heavy).max() > 300
    assert np.median(degrees(heavy)) < 10 == np.median(degrees(even))


def test_the_same_seed_gives_the_same_bits():
    one, same, other = (contextual_sbm(400, degree_exponent=3.0, seed=seed) for seed in (5, 5, 6))
    assert one.features.tobytes() == same.features.tobytes()
    assert one.labels.tobytes() == same.labels.tobytes()
    assert one.adjacency.indices.tobytes() == same.adjacency.indices.tobytes()
    assert one.adjacency.indptr.tobytes() == same.adjacency.indptr.tobytes()
    assert one.adjacency.indices.tobytes() != other.adjacency.indices.tobytes()
    assert one.features.tobytes() != other.features.tobytes()


def test_features_lie_around_centres_at_the_distance_asked_for():
    graph = contextual_sbm(20000, n_classes=3, n_features=8, separation=5.0)
    assert graph.features.dtype == np.float32
    for label in range(3):
        rows = graph.features[graph.labels == label]
        assert np.linalg.norm(rows.mean(axis=0)) == pytest.approx(5, abs=0.1)
        assert rows.std(axis=0) == pytest.approx(np.ones(8), abs=0.05)


@settings(max_examples=40, deadline=None)
@given(
    n_nodes=st.integers(1, 40),
    n_classes=st.integers(1, 6),
    degree=st.floats(0, 60),
    homophily=st.floats(0, 1),
    uneven=st.floats(0, 3),
)
def test_any_size_is_a_graph_with_every_class(n_nodes, n_classes, degree, homophily, uneven):
    n_classes = min(n_classes, n_nodes)
    graph = contextual_sbm(n_nodes, n_classes, 2, degree, homophily, class_exponent=uneven)
    assert graph.n_nodes == n_nodes
    assert graph.n_edges <= min(round(n_nodes * degree / 2), n_nodes * (n_nodes - 1) // 2)
    assert np.bincount(graph.labels).min() > 0
    assert graph.n_classes == n_classes


def test_equal_classes_are_equal_and_uneven_ones_follow_their_law():
    assert np.ptp(np.bincount(contextual_sbm(1002, n_classes=4).labels)) <= 1
    sizes = np.bincount(contextual_sbm(11000, n_classes=3, class_exponent=1.0).labels)
    assert sizes.tolist() == pytest.approx([6000, 3000, 2000], abs=5)


def test_memory_grows_with_the_edges_not_with_the_square_of_the_nodes():
    def peak(n_nodes):
        tracemalloc.start()
        contextual_sbm(n_nodes, mean_degree=4, n_features=2)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(40000) < 6 * peak(10000)
    assert peak(40000) < 50e6


def test_the_preset_has_the_shape_of_ogbn_arxiv():
    graph = arxiv_like()
    assert (graph.n_nodes, graph.n_edges, graph.features.shape[1], graph.n_classes) == (
        169343,
        1166243,
        128,
        40,
    )
    assert [len(nodes) for nodes in graph.official_split.values()] == [90941, 29799, 48603]
    assert len(np.unique(np.concatenate(list(graph.official_split.values())))) == 169343
    assert inside(graph) == pytest.approx(0.65, abs=0.01)
    sizes = np.bincount(graph.labels)
    assert sizes.max() > 20 * sizes.min()
    assert degrees(graph).max() > 1000


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"n_nodes": 3}, "4 classes"),
        ({"n_nodes": 0}, "0 nodes"),
        ({"n_classes": 0}, "0 classes"),
        ({"n_features": 0}, "n_features"),
        ({"mean_degree": -1}, "mean_degree"),
        ({"mean_degree": float("nan")}, "mean_degree"),
        ({"homophily": 1.2}, "homophily"),
        ({"degree_exponent": 2}, "degree_exponent"),
    ],
)
def test_impossible_graphs_are_told_in_one_sentence(wrong, word):
    with pytest.raises(InputError, match=word):
        contextual_sbm(**wrong)
