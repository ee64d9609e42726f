"""Does labelling the suggested nodes beat labelling random ones? The runs behind docs/trust.md.

    python docs/experiments/suggestion.py docs/experiments/suggestion

Cora-ML, three labels a class, no validation nodes. Twice ten more nodes are labelled: those that `suggest` names, or
random ones, from the same known nodes of the paper's split; the test nodes are never among them. The probabilities
that `suggest` is given are calibrated once, by the first 21 labels. Each run is written to ``runs.jsonl`` as it ends;
stopped, the same command goes on. In the end the table is printed and the figure drawn.
"""
# ruff: noqa: T201

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch

from metapn import MetaPN, datasets
from metapn.experiments.environment import noted
from metapn.experiments.statistics import bootstrap_interval, paired_p_value
from metapn.graph import Graph, IntArray
from metapn.trust.calibration import Calibration, calibrate
from metapn.trust.suggestion import suggest

DATASET, SHOT, SEEDS, BATCHES, BATCH = "cora_ml", 3, 20, 2, 10
ARMS = ("suggested", "random")


def main(folder: Path) -> None:
    """Run what is missing, then print the table and draw the figure."""
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    with noted(folder, "python docs/experiments/suggestion.py docs/experiments/suggestion"):
        graph, done = datasets.load(DATASET), read(folder)
        for seed in range(SEEDS):
            if seed not in done:
                with (folder / "runs.jsonl").open("a") as file:
                    file.write(json.dumps({"seed": seed, **run(graph, seed)}) + "\n")
    tell(read(folder))
    draw(read(folder), Path(__file__).parents[1] / "suggestion.svg")


def run(graph: Graph, seed: int) -> dict[str, list[float]]:
    """Accuracy on the test nodes after each batch, for both ways of choosing."""
    split = datasets.split(graph, SHOT, seed)
    first = split.masked(graph.labels)
    model = MetaPN(random_state=seed).fit(graph.features, first, graph=graph)
    calibration = calibrate(model, graph.features, first, graph)
    pool = np.setdiff1d(np.arange(graph.n_nodes), split.test)
    start = accuracy(model, graph, split.test)
    found = {}
    for arm in ARMS:
        random, y, now = np.random.default_rng(seed), first.copy(), model
        accuracies = [start]
        for _ in range(BATCHES):
            chosen = choose(arm, now, calibration, graph, y, pool, random)
            y[chosen] = graph.labels[chosen]
            now = MetaPN(random_state=seed).fit(graph.features, y, graph=graph)
            accuracies.append(accuracy(now, graph, split.test))
        found[arm] = accuracies
    return found


def choose(
    arm: str,
    model: MetaPN,
    calibration: Calibration,
    graph: Graph,
    y: IntArray,
    pool: IntArray,
    random: np.random.Generator,
) -> IntArray:
    """Nodes to label next, none of which has a label."""
    labelled = np.flatnonzero(y >= 0)
    if arm == "random":
        return random.choice(np.setdiff1d(pool, labelled), BATCH, replace=False)
    P = calibration.transduction.apply(model.label_distributions_)
    return suggest(P, graph, labelled, BATCH, candidates=pool)


def accuracy(model: MetaPN, graph: Graph, test: IntArray) -> float:
    """Share of the test nodes that the model labels rightly."""
    return float((model.transduction_[test] == graph.labels[test]).mean())


def read(folder: Path) -> dict[int, dict[str, list[float]]]:
    """Runs that are done, by seed."""
    file = folder / "runs.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return {line["seed"]: {arm: line[arm] for arm in ARMS} for line in lines}


def tell(runs: dict[int, dict[str, list[float]]]) -> None:
    """Print the table."""
    print(f"{DATASET}, {SHOT}-shot, {len(runs)} seeds; accuracy with 95 % bootstrap interval, in per cent")
    print("| labels | suggested | random | difference | p, paired |")
    print("|---|---|---|---|---|")
    for step in range(BATCHES + 1):
        one, other = ([runs[seed][arm][step] for seed in sorted(runs)] for arm in ARMS)
        difference = [a - b for a, b in zip(one, other, strict=True)]
        cells = [percent(one), percent(other), percent(difference), f"{paired_p_value(one, other):.2g}"]
        print(f"| 21 + {step * BATCH} | " + " | ".join(cells) + " |")


def percent(values: list[float]) -> str:
    """Mean and interval."""
    low, high = bootstrap_interval(values)
    return f"{100 * np.mean(values):.2f} ({100 * low:.2f} to {100 * high:.2f})"


def draw(runs: dict[int, dict[str, list[float]]], path: Path) -> None:
    """Write the figure: mean accuracy by labels added, with its interval, for both ways of choosing."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    labels = [step * BATCH for step in range(BATCHES + 1)]
    for arm, colour, marker in zip(ARMS, ("#0072B2", "#D55E00"), "os", strict=True):
        values = 100 * np.array([runs[seed][arm] for seed in sorted(runs)])
        low, high = np.transpose([bootstrap_interval(column) for column in values.T])
        axes.fill_between(labels, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(labels, values.mean(axis=0), color=colour, marker=marker, label=arm)
    axes.set_xticks(labels)
    axes.set_xlabel("labels added to three of each class")
    axes.set_ylabel("accuracy on the test nodes, %")
    axes.set_title(f"Cora-ML, {len(runs)} splits, 95 % interval of the mean", fontsize=10)
    axes.legend(frameon=False, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
