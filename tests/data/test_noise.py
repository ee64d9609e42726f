import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn import Graph, InputError
from metapn.data.noise import with_random_edges
from metapn.data.synthetic import contextual_sbm


@settings(max_examples=40, deadline=None)
@given(n_nodes=st.integers(2, 40), degree=st.floats(0, 10), share=st.floats(0, 3), seed=st.integers(0, 9))
def test_old_edges_stay_and_new_ones_join_pairs_that_had_none(n_nodes, degree, share, seed):
    graph = contextual_sbm(n_nodes, 1, 2, degree)
    noisy = with_random_edges(graph, share, seed)
    pairs = n_nodes * (n_nodes - 1) // 2
    assert graph.n_edges <= noisy.n_edges <= min(graph.n_edges + round(share * graph.n_edges), pairs)
    assert (noisy.adjacency - noisy.adjacency.T).nnz == 0
    assert set(noisy.adjacency.data) <= {1.0}
    assert (graph.adjacency - graph.adjacency.multiply(noisy.adjacency)).nnz == 0
    assert noisy.labels is graph.labels and noisy.features is graph.features and noisy.name == graph.name


def test_as_many_as_asked_for_the_same_for_the_same_seed_and_blind_to_classes():
    graph = contextual_sbm(2000, 4, 2, 8, homophily=1.0)
    one, same, other = (with_random_edges(graph, 0.5, seed) for seed in (1, 1, 2))
    assert one.n_edges == 12000
    assert one.adjacency.indices.tobytes() == same.adjacency.indices.tobytes() != other.adjacency.indices.tobytes()
    new = (one.adjacency - graph.adjacency).tocoo()
    new.eliminate_zeros()
    assert (graph.labels[new.row] == graph.labels[new.col]).mean() == pytest.approx(0.25, abs=0.03)


def test_weights_of_old_edges_are_kept():
    noisy = with_random_edges(Graph.from_edges([(0, 1), (1, 2)], n_nodes=9, weights=[0.5, 2]), 2, seed=0)
    assert noisy.adjacency[0, 1] == 0.5 and noisy.adjacency[2, 1] == 2
    assert sorted(np.unique(noisy.adjacency.data)) == [0.5, 1, 2]


@pytest.mark.parametrize("share", [-0.1, float("nan"), float("inf")])
def test_an_impossible_share_is_told(share):
    with pytest.raises(InputError, match="share of random edges"):
        with_random_edges(contextual_sbm(20), share)
