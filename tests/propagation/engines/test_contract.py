"""Every engine, over the same graphs, gives the same hop stack and the same PageRank."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn.graph import Graph
from metapn.propagation.engines import ENGINES, open_engine
from metapn.propagation.engines.contract import Seeds
from metapn.propagation.engines.memory import RowsInMemory
from metapn.propagation.engines.sources import ArrayEdges, GraphEdges
from metapn.propagation.hops import hops, personalised_pagerank, transition


@pytest.fixture(autouse=True, scope="module")
def three_workers(ray_in_this_process):
    """Ray without its processes, which are in test_ray.py; on small graphs some of three parts are empty."""
    with ray_in_this_process(3):
        yield


@st.composite
def problems(draw):
    """A graph with isolated nodes, self-loops and double edges, weighted or not; seeds, hops, and a deal."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(1, 40)), draw(st.integers(0, 60))
    ends, weights = random.integers(0, n, (m, 2)), random.uniform(0.1, 5, m)
    graph = Graph.from_edges(ends, n, weights=weights if draw(st.booleans()) else None)
    edges = GraphEdges(graph) if graph.adjacency.nnz == 0 or GraphEdges(graph).weighted else ArrayEdges(ends, n)
    g, d = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    seeds = Seeds(random.integers(0, n, g), random.integers(0, d, g), d)
    return (
        graph,
        edges,
        seeds,
        draw(st.integers(0, 4)),
        torch.from_numpy(random.permutation(n)),
        draw(st.integers(1, 9)),
    )


def hop_stack_by_hand(graph, seeds, n_hops):
    """Shape (d, K + 1, n), in double precision."""
    Y0 = torch.from_numpy(seeds.dense(graph.n_nodes)).double()
    return torch.stack(list(hops(transition(graph, dtype=torch.float64), Y0, n_hops))).permute(2, 0, 1)


def assert_stack(stack, expected, order, block_size, *, atol=1e-6, rtol=1e-6):
    assert (stack.n_columns, stack.n_hops) == (expected.shape[0], expected.shape[1] - 1)
    assert len(stack) == -(-len(order) // block_size)
    for i, nodes in enumerate(order.split(block_size)):
        assert torch.equal(stack.nodes(i), nodes)
        block = stack.block(i)
        assert block.dtype == torch.float32
        torch.testing.assert_close(block.double(), expected[:, :, nodes], atol=atol, rtol=rtol)
    some = order[::2]
    torch.testing.assert_close(stack.rows(some).double(), expected[:, :, some], atol=atol, rtol=rtol)
    torch.testing.assert_close(stack.mass(), expected[:, 1:].sum(dim=(1, 2)), atol=1e-5, rtol=max(rtol, 1e-5))


@pytest.mark.parametrize("name", ENGINES)
@settings(max_examples=30, deadline=None)
@given(problem=problems())
def test_the_hop_stack_is_that_of_the_definition(name, problem):
    graph, edges, seeds, n_hops, order, block_size = problem
    engine = open_engine(name, edges)
    stack = engine.hop_stack(seeds, n_hops, order=order, block_size=block_size)
    assert_stack(stack, hop_stack_by_hand(graph, seeds, n_hops), order, block_size)
    engine.close()


@pytest.mark.parametrize("name", ENGINES)
@settings(max_examples=20, deadline=None)
@given(problem=problems(), alpha=st.floats(0, 1))
def test_pagerank_is_that_of_the_definition(name, problem, alpha):
    graph, edges, seeds, n_hops, _, _ = problem
    P = torch.rand(graph.n_nodes, seeds.n_columns, generator=torch.Generator().manual_seed(len(seeds.nodes)))
    expected = personalised_pagerank(transition(graph, dtype=torch.float64), P.double(), alpha, n_hops)
    engine = open_engine(name, edges)
    found = engine.pagerank(RowsInMemory(P), alpha, n_hops)
    assert found.shape == tuple(P.shape)
    middle = graph.n_nodes // 2
    rows = torch.cat([found.rows(0, middle), found.rows(middle, graph.n_nodes)])
    torch.testing.assert_close(rows.double(), expected, atol=1e-6, rtol=1e-6)
    engine.close()


@pytest.mark.parametrize("name", ENGINES)
def test_a_node_with_very_many_neighbours(name):
    n = 100_001
    ends = np.stack([np.zeros(n - 1, np.int64), np.arange(1, n)], axis=1)
    graph, seeds = Graph.from_edges(ends, n), Seeds(np.array([0, 5, 99_000]), np.array([0, 1, 1]), 2)
    engine = open_engine(name, ArrayEdges(ends, n))
    order = torch.randperm(n, generator=torch.Generator().manual_seed(0))
    stack = engine.hop_stack(seeds, 3, order=order, block_size=40_000)
    assert_stack(stack, hop_stack_by_hand(graph, seeds, 3), order, 40_000)
    engine.close()
