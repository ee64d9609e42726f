"""A table of shares as shades, with the numbers in it."""

from __future__ import annotations

from collections.abc import Sequence

from metapn.report.drawing.svg import WIDTH, drawing, element, label, text

CELL = 24.0
NAMES = 92.0


def heat_map(rows: Sequence[tuple[str, Sequence[float]]], columns: Sequence[str], x_label: str, y_label: str) -> str:
    """Draw a shade for each value; the largest is the darkest, and zero is the page's own colour.

    Parameters
    ----------
    rows : sequence of (name, values)
        Values of 0 or more, as many as there are columns.
    columns : sequence of str
    x_label, y_label : str
    """
    largest = max((value for _, values in rows for value in values), default=0) or 1.0
    width = (WIDTH - NAMES) / max(len(columns), 1)
    parts = [label(NAMES - 8, 14, y_label, anchor="end")]
    for i, (name, values) in enumerate(rows):
        y = 22 + CELL * i
        parts.append(label(NAMES - 8, y + 16.5, name, anchor="end"))
        for j, value in enumerate(values):
            what = element("title", text(f"{y_label} {name}, {x_label} {columns[j]}: {value:.3f}"))
            # The number is read on its own shade: never darker than the text can be read on.
            shade = f"{0.55 * value / largest:.3f}"
            parts.append(
                element(
                    "rect", what, x=NAMES + width * j, y=y, width=width - 1, height=CELL - 1, class_="heat",
                    fill_opacity=shade,
                )
            )  # fmt: skip
            if width >= 22:
                printed = f"{100 * value:.0f}"
                parts.append(label(NAMES + width * (j + 0.5), y + 16, printed, class_="strong"))
    bottom = 22 + CELL * len(rows)
    for j, name in enumerate(columns):
        if width >= 16 or j % 5 == 0:
            parts.append(label(NAMES + width * (j + 0.5), bottom + 15, name))
    parts.append(label(NAMES + width * len(columns) / 2, bottom + 34, x_label))
    return drawing(bottom + 42, parts)
