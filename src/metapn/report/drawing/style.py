"""How series are told apart: colour, shape and dashes, so that no one of them is needed."""

from __future__ import annotations

from collections.abc import Iterable

from metapn.report.drawing.svg import element, number

_COLOURS = 8
_DASHES = ("none", "7 3", "2 3", "9 3 2 3")
# Outlines around the origin, all about as large to the eye.
_SHAPES = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",  # circle
    "m-3.6-3.6h7.2v7.2h-7.2z",  # square
    "m0-4.8l4.4 7.8h-8.8z",  # triangle
    "m0-5l4.6 5l-4.6 5l-4.6-5z",  # diamond
    "m0 4.8l4.4-7.8h-8.8z",  # triangle, upside down
    "m-1.6-4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z",  # cross
    "m0-4.9l4.7 3.4l-1.8 5.5h-5.8l-1.8-5.5z",  # pentagon
)
# The same at less than half the size, where there are thousands of them.
_SMALL = (
    "m-1.9 0a1.9 1.9 0 1 0 3.8 0a1.9 1.9 0 1 0-3.8 0z",
    "m-1.6-1.6h3.2v3.2h-3.2z",
    "m0-2.2l2 3.6h-4z",
    "m0-2.4l2.2 2.4l-2.2 2.4l-2.2-2.4z",
    "m0 2.2l2-3.6h-4z",
    "m-.7-2.1h1.4v1.4h1.4v1.4h-1.4v1.4h-1.4v-1.4h-1.4v-1.4h1.4z",
    "m0-2.2l2.1 1.5l-.8 2.5h-2.6l-.8-2.5z",
)


def colour(style: int) -> str:
    """CSS that sets the colour of a series, for what has one of the classes of series.

    Examples
    --------
    >>> colour(1), colour(9)
    ('--series:var(--series-1)', '--series:var(--series-1)')
    """
    return f"--series:var(--series-{style % _COLOURS})"


def dashes(style: int) -> str:
    """Return the dashes of a line; with the colours they repeat after 32 series only."""
    return _DASHES[(style % _COLOURS + style // _COLOURS) % len(_DASHES)]


def mark(x: float, y: float, style: int, *children: str, hollow: bool = False) -> str:
    """Draw the mark of a series at a place."""
    outline = _SHAPES[style % len(_SHAPES)]
    classes = "mark hollow" if hollow else "mark"
    return element("path", *children, d=f"M{x:.1f} {y:.1f}{outline}", class_=classes, style=colour(style))


def dots(points: Iterable[tuple[float, float]], style: int, *children: str) -> str:
    """Draw a small mark at each of many places, as one element."""
    outline = _SMALL[style % len(_SMALL)]
    every = "".join(f"M{number(x)} {number(y)}{outline}" for x, y in points)
    return element("path", *children, d=every, class_="dots", style=colour(style))
