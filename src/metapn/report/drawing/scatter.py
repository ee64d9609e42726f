"""Nodes in the plane, a colour and a shape for each class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metapn.graph import FloatArray, IntArray
from metapn.report.drawing.axes import Key, legend
from metapn.report.drawing.style import dots
from metapn.report.drawing.svg import WIDTH, drawing, element, text

_EDGE = 4.0


def scatter(places: FloatArray, classes: IntArray, names: Sequence[str]) -> str:
    """Draw a map of nodes; one unit to the right is one unit up.

    Parameters
    ----------
    places : array, shape (n, 2)
    classes : int array, shape (n,)
        Those below 0 are left out.
    names : sequence of str
        Of the classes.
    """
    head, top = legend([Key(name, style, lined=False) for style, name in enumerate(names)])
    low, span = places.min(axis=0), np.ptp(places, axis=0)
    unit = (WIDTH - 2 * _EDGE) / max(float(span.max()), 1e-9)
    x = (WIDTH - span[0] * unit) / 2 + (places[:, 0] - low[0]) * unit
    y = top + _EDGE + (low[1] + span[1] - places[:, 1]) * unit
    parts = list(head)
    for c, name in enumerate(names):
        inside = classes == c
        if inside.any():
            pairs = zip(x[inside].tolist(), y[inside].tolist(), strict=True)
            parts.append(dots(pairs, c, element("title", text(name))))
    return drawing(top + 2 * _EDGE + float(span[1]) * unit, parts)
