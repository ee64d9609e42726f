"""Lines with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metapn.report.drawing.axes import BOTTOM, TOP, Frame, Key, legend
from metapn.report.drawing.scale import Axis
from metapn.report.drawing.style import colour, dashes, mark
from metapn.report.drawing.svg import drawing, element, line, path, text


@dataclass(frozen=True)
class Series:
    """A line.

    Parameters
    ----------
    name : str
    x, y : sequence of float
        In the order of x.
    low, high : sequence of float
        Interval around each y; none by default.
    style : int
        See `metapn.report.drawing.style`.
    strong : bool
        Thicker than the others.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    style: int = 0
    strong: bool = False


def line_chart(
    series: Sequence[Series],
    x: Axis,
    y: Axis,
    *,
    marked: bool = True,
    whiskers: bool = False,
    diagonal: bool = False,
    height: float = 220,
) -> str:
    """Draw lines over a common x.

    Parameters
    ----------
    series : sequence of Series
    x, y : Axis
    marked : bool
        A mark at each point.
    whiskers : bool
        Intervals as strokes, side by side, in place of bands; for many series.
    diagonal : bool
        A dashed line where y is x.
    height : float
        Of the space between the axes.
    """
    keys = [Key(each.name, each.style, marked=marked) for each in series]
    head, top = legend(keys if len(series) > 1 else [])
    xs = [value for each in series for value in each.x]
    ys = [value for each in series for values in (each.y, each.low, each.high) for value in values]
    # What stands side by side takes its room besides the values themselves.
    frame = Frame.of(x, y, xs, ys, height=height, top=top + TOP, room=0.14 if whiskers else 0.04)
    parts = [*head, *frame.draw(x.label, y.label)]
    if diagonal:
        ends = max(frame.x.low, frame.y.low), min(frame.x.high, frame.y.high)
        parts.append(line(frame.x(ends[0]), frame.y(ends[0]), frame.x(ends[1]), frame.y(ends[1]), "dashed"))
    shifts = [5.0 * (i - (len(series) - 1) / 2) if whiskers else 0.0 for i in range(len(series))]
    for each in series:
        if not whiskers and each.low:
            parts.append(_band(each, frame))
    for each, shift in zip(series, shifts, strict=True):
        parts.extend(_line(each, frame, shift, marked=marked, whiskers=whiskers))
    return drawing(frame.y.start + BOTTOM, parts)


def _band(series: Series, frame: Frame) -> str:
    upper = [(frame.x(x), frame.y(y)) for x, y in zip(series.x, series.high, strict=True)]
    lower = [(frame.x(x), frame.y(y)) for x, y in zip(series.x, series.low, strict=True)]
    return element("path", d=path([*upper, *reversed(lower)]) + "z", class_="band", style=colour(series.style))


def _line(series: Series, frame: Frame, shift: float, *, marked: bool, whiskers: bool) -> Iterator[str]:
    points = [(frame.x(x) + shift, frame.y(y)) for x, y in zip(series.x, series.y, strict=True)]
    paint = {"style": colour(series.style), "stroke_dasharray": dashes(series.style)}
    name = element("title", text(series.name))
    yield element("path", name, d=path(points), class_="line strong" if series.strong else "line", **paint)
    if whiskers:
        for (x, _), low, high in zip(points, series.low, series.high, strict=True):
            yield line(x, frame.y(low), x, frame.y(high), "whisker", style=colour(series.style))
    if marked:
        for i, (x, y) in enumerate(points):
            interval = f" ({series.low[i]:.2f} to {series.high[i]:.2f})" if series.low else ""
            what = f"{series.name}, {series.x[i]:g}: {series.y[i]:.2f}{interval}"
            yield mark(x, y, series.style, element("title", text(what)))
