"""What the propagator learned: the weight of each hop, for all nodes, for each K, and by the degree of a node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from metapn.experiments.cell import PROTOCOLS
from metapn.experiments.ledger import Record
from metapn.report import blocks, words
from metapn.report.blocks import Block, Column
from metapn.report.drawing.heat import heat_map
from metapn.report.drawing.lines import Series, line_chart
from metapn.report.drawing.scale import Axis
from metapn.report.fixed import depth
from metapn.report.results import Results
from metapn.report.usual import usual_contests

Floats = npt.NDArray[np.float64]


def propagator_blocks(results: Results) -> list[Block]:
    """Draw the weights that Meta-PN has learned."""
    weights, degrees = [], []
    rows: list[list[str]] = []
    for (dataset, shot, protocol), contest in usual_contests(results).items():
        runs = [run for score in contest.scores if score.cell.method == "metapn" for run in score.records]
        if protocol != PROTOCOLS[0] or not _mean(runs).size:
            continue
        title = f"{words.dataset(dataset)}, {words.shot(shot)}"
        by_steps = _by_steps(results, dataset, protocol) or {float(_mean(runs).shape[1] - 1): runs}
        weights.append(_weights(title, by_steps))
        degrees.append(_degrees(title, runs))
        rows.extend(_extremes(title, k, several) for k, several in sorted(by_steps.items()) if k > 1)
    if not weights:
        return []
    return [
        blocks.Text(
            "The weight of hop k says how much the labels k steps away count in a node's pseudo label. Hop 0, the "
            "node's own label, has weight 1 besides and is left out; the weights of the others sum to 1, and were "
            "each 1/K if nothing had been learned. Shown is the weight divided by that share: 1 is no preference."
        ),
        blocks.Figure(
            "Weight of each hop divided by the equal share, mean over all nodes and runs; a line for each K.", weights
        ),
        blocks.Figure(
            "The same by the degree of the node. Blue is more than the equal share and orange less; the shades of a "
            "panel go to its largest departure, and to a tenth at least.",
            degrees,
        ),
        blocks.Fold("The hops that count least and most", [_table(rows)]),
    ]


def _table(rows: Sequence[Sequence[str]]) -> blocks.Table:
    extremes = [Column(title, group) for group in ("least", "most") for title in ("hop", "weight")]
    caption = "Weights in per cent, mean over all nodes and runs"
    return blocks.Table(caption, ("Data set", "K", "equal share", *extremes), rows)


def _mean(runs: Sequence[Record]) -> Floats:
    """Return the mean weights of each run, shape (runs, K + 1)."""
    return np.array([run.observations["hops"]["mean"] for run in runs if run.observations.get("hops")])


def _by_steps(results: Results, dataset: str, protocol: str) -> dict[float, Sequence[Record]]:
    """Return Meta-PN's runs of figure 3 by K."""
    cells = [cell for cell in results.cells["figure3"] if (cell.dataset, cell.protocol) == (dataset, protocol)]
    return {depth(cell): results.records[cell.key()] for cell in cells if cell.method == "metapn"}


def _learned(runs: Sequence[Record]) -> Floats:
    """Return the mean weights of the hops 1 to K."""
    weights = _mean(runs)[:, 1:].mean(axis=0)
    shares: Floats = weights / weights.sum()
    return shares


def _extremes(title: str, k: float, runs: Sequence[Record]) -> list[str]:
    learned = _learned(runs)
    least, most = int(learned.argmin()), int(learned.argmax())
    found = (str(least + 1), words.percent(learned[least]), str(most + 1), words.percent(learned[most]))
    return [title, f"{k:g}", words.percent(1 / k), *found]


def _weights(title: str, by_steps: dict[float, Sequence[Record]]) -> blocks.Panel:
    series = []
    for style, (k, runs) in enumerate(sorted(by_steps.items())):
        if k > 1:  # a single hop has all the weight
            shares = len(_learned(runs)) * _learned(runs)
            series.append(Series(f"K = {k:g}", range(1, len(shares) + 1), shares.tolist(), style=style))
    values = [value for each in series for value in each.y]
    y = Axis("weight / equal share", min([0.9, *values]), max([1.1, *values]))
    told = "; ".join(f"{each.name}: {', '.join(f'{value:.3f}' for value in each.y)}" for each in series)
    return blocks.Panel(title, line_chart(series, Axis("hop k"), y, height=240), told)


def _degrees(title: str, runs: Sequence[Record]) -> blocks.Panel:
    sums: dict[tuple[int, int], list[tuple[int, Floats]]] = {}
    for run in runs:
        for found in (run.observations.get("hops") or {}).get("by_degree", []):
            sums.setdefault((found["low"], found["high"]), []).append(
                (found["nodes"], np.array(found["weights"][1:]))
            )
    rows = []
    for (low, high), parts in sorted(sums.items()):
        mean = np.average([weights for _, weights in parts], axis=0, weights=[nodes for nodes, _ in parts])
        rows.append((f"{low}-{high}", (len(mean) * mean / mean.sum()).tolist()))
    columns = [str(k + 1) for k in range(len(rows[0][1]))]
    told = "; ".join(f"degree {name}: {', '.join(f'{value:.3f}' for value in values)}" for name, values in rows)
    return blocks.Panel(title, heat_map(rows, columns, "hop k", "degree"), told)
