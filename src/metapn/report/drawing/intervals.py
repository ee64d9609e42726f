"""A row for each method: its mean and interval, and what it is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metapn.report.drawing.axes import Key, legend
from metapn.report.drawing.scale import Axis, Scale
from metapn.report.drawing.style import colour, mark
from metapn.report.drawing.svg import WIDTH, drawing, element, label, line, text

ROW = 24.0
NAMES = 108.0


@dataclass(frozen=True)
class Point:
    """A value and its interval.

    Parameters
    ----------
    kind : int
        Place of its kind in the legend.
    value, low, high : float
    """

    kind: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """What is in a row; ``strong`` for the one to look at."""

    name: str
    points: Sequence[Point]
    strong: bool = False


def interval_chart(rows: Sequence[Row], kinds: Sequence[Key], axis: Axis) -> str:
    """Draw rows of points, those of a row a little above and below each other.

    Parameters
    ----------
    rows : sequence of Row
    kinds : sequence of Key
        What the points of each kind are.
    axis : Axis
    """
    head, above = legend(kinds)
    top = above + 4
    values = [value for row in rows for point in row.points for value in (point.value, point.low, point.high)]
    scale = Scale.of(axis, values, NAMES, WIDTH - 10)
    bottom = top + ROW * len(rows)
    parts = list(head)
    parts.extend(line(0, top + ROW * i, WIDTH, top + ROW * i, "grid") for i in range(len(rows) + 1))
    for value in scale.ticks:
        parts.append(line(scale(value), top, scale(value), bottom, "grid"))
        parts.append(label(scale(value), bottom + 17, f"{value:g}"))
    for i, row in enumerate(rows):
        parts.extend(_row(row, kinds, scale, top + ROW * (i + 0.5)))
    parts.append(label((NAMES + WIDTH) / 2, bottom + 36, axis.label))
    return drawing(bottom + 43, parts)


def _row(row: Row, kinds: Sequence[Key], scale: Scale, y: float) -> Iterator[str]:
    yield label(NAMES - 8, y + 4.5, row.name, anchor="end", class_="strong" if row.strong else "")
    # The first kind in front of the others.
    for point in sorted(row.points, key=lambda point: -point.kind):
        kind = kinds[point.kind]
        here = y + 6.5 * (point.kind - (len(kinds) - 1) / 2)
        what = f"{row.name}, {kind.name}: {point.value:.2f} ({point.low:.2f} to {point.high:.2f})"
        yield line(scale(point.low), here, scale(point.high), here, "whisker", style=colour(kind.style))
        yield mark(scale(point.value), here, kind.style, element("title", text(what)), hollow=kind.hollow)
