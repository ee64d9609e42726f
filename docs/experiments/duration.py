"""How far off is the time that `metapn inspect` tells? The table behind docs/trust.md.

python docs/experiments/duration.py

Nothing else should be running. Three labels a class, no validation nodes, defaults.
"""
# ruff: noqa: T201

from __future__ import annotations

import time

import numpy as np

from metapn import MetaPN, datasets
from metapn.trust.inspection import inspect

NAMES = ("sbm-1000", "digits", "citeseer", "cora_ml", "sbm-20000")


def main() -> None:
    """Print a line for each graph."""
    print("| graph | nodes | epochs | estimated, s | taken, s | estimated / taken |")
    print("|---|---|---|---|---|---|")
    for name in NAMES:
        graph = datasets.load(name)
        y = np.full(graph.n_nodes, -1)
        for label in range(graph.n_classes):
            y[np.flatnonzero(graph.labels == label)[:3]] = label
        inspect(graph, y, graph.features)  # what is done once a process is done
        estimate = inspect(graph, y, graph.features).seconds
        start = time.perf_counter()
        model = MetaPN(random_state=0).fit(graph.features, y, graph=graph)
        taken = time.perf_counter() - start
        print(
            f"| {name} | {graph.n_nodes:,} | {model.n_iter_} | {estimate:.1f} | {taken:.1f} | "
            f"{estimate / taken:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
