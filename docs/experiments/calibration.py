"""Are calibrated probabilities better? The runs behind docs/trust.md.

    python docs/experiments/calibration.py docs/experiments/calibration

Meta-PN on the paper's splits, without validation nodes: its probabilities as they are and as `calibrate` makes them
from the gold labels alone, measured on test nodes. 500 of the test nodes are taken out of the graph before the fit,
to be the nodes never seen. Each run is written to ``runs.jsonl`` as it ends; stopped, the same command goes on.
"""
# ruff: noqa: T201

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from metapn import Graph, MetaPN, datasets
from metapn.experiments.environment import noted
from metapn.experiments.statistics import bootstrap_interval, paired_p_value
from metapn.trust.calibration import calibrate
from metapn.trust.reliability import scores

DATASETS, SHOTS, SEEDS, UNSEEN = ("cora_ml", "citeseer"), (3, 5), 20, 500


def main(folder: Path) -> None:
    """Run what is missing, then print the table."""
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    with noted(folder, "python docs/experiments/calibration.py docs/experiments/calibration"):
        done = {(run["dataset"], run["shot"], run["seed"]) for run in read(folder)}
        for seed, shot, name in product(range(SEEDS), SHOTS, DATASETS):
            if (name, shot, seed) not in done:
                with (folder / "runs.jsonl").open("a") as file:
                    file.write(
                        json.dumps({"dataset": name, "shot": shot, "seed": seed, **run(name, shot, seed)}) + "\n"
                    )
    tell(read(folder))


def run(name: str, shot: int, seed: int) -> dict[str, Any]:
    """Scores before and after, on test nodes of the graph and on test nodes never seen."""
    whole = datasets.load(name)
    split = datasets.split(whole, shot, seed)
    away = np.random.default_rng(seed).choice(split.test, UNSEEN, replace=False)
    kept = np.setdiff1d(np.arange(whole.n_nodes), away)
    test = np.flatnonzero(np.isin(kept, split.test))
    graph, X, y = Graph(whole.adjacency[kept][:, kept]), whole.features[kept], split.masked(whole.labels)[kept]
    model = MetaPN(random_state=seed).fit(X, y, graph=graph)
    calibration = calibrate(model, X, y, graph)
    found: dict[str, Any] = {}
    for where, P, labels, adjustment in (
        ("graph", model.label_distributions_[test], whole.labels[kept][test], calibration.transduction),
        ("unseen", model.predict_proba(whole.features[away]), whole.labels[away], calibration.unseen),
    ):
        before, after = scores(P, labels), scores(adjustment.apply(P), labels)
        found[where] = {"before": before, "after": after, "temperature": adjustment.temperature}
    return found


def read(folder: Path) -> list[dict[str, Any]]:
    """Runs that are done."""
    file = folder / "runs.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def tell(runs: list[dict[str, Any]]) -> None:
    """Print the table."""
    print("| graph | shot | nodes | seeds | accuracy | temperature | ECE before | after | difference | p, paired |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, shot, where in product(DATASETS, SHOTS, ("graph", "unseen")):
        some = [run[where] for run in runs if (run["dataset"], run["shot"]) == (name, shot)]
        if not some:
            continue
        before, after = ([100 * each[when]["ece"] for each in some] for when in ("before", "after"))
        difference = [b - a for a, b in zip(before, after, strict=True)]
        accuracy = 100 * np.mean([each["before"]["accuracy"] for each in some])
        temperature = np.exp(np.mean([np.log(each["temperature"]) for each in some]))
        print(
            f"| {name} | {shot} | {where} | {len(some)} | {accuracy:.1f} | {temperature:.2f} | {interval(before)} | "
            f"{interval(after)} | {interval(difference)} | {paired_p_value(before, after):.2g} |"
        )


def interval(values: list[float]) -> str:
    """Mean and 95 % bootstrap interval."""
    low, high = bootstrap_interval(values)
    return f"{np.mean(values):.1f} ({low:.1f} to {high:.1f})"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
