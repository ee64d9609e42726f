import numpy as np
import pytest
from scipy import sparse

from metapn.data.neighbours import nearest_neighbour_graph
from metapn.errors import InputError


def slowly(X, n_neighbors):
    """Every distance, the first of equal ones first."""
    n_nodes = len(X)
    adjacency = np.zeros((n_nodes, n_nodes))
    for row in range(n_nodes):
        distance = ((X - X[row]) ** 2).sum(axis=1)
        distance[row] = np.inf
        for other in np.argsort(distance, kind="stable")[: min(n_neighbors, n_nodes - 1)]:
            adjacency[row, other] = adjacency[other, row] = 1
    return adjacency


@pytest.mark.parametrize("n_nodes", [2, 3, 11, 60])
@pytest.mark.parametrize("pack", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_neighbours_are_those_of_the_definition(n_nodes, pack):
    X = np.random.default_rng(n_nodes).integers(0, 4, (n_nodes, 5)).astype(np.float32)
    graph = nearest_neighbour_graph(pack(X), n_neighbors=3)
    np.testing.assert_array_equal(graph.adjacency.toarray(), slowly(X, 3))
    assert graph.features is None


def test_duplicates_are_neighbours_of_each_other():
    graph = nearest_neighbour_graph(np.zeros((3, 2)), n_neighbors=10)
    assert graph.n_edges == 3


def test_a_single_row_is_a_graph_without_edges():
    graph = nearest_neighbour_graph(np.ones((1, 4)))
    assert (graph.n_nodes, graph.n_edges) == (1, 0)


def test_no_neighbours_is_refused():
    with pytest.raises(InputError, match="n_neighbors is 0"):
        nearest_neighbour_graph(np.eye(3), n_neighbors=0)
