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
from metapn.graph import Graph, IntArray
from metapn.model.estimator import GraphClassifier
from metapn.model.together import fit_together
from metapn.trust.calibration import calibrate
from metapn.trust.reliability import scores

#: Seeds that are run in one go, by method; one where none is given. Meta-PN trains four in the same steps: more
#: would bring nothing, and leave the other processes of a short command without work.
_BLOCK = {"metapn": 4, "static-lp": 4}


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
        Of the fit; of runs that were fitted together, their share.
    megabytes : float
        The most memory that the process held during the fit, of all runs that were fitted together.
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


def run(cell: Cell, seeds: Sequence[int], *, threads: int = 1, calibrated: bool = False) -> list[Outcome]:
    """Draw the split of each seed, fit all of them together, and score the test nodes of each.

    With ``calibrated`` each is calibrated as well, by its labelled nodes alone; the observations have the
    scores of the probabilities ``before`` and ``after``.
    """
    graph = load(cell.dataset)
    models, splits, megabytes = fitted(cell, graph, seeds, threads=threads)
    outcomes = [
        _outcome(seed, model, split, graph, megabytes)
        for seed, model, split in zip(seeds, models, splits, strict=True)
    ]
    if calibrated:
        for outcome, model, split in zip(outcomes, models, splits, strict=True):
            outcome.observations.update(_before_and_after(cell, model, split, graph))
    return outcomes


def _before_and_after(cell: Cell, model: GraphClassifier, split: Split, graph: Graph) -> dict[str, Any]:
    """Scores of the probabilities of the test nodes, as the model has them and calibrated."""
    assert graph.labels is not None
    validation = _stopping(graph.labels, split) if cell.protocol == "paper" else None
    calibration = calibrate(model, graph.features, split.masked(graph.labels), graph, validation=validation)
    P, labels = model.label_distributions_[split.test], np.searchsorted(model.classes_, graph.labels[split.test])
    return {"before": scores(P, labels), "after": scores(calibration.transduction.apply(P), labels)}


@lru_cache(maxsize=1)
def load(name: str) -> Graph:
    """Load a graph, and keep it until another is asked for."""
    return datasets.load(name)


def fitted(
    cell: Cell, graph: Graph, seeds: Sequence[int], *, threads: int = 1
) -> tuple[list[GraphClassifier], list[Split], float]:
    """Draw the split of each seed and fit; return the models, the splits, and the megabytes that it took.

    One thread, whatever the machine: the order in which a sum is taken, and so its last bit, depends on
    the number of threads.
    """
    torch.set_num_threads(threads)
    assert graph.labels is not None
    splits = [datasets.split(graph, cell.shot, seed) for seed in seeds]
    models: list[GraphClassifier] = [method(cell.method)(random_state=seed, **cell.effective()) for seed in seeds]
    ys = [split.masked(graph.labels) for split in splits]
    validations = [_stopping(graph.labels, split) if cell.protocol == "paper" else None for split in splits]
    with peak_memory() as megabytes:
        fit_together(models, graph.features, ys, graph, validations=validations)
    return models, splits, megabytes()


def _stopping(labels: IntArray, split: Split) -> tuple[IntArray, IntArray]:
    """Nodes that stop the training, and their labels.

    Of a label ratio a rare class may have no labelled node; nodes of that class cannot stop the training.
    """
    nodes = split.stopping[np.isin(labels[split.stopping], labels[split.train])]
    return nodes, labels[nodes]


def _outcome(seed: int, model: GraphClassifier, split: Split, graph: Graph, megabytes: float) -> Outcome:
    assert graph.labels is not None
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
