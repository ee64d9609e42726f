import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

from metapn.graph import Graph
from metapn.trust.reach import hops_to_label

edges = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=40)


@given(edges, st.sets(st.integers(0, 19), min_size=1))
def test_it_is_the_shortest_of_all_ways(pairs, labelled):
    graph = Graph.from_edges(pairs, n_nodes=20)
    places = np.array(sorted(labelled))
    shortest = csgraph.shortest_path(graph.adjacency, unweighted=True, indices=places).min(axis=0)
    assert hops_to_label(graph, places).tolist() == np.where(np.isinf(shortest), -1, shortest).astype(int).tolist()


def test_weights_are_no_distances():
    graph = Graph.from_edges([(0, 1), (1, 2), (0, 2)], n_nodes=4, weights=[0.1, 0.1, 9.0])
    assert hops_to_label(graph, np.array([0])).tolist() == [0, 1, 1, -1]


def test_without_a_label_nothing_is_reached():
    assert hops_to_label(Graph.from_edges([(0, 1)], n_nodes=2), np.zeros(0, dtype=int)).tolist() == [-1, -1]
