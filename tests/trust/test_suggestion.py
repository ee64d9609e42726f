import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn.errors import InputError
from metapn.graph import Graph
from metapn.trust.suggestion import entropy, suggest

NOBODY = np.zeros(0, dtype=int)


def star(n_leaves, first):
    return [(first, first + 1 + leaf) for leaf in range(n_leaves)]


def test_one_node_of_each_place_is_named_before_a_second_of_any():
    """Three stars in which all is in doubt: the middles, the largest first; their leaves come after."""
    graph = Graph.from_edges([*star(5, 0), *star(9, 6), *star(7, 16)], n_nodes=24)
    P = np.full((24, 3), 1 / 3)
    assert suggest(P, graph, NOBODY, n=3).tolist() == [6, 16, 0]
    assert suggest(P, graph, np.array([6]), n=2).tolist() == [16, 0]


def test_where_nothing_is_in_doubt_nothing_is_asked():
    graph = Graph.from_edges([*star(8, 0), *star(4, 9)], n_nodes=14)
    P = np.full((14, 2), 0.5)
    P[:9] = [0.999, 0.001]
    assert suggest(P, graph, NOBODY, n=1).tolist() == [9]


def test_only_candidates_are_named():
    graph = Graph.from_edges(star(6, 0), n_nodes=7)
    P = np.full((7, 2), 0.5)
    assert set(suggest(P, graph, np.array([3]), n=5, candidates=np.array([2, 3, 5])).tolist()) == {2, 5}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.sets(st.integers(0, 29), max_size=29))
def test_it_names_other_nodes_without_a_label(seed, n, labelled):
    random = np.random.default_rng(seed)
    graph = Graph.from_edges(random.integers(30, size=(40, 2)), n_nodes=30)
    P = random.dirichlet(np.ones(4), 30)
    known = np.array(sorted(labelled), dtype=int)
    chosen = suggest(P, graph, known, n).tolist()
    assert len(chosen) == len(set(chosen)) == min(n, 30 - len(labelled))
    assert not set(chosen) & labelled
    # Greedy: asking for fewer names the first of them.
    assert suggest(P, graph, known, max(1, n // 2)).tolist() == chosen[: max(1, n // 2)]


def test_the_order_of_the_classes_and_of_the_nodes_does_not_matter():
    random = np.random.default_rng(0)
    edges, P = random.integers(40, size=(80, 2)), random.dirichlet(np.ones(3), 40)
    chosen = suggest(P, Graph.from_edges(edges, n_nodes=40), NOBODY, 6)
    assert np.array_equal(suggest(P[:, ::-1], Graph.from_edges(edges, n_nodes=40), NOBODY, 6), chosen)
    place = random.permutation(40)
    moved = np.empty_like(P)
    moved[place] = P
    assert np.array_equal(suggest(moved, Graph.from_edges(place[edges], n_nodes=40), NOBODY, 6), place[chosen])


def test_entropy_by_hand():
    P = np.array([[0.25] * 4, [1, 0, 0, 0], [0.5, 0.5, 0, 0]])
    assert entropy(P) == pytest.approx([1, 0, 0.5])


def test_wrong_questions_are_told():
    graph = Graph.from_edges([(0, 1)], n_nodes=2)
    with pytest.raises(InputError, match="ask for one at least"):
        suggest(np.full((2, 2), 0.5), graph, NOBODY, 0)
    with pytest.raises(InputError, match="3 nodes, but the graph has 2"):
        suggest(np.full((3, 2), 0.5), graph, NOBODY, 1)
