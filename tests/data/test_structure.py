"""Features from the graph alone: their definitions, their use, and that they can be had again."""

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from metapn.data.structure import core_numbers, positions, structural_features
from metapn.data.synthetic import contextual_sbm
from metapn.graph import Graph


@st.composite
def graphs(draw):
    n_nodes = draw(st.integers(1, 12))
    node = st.integers(0, n_nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=40))
    weights = draw(st.lists(st.floats(0.125, 10, width=32), min_size=len(edges), max_size=len(edges)))
    return Graph.from_edges(edges, n_nodes, weights)


@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_core_numbers_are_those_of_networkx(graph):
    wanted = networkx.core_number(networkx.from_scipy_sparse_array(graph.adjacency))
    assert core_numbers(graph.adjacency).tolist() == [wanted[node] for node in range(graph.n_nodes)]


@settings(max_examples=30, deadline=None)
@given(graph=graphs())
def test_features_follow_their_definition(graph):
    X = structural_features(graph, n_positions=3, n_hops=2, seed=5)
    assert X.dtype == np.float32 and X.shape == (graph.n_nodes, 8) and np.isfinite(X).all()
    A = graph.adjacency.toarray().astype(np.float64)
    near = [np.log1p((A > 0).sum(axis=1))[A[node] > 0] for node in range(graph.n_nodes)]
    np.testing.assert_allclose(X[:, 0], np.log1p((A > 0).sum(axis=1)), rtol=1e-5)
    np.testing.assert_allclose(X[:, 1], np.log1p(A.sum(axis=1)), rtol=1e-5)
    np.testing.assert_allclose(X[:, 3], [part.mean() if len(part) else 0 for part in near], rtol=1e-5)
    np.testing.assert_allclose(X[:, 4], [part.std() if len(part) else 0 for part in near], atol=2e-3)


def test_positions_follow_their_definition():
    graph = contextual_sbm(60, seed=3)
    A = graph.adjacency.toarray().astype(np.float64)
    degree = 1 + A.sum(axis=1)
    t = np.sqrt(degree / degree.sum())
    S = (A + np.eye(60)) / np.sqrt(np.outer(degree, degree)) - np.outer(t, t)
    P, wanted = np.random.default_rng(7).standard_normal((60, 4), dtype=np.float32).astype(np.float64), 0
    for _ in range(3):
        P = S @ P
        wanted = wanted + P / np.linalg.norm(P, axis=1, keepdims=True) / 3
    np.testing.assert_allclose(positions(graph.adjacency, 4, 3, seed=7), wanted, atol=1e-4)


def test_the_seed_decides():
    graph = contextual_sbm(100, seed=1)
    first = structural_features(graph, seed=4)
    np.testing.assert_array_equal(first, structural_features(graph, seed=4))
    assert (first[:, 5:] != structural_features(graph, seed=5)[:, 5:]).any()


def accuracy(graph, shot=5):
    X = StandardScaler().fit_transform(structural_features(graph))
    known = np.concatenate([np.flatnonzero(graph.labels == c)[:shot] for c in range(graph.n_classes)])
    found = LogisticRegression(max_iter=1000).fit(X[known], graph.labels[known]).predict(X)
    unknown = np.setdiff1d(np.arange(graph.n_nodes), known)
    return (found == graph.labels)[unknown].mean()


@pytest.mark.parametrize("seed", [0, 1])
def test_five_labels_a_class_tell_the_classes_where_like_joins_like(seed):
    assert accuracy(contextual_sbm(600, homophily=0.8, seed=seed)) > 0.8


def test_where_edges_say_nothing_there_is_nothing_to_find():
    assert accuracy(contextual_sbm(600, homophily=0.25, seed=0)) < 0.4
