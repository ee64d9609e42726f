"""A table of ratios as shades: one colour for more than one, another for less, none for one itself."""

from __future__ import annotations

from collections.abc import Sequence

from metapn.report.drawing.style import colour
from metapn.report.drawing.svg import WIDTH, drawing, element, label, text

CELL = 24.0
NAMES = 66.0
#: The least departure from one that has the full shade: what is smaller shall not look large.
_FULL = 0.1
_MORE, _LESS = 0, 1
#: The number is read on its own shade, which is never darker than the text can be read on.
_DARKEST = 0.55


def heat_map(rows: Sequence[tuple[str, Sequence[float]]], columns: Sequence[str], x_label: str, y_label: str) -> str:
    """Draw a shade for each value.

    Parameters
    ----------
    rows : sequence of (name, values)
        Ratios of 0 or more, as many as there are columns.
    columns : sequence of str
    x_label, y_label : str
    """
    full = max([abs(value - 1) for _, values in rows for value in values] + [_FULL])
    width = (WIDTH - NAMES) / max(len(columns), 1)
    parts = [label(NAMES - 6, 14, y_label, anchor="end")]
    for i, (name, values) in enumerate(rows):
        y = 22 + CELL * i
        parts.append(label(NAMES - 6, y + 16.5, name, anchor="end"))
        for j, value in enumerate(values):
            what = element("title", text(f"{y_label} {name}, {x_label} {columns[j]}: {value:.3f}"))
            shade = f"{_DARKEST * abs(value - 1) / full:.3f}"
            paint = {"style": colour(_MORE if value > 1 else _LESS), "fill_opacity": shade, "class_": "heat"}
            x = NAMES + width * j
            parts.append(element("rect", what, x=x, y=y, width=width - 1, height=CELL - 1, **paint))
            if width >= 26:
                parts.append(label(x + width / 2, y + 16, f"{value:.2f}", class_="small"))
    bottom = 22 + CELL * len(rows)
    for j, name in enumerate(columns):
        if width >= 16 or j % 5 == 4:
            parts.append(label(NAMES + width * (j + 0.5), bottom + 15, name))
    parts.append(label(NAMES + width * len(columns) / 2, bottom + 34, x_label))
    return drawing(bottom + 42, parts)
