"""The engine ray after its driver has been killed, without Ray, and what it says where there is none."""

import sys

import numpy as np
import pytest
import torch

from metapn.errors import InputError
from metapn.graph import Graph
from metapn.propagation.engines.contract import Seeds
from metapn.propagation.engines.memory import MemoryEngine, RowsInMemory
from metapn.propagation.engines.ray import RayEngine
from metapn.propagation.engines.sources import GraphEdges

N, K = 50, 6


@pytest.fixture(autouse=True)
def two_workers(ray_in_this_process):
    with ray_in_this_process(2):
        yield


@pytest.fixture
def edges():
    return GraphEdges(Graph.from_edges(np.random.default_rng(0).integers(0, N, (90, 2)), N))


class KilledError(Exception):
    """Stands for the end of the process."""


def killed_after(hops):
    def watch(done, _):
        if done == hops:
            raise KilledError

    return watch


def stack_of(engine, **more):
    seeds = Seeds(np.array([1, 7]), np.array([0, 1]), 2)
    order = torch.randperm(N, generator=torch.Generator().manual_seed(0))
    return engine.hop_stack(seeds, K, order=order, block_size=20, **more)


def test_hops_that_are_complete_are_not_made_again(edges, tmp_path):
    with pytest.raises(KilledError):
        stack_of(RayEngine(edges, tmp_path), on_hop=killed_after(4))
    done = []
    stack = stack_of(RayEngine(edges, tmp_path), on_hop=lambda *at: done.append(at))
    assert done == [(5, K), (6, K)]
    expected = stack_of(MemoryEngine.of(edges))
    for block in range(len(expected)):
        torch.testing.assert_close(stack.block(block), expected.block(block), atol=1e-6, rtol=1e-6)
    again = []
    stack_of(RayEngine(edges, tmp_path), on_hop=lambda *at: again.append(at))
    assert again == []


def test_a_hop_of_which_a_part_is_lacking_is_made_again(edges, tmp_path):
    with pytest.raises(KilledError):
        stack_of(RayEngine(edges, tmp_path), on_hop=killed_after(4))
    next(tmp_path.glob("stack/hops/hop-0004/part-00001.npy")).unlink()
    done = []
    stack_of(RayEngine(edges, tmp_path), on_hop=lambda *at: done.append(at[0]))
    assert done == [4, 5, 6]


def test_other_rows_are_not_mixed_with_those_of_before(edges, tmp_path):
    first, second = (torch.rand(N, 3, generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
    for P, hops in ((first, [5, 6]), (second, [1, 2, 3, 4, 5, 6])):
        with pytest.raises(KilledError):
            RayEngine(edges, tmp_path).pagerank(RowsInMemory(first), 0.1, K, on_hop=killed_after(4))
        done = []
        found = RayEngine(edges, tmp_path).pagerank(RowsInMemory(P), 0.1, K, on_hop=lambda k, _, d=done: d.append(k))
        expected = MemoryEngine.of(edges).pagerank(RowsInMemory(P), 0.1, K)
        torch.testing.assert_close(found.rows(0, N), expected.rows(0, N), atol=1e-6, rtol=1e-6)
        assert done == hops
        del found


def test_without_ray_it_is_told_how_to_have_it(edges, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'metapn\[ray\]'"):
        RayEngine(edges)
