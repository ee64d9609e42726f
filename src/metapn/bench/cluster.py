"""What it costs to propagate by the workers of Ray instead of the threads of one process."""

from __future__ import annotations

import itertools
import time

import numpy as np
import torch

from metapn.bench.measure import Measure
from metapn.propagation.engines.contract import Engine, Seeds
from metapn.propagation.engines.memory import MemoryEngine
from metapn.propagation.engines.partition import bytes_per_hop
from metapn.propagation.engines.ray import RayEngine
from metapn.propagation.engines.sources import ArrayEdges

CLASSES, HOPS, DEGREE = 16, 10, 20


def ray_overhead(n_edges: int, *, threads: int) -> Measure:
    """Time K hops by as many workers as threads against K hops in memory, of the same random graph.

    Edges join any two nodes alike, so that nearly every row has to travel: the worst case. What is timed on both
    sides is `hop_stack`, from seeds to a stack in blocks; the parts, which serve all runs on a graph, are there.
    """
    torch.set_num_threads(threads)
    random = np.random.default_rng(0)
    n_nodes = 2 * n_edges // DEGREE
    edges = ArrayEdges(random.integers(0, n_nodes, (n_edges, 2)), n_nodes)
    seeds = Seeds(random.choice(n_nodes, 5 * CLASSES, replace=False), np.tile(np.arange(CLASSES), 5), CLASSES)
    order = torch.from_numpy(random.permutation(n_nodes))
    memory = MemoryEngine.of(edges)
    in_memory, _ = _seconds(memory, seeds, order)
    del memory
    by_workers = RayEngine(edges, n_workers=threads)
    try:
        by_workers.workers.pids()  # all of them have started
        with_ray, hops = _seconds(by_workers, seeds, order)
        moved = by_workers.workers.moved
    finally:
        by_workers.close()
    return Measure(
        name=f"ray/{n_edges}",
        what=f"hop stack by {threads} workers of Ray / by {threads} threads, {n_edges:,} edges",
        value=with_ray / in_memory,
        bound=1.5,
        details={
            "memory_s": in_memory,
            "ray_s": with_ray,
            "ray_hop_s": float(np.median(hops)),
            "sent_mb_a_hop": moved[0] / 1e6,
            "foretold_mb_a_hop": bytes_per_hop(n_nodes, n_edges, CLASSES, threads) / 1e6,
        },
    )


def _seconds(engine: Engine, seeds: Seeds, order: torch.Tensor) -> tuple[float, list[float]]:
    """Seconds of the whole, and from each hop to the next."""
    start = time.perf_counter()
    ends = [start]
    engine.hop_stack(
        seeds, HOPS, order=order, block_size=8192, on_hop=lambda done, of: ends.append(time.perf_counter())
    )
    return time.perf_counter() - start, [after - before for before, after in itertools.pairwise(ends)]
