"""The engine ray with Ray's own processes: results, bytes, and workers that are killed."""

import itertools
import os
import signal
import threading

import numpy as np
import pytest
import torch

from metapn.errors import InputError
from metapn.graph import Graph
from metapn.propagation.engines.contract import Seeds
from metapn.propagation.engines.memory import MemoryEngine, RowsInMemory
from metapn.propagation.engines.partition import bytes_per_hop
from metapn.propagation.engines.ray import RayEngine
from metapn.propagation.engines.sources import GraphEdges, ParquetEdges

pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.filterwarnings("ignore")]

N, D, K = 3_000, 5, 6


@pytest.fixture(scope="module", autouse=True)
def ray():
    module = pytest.importorskip("ray")
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    module.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield module
    module.shutdown()


@pytest.fixture(scope="module")
def graph():
    """Random edges among some nodes, a hub, and nodes without edges."""
    random = np.random.default_rng(0)
    ends = np.concatenate([random.integers(0, 2_900, (9_000, 2)), [[7, i] for i in range(500, 1_500)]])
    return Graph.from_edges(ends, N)


@pytest.fixture(scope="module")
def seeds():
    random = np.random.default_rng(1)
    return Seeds(random.choice(N, 200, replace=False), random.integers(0, D, 200), D)


@pytest.fixture(scope="module")
def engine(graph, tmp_path_factory):
    """Over Parquet in two files, as Ray Data reads it; an edge may come twice."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    folder = tmp_path_factory.mktemp("edges")
    edges = graph.adjacency.tocoo()
    for name, part in (("a", slice(0, 5_000)), ("b", slice(5_000, None))):
        columns = {"source": edges.row[part].astype(np.int64), "target": edges.col[part].astype(np.int64)}
        parquet.write_table(pa.table(columns), folder / f"{name}.parquet")
    opened = RayEngine(ParquetEdges(folder, N), tmp_path_factory.mktemp("work"))
    yield opened
    opened.close()


def stack_of(engine, seeds, **more):
    order = torch.randperm(N, generator=torch.Generator().manual_seed(3))
    return engine.hop_stack(seeds, K, order=order, block_size=700, **more)


def assert_equal(stack, expected, **tolerance):
    assert len(stack) == len(expected)
    for block in range(len(stack)):
        torch.testing.assert_close(stack.block(block), expected.block(block), **tolerance)


def halo_rows(graph, bounds):
    """Rows that the parts need of each other, counted from the adjacency matrix."""
    parts = [graph.adjacency[a:b].indices for a, b in itertools.pairwise(bounds)]
    inside = zip(parts, bounds[:-1], bounds[1:], strict=True)
    return sum(len(np.unique(columns[(columns < a) | (columns >= b)])) for columns, a, b in inside)


def test_workers_give_what_memory_gives_and_send_what_the_parts_say(engine, graph, seeds):
    expected = stack_of(MemoryEngine.of(GraphEdges(graph)), seeds)
    engine.workers.moved.clear()
    hops = []
    assert_equal(stack_of(engine, seeds, on_hop=lambda *at: hops.append(at)), expected, atol=1e-6, rtol=1e-6)
    assert hops == [(k, K) for k in range(1, K + 1)]
    assert engine.workers.moved == [4 * D * halo_rows(graph, engine.workers.bounds)] * K
    engine.workers.moved.clear()
    assert_equal(stack_of(engine, seeds, dtype=torch.float16), expected, atol=0, rtol=(K + 1) * 2**-11)
    assert engine.workers.moved == [2 * D * halo_rows(graph, engine.workers.bounds)] * K


def test_bytes_are_foretold_where_edges_join_any_two_nodes_alike(engine, seeds):
    random = np.random.default_rng(0)
    graph = Graph.from_edges(random.integers(0, 50_000, (200_000, 2)), 50_000)
    needed = halo_rows(graph, np.array([0, 12_500, 25_000, 37_500, 50_000]))
    assert 4 * D * needed == pytest.approx(bytes_per_hop(50_000, graph.n_edges, D, 4), rel=0.01)


def test_a_worker_that_is_killed_in_a_hop_is_started_again(engine, graph):
    Z = torch.rand(N, D, generator=torch.Generator().manual_seed(0))
    expected = MemoryEngine.of(GraphEdges(graph)).pagerank(RowsInMemory(Z), 0.1, K)
    pids = engine.workers.pids()
    killed = []

    def kill(done, _):
        if done == 2:
            os.kill(pids[1], signal.SIGSTOP)  # so that it is in the middle of the next hop when it dies
            threading.Timer(0.3, lambda: killed.append(os.kill(pids[1], signal.SIGKILL))).start()

    found = engine.pagerank(RowsInMemory(Z), 0.1, K, on_hop=kill)
    torch.testing.assert_close(found.rows(0, N), expected.rows(0, N), atol=1e-6, rtol=1e-6)
    assert killed
    assert engine.workers.pids()[1] not in pids


def test_bad_edges_are_told_in_one_sentence(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"source": [0, 1], "target": [1, 9]}), tmp_path / "edges.parquet")
    with pytest.raises(InputError, match="joins 1 and 9"):
        RayEngine(ParquetEdges(tmp_path, 3))
