"""How the methods learned: accuracy on the early-stopping nodes, and Meta-PN's loss, epoch by epoch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metapn.experiments.cell import PROTOCOLS
from metapn.experiments.ledger import Record
from metapn.experiments.paper import METHODS
from metapn.report import blocks, words
from metapn.report.blocks import Block
from metapn.report.drawing.lines import Series, line_chart
from metapn.report.drawing.scale import Axis
from metapn.report.figures import STYLES
from metapn.report.results import Results
from metapn.report.scores import Contest, Place
from metapn.report.usual import usual_contests

_POINTS = 40


def learning_blocks(results: Results) -> list[Block]:
    """Draw the learning curves of all methods on each data set, and the loss of Meta-PN under both protocols."""
    found = usual_contests(results)
    places = dict.fromkeys((dataset, shot) for dataset, shot, _ in found)
    accuracy = [panel for place, contest in found.items() if (panel := _accuracies(place, contest))]
    loss = [panel for place in places if (panel := _losses(*place, found))]
    parts: list[Block] = []
    if accuracy:
        parts.append(
            blocks.Figure(
                "Accuracy on the early-stopping nodes, mean over the runs; the band holds the middle half of "
                "Meta-PN's runs. A run that has stopped counts with its last value; a line ends where half of the "
                "runs have.",
                accuracy,
            )
        )
    if loss:
        parts.append(
            blocks.Figure(
                "Meta-PN's training loss, mean over the runs, and the middle half of them. Without early-stopping "
                "nodes it stops when its averaged predictions have come to rest.",
                loss,
            )
        )
    return parts


def _accuracies(place: Place, contest: Contest) -> blocks.Panel | None:
    series = []
    for score in contest.scores:
        name = score.cell.method
        line = _curve(METHODS[name], score.records, "accuracy", style=STYLES[name], scale=100, band=name == "metapn")
        series.extend(line)
    return _panel(place[0], place[1], series, "accuracy, %")


def _losses(dataset: str, shot: float, found: dict[Place, Contest]) -> blocks.Panel | None:
    series = []
    for style, protocol in enumerate(PROTOCOLS):
        contest = found.get((dataset, shot, protocol))
        for score in contest.scores if contest else ():
            if score.cell.method == "metapn":
                title = words.PROTOCOLS[protocol]
                series.extend(_curve(title, score.records, "training_loss", style=style, band=True))
    return _panel(dataset, shot, series, "training loss")


def _panel(dataset: str, shot: float, series: Sequence[Series], label: str) -> blocks.Panel | None:
    if not series:
        return None
    svg = line_chart(series, Axis("epoch", low=0), Axis(label), marked=False, height=240)
    told = "; ".join(f"{each.name} ends at {each.y[-1]:.2f} after {each.x[-1]:g} epochs" for each in series)
    return blocks.Panel(f"{words.dataset(dataset)}, {words.shot(shot)}", svg, told)


def _curve(
    name: str, records: Sequence[Record], what: str, *, style: int, scale: float = 1, band: bool
) -> list[Series]:
    """Draw the mean of the runs that have such a curve; nothing if none has."""
    curves = [run.observations.get("curve") or {} for run in records]
    curves = [curve for curve in curves if what in curve]
    if not curves:
        return []
    end = float(np.median([curve["epoch"][-1] for curve in curves]))
    epochs = np.unique(np.linspace(1, end, min(_POINTS, int(end))).round())
    values = scale * np.array([np.interp(epochs, curve["epoch"], curve[what]) for curve in curves])
    low, high = np.quantile(values, (0.25, 0.75), axis=0)
    spread = {"low": low.tolist(), "high": high.tolist()} if band else {}
    line = Series(name, epochs.tolist(), values.mean(axis=0).tolist(), style=style, strong=band, **spread)
    return [line]
