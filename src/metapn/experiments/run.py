"""A block of runs: one cell, several seeds, and how each did on the nodes that nobody showed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from metapn import datasets
from metapn.baselines import method
from metapn.data.splits import Split
from metapn.experiments.cell import Cell
from metapn.experiments.memory import peak_memory
from metapn.experiments.observe import observe
from metapn.graph import Graph
from metapn.model.estimator import GraphClassifier

#: Seeds that are run in one go, by method; one where none is given.
_BLOCK = {"metapn": 10, "static-lp": 10}


@dataclass(frozen=True)
class Outcome:
    """How a run went.

    Parameters
    ----------
    seed : int
    accuracy : float
        On the test nodes.
    epochs : int
    seconds : float
        Of the fit.
    megabytes : float
        The most memory that the process held during the fit.
    final : str
        Which prediction was scored.
    best_epoch : int
        The epoch whose weights were kept.
    validation : float or None
        Accuracy on the early-stopping nodes at that epoch, where there were any.
    observations : dict
        See `metapn.experiments.observe`.
    """

    seed: int
    accuracy: float
    epochs: int
    seconds: float
    megabytes: float
    final: str
    best_epoch: int = 0
    validation: float | None = None
    observations: dict[str, Any] = field(default_factory=dict, repr=False)


def block_size(name: str) -> int:
    """Return how many seeds of a method, given by its name, are run in one go.

    Fixed, whatever the number of processes: what is computed together may differ in its last bit from what
    is computed alone.
    """
    return _BLOCK.get(name, 1)


def run(cell: Cell, seeds: Sequence[int], *, threads: int = 1) -> list[Outcome]:
    """Draw the split of each seed, fit, and score the test nodes.

    One thread, whatever the machine: the order in which a sum is taken, and so its last bit, depends on
    the number of threads.
    """
    torch.set_num_threads(threads)
    graph = load(cell.dataset)
    return [_run(cell, graph, seed) for seed in seeds]


@lru_cache(maxsize=1)
def load(name: str) -> Graph:
    """Load a graph, and keep it until another is asked for."""
    return datasets.load(name)


def fitted(cell: Cell, graph: Graph, seed: int) -> tuple[GraphClassifier, Split, float]:
    """Draw the split of a seed and fit; return the method, the split, and the megabytes that it took."""
    assert graph.labels is not None
    split = datasets.split(graph, cell.shot, seed)
    model: GraphClassifier = method(cell.method)(random_state=seed, **cell.effective())
    validation = None
    if cell.protocol == "paper":
        # Of a label ratio a rare class may have no labelled node; nodes of that class cannot stop the training.
        stopping = split.stopping[np.isin(graph.labels[split.stopping], graph.labels[split.train])]
        validation = (stopping, graph.labels[stopping])
    with peak_memory() as megabytes:
        model.fit(graph.features, split.masked(graph.labels), graph=graph, validation=validation)
    return model, split, megabytes()


def _run(cell: Cell, graph: Graph, seed: int) -> Outcome:
    assert graph.labels is not None
    model, split, megabytes = fitted(cell, graph, seed)
    right = model.transduction_[split.test] == graph.labels[split.test]
    report, history = model.report_, model.history_
    scores = history.validation_accuracy
    return Outcome(
        seed=seed,
        accuracy=float(right.mean()),
        epochs=report.epochs,
        seconds=report.seconds,
        megabytes=megabytes,
        final=report.final,
        best_epoch=report.best_epoch,
        validation=scores[report.best_epoch - 1] if scores else None,
        observations=observe(model, graph, split.test),
    )
