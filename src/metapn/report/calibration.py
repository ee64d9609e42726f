"""Whether a method is right as often as it says: reliability curves and the expected calibration error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from metapn.experiments.ledger import Record
from metapn.experiments.paper import METHODS
from metapn.report import blocks, words
from metapn.report.blocks import Block, Column
from metapn.report.drawing.lines import Series, line_chart
from metapn.report.drawing.scale import Axis
from metapn.report.figures import STYLES
from metapn.report.results import Results
from metapn.report.usual import usual_contests

#: Bins with a smaller share of the nodes say nothing.
_LEAST = 0.005
#: Methods in the picture; the others are in the table.
_DRAWN = ("metapn", "appnp", "gcn", "lp")

Floats = npt.NDArray[np.float64]


def calibration_error(records: Sequence[Record]) -> float | None:
    """ECE = Σ_b |correct_b - confidence_b| / n over the bins b of a run's test nodes, mean over the runs.

    None if no run has its bins.
    """
    errors = []
    for run in records:
        count, confidence, correct = _bins([run])
        if count.sum():
            errors.append(float(np.abs(correct - confidence).sum() / count.sum()))
    return sum(errors) / len(errors) if errors else None


def calibration_blocks(results: Results) -> list[Block]:
    """Draw the reliability of some methods on each data set, and list the errors of all."""
    found = usual_contests(results)
    panels = []
    for (dataset, shot, protocol), contest in found.items():
        series = [line for score in contest.scores for line in _reliability(score.cell.method, score.records)]
        if series:
            svg = line_chart(series, Axis("probability given, %", 0, 100), Axis("right, %", 0, 100), diagonal=True)
            title = f"{words.dataset(dataset)}, {words.shot(shot)}, {words.PROTOCOLS[protocol]}"
            panels.append(blocks.Panel(title, svg, _told(series)))
    if not panels:
        return []
    caption = (
        "How often a method is right among the test nodes for whose class it gives about the same probability, all "
        "runs together. Above the diagonal it is too modest, below it too sure."
    )
    columns = [
        Column(words.PROTOCOLS[protocol], f"{words.dataset(dataset)}, {words.shot(shot)}")
        for dataset, shot, protocol in found
    ]
    errors = {
        (score.cell.method, place): calibration_error(score.records)
        for place, contest in found.items()
        for score in contest.scores
    }
    rows = []
    for name, title in METHODS.items():
        values = [errors.get((name, place)) for place in found]
        if any(value is not None for value in values):
            rows.append((title, *(words.NONE if value is None else words.percent(value) for value in values)))
    return [
        blocks.Figure(caption, panels),
        blocks.Table(
            "Expected calibration error in points of per cent, mean over the runs; 0 is best",
            ("Method", *columns),
            rows,
        ),
    ]


def _bins(records: Sequence[Record]) -> tuple[Floats, Floats, Floats]:
    """Add up the bins of runs: how many nodes, the sum of their probabilities, how many were right."""
    kept = [run.observations["calibration"] for run in records if run.observations.get("calibration")]
    count, confidence, correct = (
        np.array([bins[name] for bins in kept], dtype=float).sum(axis=0)
        for name in ("count", "confidence", "correct")
    )
    return count, confidence, correct


def _reliability(method: str, records: Sequence[Record]) -> list[Series]:
    count, confidence, correct = _bins(records)
    if method not in _DRAWN or not count.sum():
        return []
    seen = count > _LEAST * count.sum()
    x, y = 100 * confidence[seen] / count[seen], 100 * correct[seen] / count[seen]
    strong = method == "metapn"
    return [Series(METHODS[method], x.tolist(), y.tolist(), style=STYLES[method], strong=strong)]


def _told(series: Sequence[Series]) -> str:
    return "; ".join(
        f"{each.name}: {', '.join(f'right {y:.0f} at {x:.0f}' for x, y in zip(each.x, each.y, strict=True))}"
        for each in series
    )
