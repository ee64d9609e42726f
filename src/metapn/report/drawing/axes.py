"""The frame of a chart: axes, grid and legend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from metapn.report.drawing.scale import Axis, Scale
from metapn.report.drawing.style import colour, dashes, mark
from metapn.report.drawing.svg import WIDTH, element, label, line, path

LEFT, RIGHT, TOP, BOTTOM = 54.0, 8.0, 8.0, 44.0
LEGEND_ROW = 20.0
#: About how wide a letter is.
LETTER = 7.6


@dataclass(frozen=True)
class Frame:
    """Where things are in a chart."""

    x: Scale
    y: Scale

    @classmethod
    def of(
        cls, x: Axis, y: Axis, xs: Iterable[float], ys: Iterable[float], *, height: float, top: float, room: float
    ) -> Frame:
        """Make axes that have all values, with some room, a share of their length, at the ends of x."""
        return cls(
            Scale.of(x, xs, LEFT, WIDTH - RIGHT, room=room),
            Scale.of(y, ys, top + height, top),
        )

    def draw(self, x_label: str, y_label: str) -> Iterator[str]:
        """Draw the grid, the numbers and the names of the axes."""
        left, right, bottom, top = self.x.start, self.x.end, self.y.start, self.y.end
        for value in self.y.ticks:
            yield line(left, self.y(value), right, self.y(value), "grid")
            yield label(left - 7, self.y(value) + 4.5, f"{value:g}", anchor="end")
        for value in self.x.ticks:
            yield line(self.x(value), bottom, self.x(value), bottom + 4, "axis")
            yield label(self.x(value), bottom + 18, f"{value:g}")
        yield line(left, bottom, right, bottom, "axis")
        yield label((left + right) / 2, bottom + 37, x_label)
        middle = (top + bottom) / 2
        yield label(11, middle, y_label, transform=f"rotate(-90 11 {middle:.1f})")


@dataclass(frozen=True)
class Key:
    """An entry of a legend; see `metapn.report.drawing.style` for styles."""

    name: str
    style: int
    lined: bool = True
    marked: bool = True
    hollow: bool = False


def legend(keys: Sequence[Key]) -> tuple[list[str], float]:
    """Draw a legend in as many rows as it needs; return its parts and its height."""
    parts: list[str] = []
    x, y = 0.0, LEGEND_ROW / 2
    for key in keys:
        middle = 12 if key.lined else 6
        width = 2 * middle + 6 + LETTER * len(key.name)
        if x and x + width > WIDTH + 4:
            x, y = 0.0, y + LEGEND_ROW
        if key.lined:
            dash = dashes(key.style)
            outline = path([(x, y), (x + 2 * middle, y)])
            parts.append(element("path", d=outline, class_="line", style=colour(key.style), stroke_dasharray=dash))
        if key.marked:
            parts.append(mark(x + middle, y, key.style, hollow=key.hollow))
        parts.append(label(x + 2 * middle + 6, y + 4.5, key.name, anchor="start"))
        x += width + 12
    return parts, (y + LEGEND_ROW / 2 + 4 if keys else 0.0)
