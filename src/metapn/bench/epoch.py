"""What the bi-level step costs: an epoch of Meta-PN against one on fixed pseudo labels."""

from __future__ import annotations

from typing import Any

import torch

from metapn import datasets
from metapn.baselines import method
from metapn.bench.measure import Measure, side_by_side
from metapn.experiments.tuned import tuned
from metapn.graph import Graph
from metapn.model.learner import BilevelLearner
from metapn.model.together import begin


def epoch_ratio(dataset: str, n_runs: int = 1) -> Measure:
    """Time an epoch of Meta-PN and one of Static-LP: same batches, same operators, same validation look.

    Parameters
    ----------
    dataset : str
    n_runs : int
        Runs that are trained at once, by one thread, as `metapn evaluate` and `metapn reproduce` do.
    """
    torch.set_num_threads(1)
    graph = datasets.load(dataset)
    meta, static = (_learner(name, graph, n_runs) for name in ("metapn", "static-lp"))

    def look() -> None:
        static._predictions = None
        static.predictions()

    seconds = side_by_side(meta.epoch, static.epoch, look)
    meta_s, static_s, look_s = (value / n_runs for value in seconds)
    return Measure(
        name=f"epoch/{dataset}/{n_runs}",
        what=f"epoch of Meta-PN / epoch on fixed pseudo labels, {dataset}, {n_runs} at once",
        value=(meta_s + look_s) / (static_s + look_s),
        bound=1.4,
        details={
            "meta_ms": 1e3 * meta_s,
            "static_ms": 1e3 * static_s,
            "look_ms": 1e3 * look_s,
            "ratio_without_look": meta_s / static_s,
        },
    )


def _learner(name: str, graph: Graph, n_runs: int) -> BilevelLearner:
    models: list[Any] = [method(name)(random_state=seed, **tuned(name, graph.name)) for seed in range(n_runs)]
    assert graph.labels is not None
    ys = [datasets.split(graph, 5, seed).masked(graph.labels) for seed in range(n_runs)]
    ready = begin(models, graph.features, ys, graph)
    networks: list[Any] = list(ready.networks)
    return BilevelLearner(networks, ready.tasks, models[0])
