"""One run: a data set, a split, a method, and how it did on the nodes that nobody showed it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch

from metapn import datasets
from metapn.baselines import method
from metapn.errors import InputError
from metapn.experiments.memory import peak_memory
from metapn.experiments.tuned import tuned
from metapn.graph import Graph
from metapn.model.estimator import GraphClassifier

PROTOCOLS = ("paper", "no-validation")


@dataclass(frozen=True)
class Cell:
    """What is measured: everything that defines a run but its seed.

    Parameters
    ----------
    dataset, method : str
    shot : float
        Labels a class; below 1, the share of all nodes that is labelled.
    protocol : {"paper", "no-validation"}
        Whether the method is given the early-stopping nodes (500 in the paper), or nothing but its labels.
        The test nodes are the same.
    settings : dict
        Of the method, where they differ from those of `metapn.experiments.tuned`.
    """

    dataset: str
    method: str = "metapn"
    shot: float = 5
    protocol: str = "paper"
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise InputError(f"there is no protocol {self.protocol!r}; choose from {', '.join(PROTOCOLS)}")


@dataclass(frozen=True)
class Outcome:
    """How a run went.

    Accuracy on the test nodes, epochs, seconds of the fit, and the most memory that the process held during
    it, in megabytes.
    """

    seed: int
    accuracy: float
    epochs: int
    seconds: float
    megabytes: float
    final: str


def run(cell: Cell, seed: int) -> Outcome:
    """Draw the split of the seed, fit, and score the test nodes.

    One thread, whatever the machine: the order in which a sum is taken, and so its last bit, depends on
    the number of threads.
    """
    torch.set_num_threads(1)
    graph = _load(cell.dataset)
    split = datasets.split(graph, cell.shot, seed)
    assert graph.labels is not None
    settings = tuned(cell.method, cell.dataset) | cell.settings
    model: GraphClassifier = method(cell.method)(random_state=seed, **settings)
    validation = (split.stopping, graph.labels[split.stopping]) if cell.protocol == "paper" else None
    with peak_memory() as megabytes:
        model.fit(graph.features, split.masked(graph.labels), graph=graph, validation=validation)
    right = model.transduction_[split.test] == graph.labels[split.test]
    report = model.report_
    return Outcome(seed, float(right.mean()), report.epochs, report.seconds, megabytes(), report.final)


@lru_cache(maxsize=1)
def _load(name: str) -> Graph:
    return datasets.load(name)
