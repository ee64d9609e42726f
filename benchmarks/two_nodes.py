"""Two Ray nodes as processes of their own, one killed with kill -9 in the middle of a hop, and of an epoch.

It takes minutes and is no part of `make test`; run it by `python -m pytest benchmarks/two_nodes.py`.
"""

import os
import signal
import threading

import numpy as np
import pytest
import torch

from metapn import MetaPN, datasets
from metapn.graph import Graph
from metapn.propagation.engines.memory import MemoryEngine, RowsInMemory
from metapn.propagation.engines.ray import RayEngine
from metapn.propagation.engines.sources import GraphEdges

pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray")
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    from ray.cluster_utils import Cluster

    # By default it takes Ray half a minute to believe that a node is gone.
    health = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 6}
    arguments = {"num_cpus": 1, "include_dashboard": False, "_system_config": health}
    nodes = Cluster(initialize_head=True, head_node_args=arguments)
    ray.init(address=nodes.address, log_to_driver=False, logging_level="error")
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture
def second(cluster):
    """A second node, of which the test will leave nothing."""
    node = cluster.add_node(num_cpus=1)
    yield node
    cluster.remove_node(node, allow_graceful=False)


def kill_soon(node):
    raylet = node.all_processes["raylet"][0].process
    threading.Timer(0.05, raylet.send_signal, [signal.SIGKILL]).start()


def test_a_node_is_lost_in_the_middle_of_a_hop(second, tmp_path):
    random = np.random.default_rng(0)
    graph = Graph.from_edges(random.integers(0, 200_000, (1_000_000, 2)), 200_000)
    P = RowsInMemory(torch.rand(200_000, 4, generator=torch.Generator().manual_seed(0)))
    expected = MemoryEngine.of(GraphEdges(graph)).pagerank(P, 0.1, 6).rows(0, 200_000)
    engine = RayEngine(GraphEdges(graph), tmp_path, n_workers=2)
    before, done = engine.workers.pids(), []

    def watch(hop, _):
        done.append(hop)
        if hop == 2:
            kill_soon(second)

    found = engine.pagerank(P, 0.1, 6, on_hop=watch).rows(0, 200_000)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-6)
    assert done == [1, 2, 3, 4, 5, 6]
    assert engine.workers.pids() != before
    engine.close()


def test_a_node_is_lost_in_the_middle_of_an_epoch(second, tmp_path, monkeypatch):
    graph = datasets.load("sbm-300")
    y = np.full(graph.n_nodes, -1)
    for c in range(graph.n_classes):
        y[np.flatnonzero(graph.labels == c)[:3]] = c
    settings = {"random_state": 0, "batch_size": 50, "max_epochs": 60}
    alone = MetaPN(**settings).fit(graph.features, y, graph=graph)
    monkeypatch.setattr("metapn.model.parallel.training.CHECKPOINT_SECONDS", 0.0)
    model = MetaPN(engine="ray", **settings)
    model._propagation = lambda graph: RayEngine(GraphEdges(graph), tmp_path, n_workers=2)
    killed = []

    def watch(epoch, _):
        if not killed and epoch < 60:
            killed.append(epoch)
            kill_soon(second)

    model.fit(graph.features, y, graph=graph, on_epoch=watch)
    assert killed
    np.testing.assert_allclose(model.history_.loss, alone.history_.loss, rtol=1e-3)
    np.testing.assert_allclose(model.label_distributions_, alone.label_distributions_, atol=1e-3)
