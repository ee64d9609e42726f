import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn.graph import Graph
from metapn.propagation.hops import hop_blocks, hops, one_hot, personalised_pagerank, transition

DOUBLE = torch.float64


@st.composite
def graphs(draw, min_nodes=1):
    """A random graph with weights; sparse ones have isolated nodes and several components."""
    n = draw(st.integers(min_nodes, 10))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = draw(st.integers(0, 2 * n))
    return Graph.from_edges(random.integers(0, n, (m, 2)), n, weights=random.uniform(0.1, 5, m))


def dense_transition(graph):
    A = graph.adjacency.toarray().astype(np.float64) + np.eye(graph.n_nodes)
    root = np.diag(A.sum(axis=1) ** -0.5)
    return torch.from_numpy(root @ A @ root)


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_transition_is_the_normalised_adjacency_with_loops(graph):
    eye = torch.eye(graph.n_nodes, dtype=DOUBLE)
    T = transition(graph, dtype=DOUBLE) @ eye
    torch.testing.assert_close(T, dense_transition(graph), rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(T, T.T)
    assert (transition(graph) @ eye.float()).dtype == torch.float32


@settings(max_examples=25, deadline=None)
@given(graphs(), st.integers(1, 5), st.integers(0, 2**31))
def test_hops_are_the_powers_of_the_transition(graph, n_hops, seed):
    Y0 = torch.from_numpy(np.random.default_rng(seed).random((graph.n_nodes, 3)))
    found = list(hops(transition(graph, dtype=DOUBLE), Y0, n_hops))
    assert len(found) == n_hops + 1
    for k, hop in enumerate(found):
        expected = torch.linalg.matrix_power(dense_transition(graph), k) @ Y0
        torch.testing.assert_close(hop, expected, rtol=1e-5, atol=1e-7)


@settings(max_examples=25, deadline=None)
@given(graphs(), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**31))
def test_the_blocks_of_the_stack_hold_the_hops_of_each_run(graph, n_runs, n_hops, seed):
    random = np.random.default_rng(seed)
    Y0 = torch.from_numpy(random.random((n_runs, graph.n_nodes, 2)))
    # Blocks as they come: some nodes in none, in any order, and a block may be empty.
    places = random.integers(0, 4, graph.n_nodes)
    blocks = [torch.from_numpy(random.permutation(np.flatnonzero(places == b))) for b in range(3)]
    T = transition(graph, dtype=DOUBLE)
    stacks = hop_blocks(T, Y0, n_hops, blocks)
    assert len(stacks) == 3
    for stack, nodes in zip(stacks, blocks, strict=True):
        assert stack.shape == (n_runs, 2, n_hops + 1, len(nodes))
        for run, own in enumerate(Y0):
            expected = torch.stack([hop[nodes].T for hop in hops(T, own, n_hops)], dim=1)
            torch.testing.assert_close(stack[run], expected)


@settings(max_examples=12, deadline=None)
@given(graphs(), st.sampled_from([0.1, 0.2, 0.7]), st.integers(0, 2**31))
def test_personalised_pagerank_reaches_its_closed_form(graph, alpha, seed):
    Z = torch.from_numpy(np.random.default_rng(seed).standard_normal((graph.n_nodes, 3)))
    T = transition(graph, dtype=DOUBLE)
    exact = (
        alpha * torch.linalg.inv(torch.eye(graph.n_nodes, dtype=DOUBLE) - (1 - alpha) * dense_transition(graph)) @ Z
    )
    torch.testing.assert_close(personalised_pagerank(T, Z, alpha, 200), exact, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(personalised_pagerank(T, Z, 1.0, 3), Z)
    assert torch.equal(personalised_pagerank(T, Z, alpha, 0), Z)


def test_personalised_pagerank_is_torch_geometrics():
    appnp = pytest.importorskip("torch_geometric.nn").APPNP
    random = np.random.default_rng(3)
    graph = Graph.from_edges(random.integers(0, 40, (90, 2)), 40, weights=random.uniform(0.5, 2, 90))
    Z = torch.from_numpy(random.standard_normal((40, 5)))
    edges = graph.adjacency.tocoo()
    index = torch.from_numpy(np.stack([edges.row, edges.col]).astype(np.int64))
    weights = torch.from_numpy(edges.data.astype(np.float64))
    for n_hops, alpha in ((1, 0.1), (10, 0.1), (10, 0.2)):
        theirs = appnp(K=n_hops, alpha=alpha)(Z, index, weights)
        ours = personalised_pagerank(transition(graph, dtype=DOUBLE), Z, alpha, n_hops)
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-8)


def test_personalised_pagerank_is_differentiable():
    T = transition(Graph.from_edges([(0, 1), (1, 2), (1, 3)], 5), dtype=DOUBLE)
    Z = torch.rand(5, 2, dtype=DOUBLE, generator=torch.Generator().manual_seed(0), requires_grad=True)
    assert torch.autograd.gradcheck(lambda Z: personalised_pagerank(T, Z, 0.15, 4), Z)


def test_a_constraint_has_the_last_word_on_each_step():
    T = transition(Graph.from_edges([(0, 1), (1, 2)], 3))
    Z = torch.eye(3)
    seen = []

    def constrain(current):
        seen.append(current)
        return Z if len(seen) < 3 else current

    result = personalised_pagerank(T, Z, 0.5, 3, constrain=constrain)
    assert len(seen) == 3
    assert torch.equal(seen[0], seen[2])
    assert torch.equal(result, seen[2])


def test_an_isolated_node_keeps_its_own_value():
    graph = Graph.from_edges([(0, 1)], 4)
    Y0 = torch.tensor([[1.0, 0], [0, 0], [0, 1], [0, 0]])
    found = torch.stack(list(hops(transition(graph), Y0, 6)))
    assert torch.equal(found[:, 2], torch.tensor([[0.0, 1]] * 7))
    assert torch.equal(found[:, 3], torch.zeros(7, 2))
    Z = torch.rand(4, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(personalised_pagerank(transition(graph), Z, 0.1, 8)[2:], Z[2:])


def test_without_a_matrix_nothing_moves():
    Z = torch.rand(3, 2, generator=torch.Generator().manual_seed(0))
    T = transition(Graph.from_edges([], 3))
    torch.testing.assert_close(torch.stack(list(hops(None, Z, 2))), torch.stack(list(hops(T, Z, 2))))
    torch.testing.assert_close(personalised_pagerank(None, Z, 0.1, 5), Z)


def test_one_hot_marks_the_given_nodes_alone():
    Y0 = one_hot(torch.tensor([3, 0]), torch.tensor([1, 2]), 5, 3)
    assert Y0.tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0]]
