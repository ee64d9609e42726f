"""Where does propagation hurt? Meta-PN beside an MLP on block models of growing homophily, for docs/trust.md.

python docs/experiments/homophily.py
"""
# ruff: noqa: T201

from __future__ import annotations

from itertools import product

import numpy as np
import torch

from metapn import datasets, method
from metapn.data.synthetic import contextual_sbm

CLASSES, SHOT, SEEDS = 4, 5, 3


def main() -> None:
    """Print a line for each homophily."""
    torch.set_num_threads(1)
    print("| separation of the features | homophily | adjusted | MLP, % | Meta-PN, % |")
    print("|---|---|---|---|---|")
    for separation, homophily in product((1.5, 3.0), (0.1, 0.25, 0.35, 0.45, 0.55, 0.7)):
        adjusted = (homophily - 1 / CLASSES) / (1 - 1 / CLASSES)
        means = [
            100 * np.mean([accuracy(name, homophily, separation, seed) for seed in range(SEEDS)])
            for name in ("mlp", "metapn")
        ]
        print(f"| {separation} | {homophily} | {adjusted:.2f} | {means[0]:.1f} | {means[1]:.1f} |", flush=True)


def accuracy(name: str, homophily: float, separation: float, seed: int) -> float:
    """Share of the test nodes that a method labels rightly."""
    graph = contextual_sbm(
        800, n_classes=CLASSES, n_features=16, mean_degree=6, homophily=homophily, separation=separation, seed=seed
    )
    split = datasets.split(graph, SHOT, seed)
    model = method(name)(random_state=0).fit(graph.features, split.masked(graph.labels), graph=graph)
    return float((model.transduction_ == graph.labels)[split.test].mean())


if __name__ == "__main__":
    main()
