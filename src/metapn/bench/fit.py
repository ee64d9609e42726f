"""One fit in a process of its own: its time, and its memory beside what was estimated."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse

from metapn import datasets
from metapn.data.synthetic import contextual_sbm
from metapn.experiments.memory import peak_memory
from metapn.experiments.tuned import tuned
from metapn.graph import Graph
from metapn.model.metapn import MetaPN

#: Of the synthetic graphs.
CLASSES, FEATURES, DEGREE = 40, 128, 20


class Fit(NamedTuple):
    """One fit: its graph, seconds with and without making the graph, epochs, peak in bytes, and the estimate."""

    name: str
    nodes: int
    edges: int
    total_seconds: float
    seconds: float
    epochs: int
    peak: float
    estimate: float


def synthetic_fit(n_edges: int, threads: int) -> Fit:
    """Fit a synthetic graph of 40 classes and 128 features."""
    n_nodes = 2 * n_edges // DEGREE

    def graph() -> Graph:
        return contextual_sbm(n_nodes, CLASSES, FEATURES, DEGREE, separation=3.0)

    return _fit(graph, {}, threads)


def named_fit(name: str, threads: int, most_epochs: int | None = None) -> Fit:
    """Fit a data set with its tuned settings, for so many epochs at the most."""
    settings = tuned("metapn", datasets.canonical(name))
    return _fit(
        lambda: datasets.load(name),
        settings if most_epochs is None else {**settings, "max_epochs": most_epochs},
        threads,
    )


def _fit(make: Callable[[], Graph], settings: dict[str, Any], threads: int) -> Fit:
    """Fit with 5 labels a class and no validation nodes, as one who has nothing but a few labels would."""
    torch.set_num_threads(threads)
    with peak_memory() as held:
        libraries = 1e6 * held()
    begin = time.perf_counter()
    graph = make()
    X, labels = graph.features, graph.labels
    assert labels is not None and X is not None
    y = np.full(graph.n_nodes, -1)
    for label in range(graph.n_classes):
        known = np.flatnonzero(labels == label)[:5]
        y[known] = label
    model = MetaPN(random_state=0, **settings)
    with peak_memory() as megabytes:
        start = time.perf_counter()
        model.fit(X, y, graph=graph)
        end = time.perf_counter()
        peak = 1e6 * megabytes()
    estimate = MetaPN.estimate_memory(
        graph.n_nodes,
        graph.n_edges,
        X.shape[1],
        graph.n_classes,
        model.n_hops,
        g=int((y >= 0).sum()),
        stored=X.nnz if sparse.issparse(X) else None,
        libraries=libraries,
    )
    return Fit(graph.name, graph.n_nodes, graph.n_edges, end - begin, end - start, model.n_iter_, peak, estimate)


def in_own_process(function: Callable[..., Fit], *arguments: Any) -> Fit:
    """Call the function in a new process, whose memory nothing else has touched."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()
