"""How time and memory of a fit grow with the graph, each size in a process of its own."""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
import torch

from metapn.bench.bandwidth import fitted_exponent
from metapn.bench.measure import Measure
from metapn.data.synthetic import contextual_sbm
from metapn.experiments.memory import peak_memory
from metapn.model.metapn import MetaPN

CLASSES, FEATURES, DEGREE = 40, 128, 20


class Fit(NamedTuple):
    """One fit: its graph, seconds, epochs, peak of the process in bytes, and what was estimated."""

    edges: int
    seconds: float
    epochs: int
    peak: float
    estimate: float


def fit_once(n_edges: int, threads: int) -> Fit:
    """Fit a synthetic graph of 40 classes and 128 features with 5 labels a class and no validation nodes."""
    torch.set_num_threads(threads)
    graph = contextual_sbm(
        n_nodes=2 * n_edges // DEGREE, n_classes=CLASSES, n_features=FEATURES, mean_degree=DEGREE, separation=3.0
    )
    assert graph.labels is not None
    y = np.full(graph.n_nodes, -1)
    for label in range(CLASSES):
        known = np.flatnonzero(graph.labels == label)[:5]
        y[known] = label
    model = MetaPN(random_state=0)
    with peak_memory() as megabytes:
        start = time.perf_counter()
        model.fit(graph.features, y, graph=graph)
        seconds = time.perf_counter() - start
        peak = 1e6 * megabytes()
    estimate = MetaPN.estimate_memory(graph.n_nodes, graph.n_edges, FEATURES, CLASSES, model.n_hops)
    return Fit(graph.n_edges, seconds, model.n_iter_, peak, estimate)


def growth(sizes: list[int], *, threads: int) -> list[Measure]:
    """Fit graphs of these numbers of edges; exponents of time and memory, and how good the estimate is."""
    context = multiprocessing.get_context("spawn")
    fits = []
    for size in sizes:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            fits.append(pool.submit(fit_once, size, threads).result())
    details = {"fits": [fit._asdict() for fit in fits]}
    edges = [float(fit.edges) for fit in fits]
    largest = fits[-1]
    return [
        Measure(
            "growth/time",
            "exponent of seconds over edges",
            fitted_exponent(edges, [fit.seconds for fit in fits]),
            1.1,
            details=details,
        ),
        Measure(
            "growth/memory", "exponent of peak memory over edges", fitted_exponent(edges, [f.peak for f in fits]), 1.1
        ),
        Measure(
            "memory/estimate",
            f"estimated / measured peak memory at {largest.edges:,} edges, off by",
            abs(largest.estimate / largest.peak - 1),
            0.25,
        ),
    ]
