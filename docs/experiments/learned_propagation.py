"""Does learned propagation beat the fixed one, and where? The runs behind docs/learned-propagation.md.

    python docs/experiments/learned_propagation.py docs/experiments/learned_propagation

Meta-PN's learned hop weights and equal ones against the fixed weights of Static-LP, on the same graphs and the same
splits, 5 labels a class. Each block of four seeds is written to the folder's ``runs.jsonl`` as it ends; stopped, the
same command goes on. ``learned_propagation_tables.py`` makes the page's tables and its figure of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from metapn import __version__
from metapn.data.noise import with_random_edges
from metapn.data.synthetic import contextual_sbm
from metapn.experiments import ledger
from metapn.experiments.cell import Cell
from metapn.experiments.run import fitted, load
from metapn.graph import FloatArray, Graph

SHOT, N_RUNS, BLOCK = 5, 20, 4
#: In the order in which they are run.
HOPS = (10, 40, 2, 20)
#: What of Meta-PN differs between the columns of a table; "equal" keeps the weights that attention starts with.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "static": ("static-lp", {}),
    "learned": ("metapn", {}),
    "learned 0.05": ("metapn", {"meta_learning_rate": 0.05}),
    "equal": ("metapn", {"meta_learning_rate": 0.0}),
    "paper 0.05": ("metapn", {"propagator": "paper", "meta_learning_rate": 0.05}),
    "learned 0.5": ("metapn", {"meta_learning_rate": 0.5}),
    "paper": ("metapn", {"propagator": "paper"}),
}
FIRST = 4
#: Besides, for all variants: a sparse graph of long paths needs more decay than the defaults have.
SETTINGS: dict[str, dict[str, Any]] = {"citeseer": {"l2": 0.02}}


@dataclass(frozen=True)
class Situation:
    """A kind of graph: of each block of seeds, one is drawn.

    Parameters
    ----------
    title : str
    dataset : str
        A published graph, or ``sbm-1000``, which stands for a block model of 1,000 nodes.
    noise : float
        Random edges besides, as a share of the edges.
    degree_exponent : float, optional
        Of a block model: degrees follow a power law.
    hops : tuple of int
    """

    title: str
    dataset: str
    noise: float = 0.0
    degree_exponent: float | None = None
    hops: tuple[int, ...] = HOPS

    def draw(self, number: int) -> Graph:
        """Draw a graph; without chance in it, it is always the same."""
        if self.dataset == "sbm-1000":
            graph = contextual_sbm(
                n_nodes=1000,
                n_classes=5,
                mean_degree=6,
                separation=1.0,
                degree_exponent=self.degree_exponent,
                seed=number,
            )
        else:
            graph = load(self.dataset)
        return with_random_edges(graph, self.noise, seed=number) if self.noise else graph

    def cell(self, variant: str, n_hops: int) -> Cell:
        """The method and its settings: those of a graph that nothing was tuned for, so that a search changes none."""
        method, settings = VARIANTS[variant]
        return Cell("sbm-1000", method, SHOT, "paper", SETTINGS.get(self.dataset, {}) | settings | {"n_hops": n_hops})

    def key(self, variant: str, n_hops: int) -> ledger.CellKey:
        """Under which the runs are in the ledger: the situation in the place of the data set."""
        return self.cell(variant, n_hops).key()._replace(dataset=self.title)


SITUATIONS = (
    Situation("block model", "sbm-1000"),
    Situation("block model, uneven degrees", "sbm-1000", degree_exponent=2.2),
    Situation("block model, 50 % random edges more", "sbm-1000", noise=0.5),
    Situation("block model, uneven, 50 % more", "sbm-1000", noise=0.5, degree_exponent=2.2),
    Situation("Cora-ML", "cora_ml"),
    Situation("CiteSeer", "citeseer"),
    Situation("Cora-ML, 50 % random edges more", "cora_ml", noise=0.5, hops=(10, 40)),
    Situation("Cora-ML, 100 % random edges more", "cora_ml", noise=1.0, hops=(10, 40)),
    Situation("CiteSeer, 50 % random edges more", "citeseer", noise=0.5, hops=(10, 40)),
    Situation("CiteSeer, 100 % random edges more", "citeseer", noise=1.0, hops=(10, 40)),
)


def moved(weights: FloatArray, *, anchored: bool) -> float:
    """½ Σ_k |γ_k - 1/K|, the mean over nodes: how much weight lies elsewhere than if all hops had the same.

    Of an anchored propagator hop 0, which has weight one whatever it learns, does not count.
    """
    attended = weights[:, 1:] if anchored else weights
    return float(np.abs(attended - 1 / attended.shape[1]).sum(axis=1).mean() / 2)


def records(situation: Situation, variant: str, n_hops: int, seeds: range) -> Iterator[ledger.Record]:
    """Fit a block of seeds on a graph that is drawn for it."""
    cell, graph = situation.cell(variant, n_hops), situation.draw(seeds[0] // BLOCK)
    models, splits, megabytes = fitted(cell, graph, seeds)
    for seed, model, split in zip(seeds, models, splits, strict=True):
        report, weights = model.report_, model.hop_weights_
        yield ledger.Record(
            dataset=situation.title,
            method=cell.method,
            shot=cell.shot,
            protocol=cell.protocol,
            settings=cell.effective(),
            seed=seed,
            final=report.final,
            accuracy=float((model.transduction_ == graph.labels)[split.test].mean()),
            epochs=report.epochs,
            best_epoch=report.best_epoch,
            seconds=round(report.seconds, 3),
            megabytes=round(megabytes, 1),
            version=__version__,
            observations={
                "moved": round(moved(weights, anchored=model.propagator == "anchored"), 4),
                "hops": weights.mean(axis=0, dtype=np.float64).round(4).tolist(),
            },
            validation=round(model.history_.validation_accuracy[report.best_epoch - 1], 6),
        )


def plan() -> Iterator[tuple[Situation, str, int]]:
    """List situations, variants and hops: the variants that matter most first, on small graphs first."""
    names = list(VARIANTS)
    for variants in (names[:FIRST], names[FIRST:]):
        for situation in SITUATIONS:
            yield from ((situation, variant, n_hops) for n_hops, variant in product(situation.hops, variants))


def main(folder: Path) -> None:
    """Run what is not in the folder yet."""
    with ledger.held(folder):
        done = {(record.key, record.seed) for record in ledger.read(folder)}
        for situation, variant, n_hops in plan():
            key = situation.key(variant, n_hops)
            for start in range(0, N_RUNS, BLOCK):
                seeds = range(start, start + BLOCK)
                missing = [seed for seed in seeds if (key, seed) not in done]
                if missing:
                    made = records(situation, variant, n_hops, seeds)
                    ledger.append(folder, [record for record in made if record.seed in missing])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
