"""From values to places, and which values to print at an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """What an axis shows.

    Parameters
    ----------
    label : str
    low, high : float or None
        Its ends; by default as the values need.
    ticks : sequence of float
        Values to be printed; round ones by default.
    """

    label: str
    low: float | None = None
    high: float | None = None
    ticks: Sequence[float] = ()


@dataclass(frozen=True)
class Scale:
    """A linear map that takes ``low`` to ``start`` and ``high`` to ``end``, and the values to print."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    @classmethod
    def of(cls, axis: Axis, values: Iterable[float], start: float, end: float, *, room: float = 0.04) -> Scale:
        """Make a scale on which the axis has all values, and some room, a share of its length, beside them."""
        known = [*values, *axis.ticks]
        low, high = min(known, default=0.0), max(known, default=1.0)
        margin = room * (high - low) or 0.05 * abs(high) or 1.0
        low = low - margin if axis.low is None else axis.low
        high = high + margin if axis.high is None else axis.high
        ticks = axis.ticks or round_values(low, high)
        return cls(low, high, start, end, tuple(ticks))

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def round_values(low: float, high: float, *, most: int = 6) -> list[float]:
    """List the multiples of 1, 2 or 5 times a power of ten between two values, at most so many.

    Examples
    --------
    >>> round_values(0.61, 0.83)
    [0.65, 0.7, 0.75, 0.8]
    >>> round_values(0, 100)
    [0, 20, 40, 60, 80, 100]
    """
    magnitude = math.floor(math.log10((high - low) / most))
    for power in (magnitude, magnitude + 1):
        for factor in (1, 2, 5):
            step = factor * 10.0**power
            first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
            if last - first < most:
                digits = max(0, -power)
                return [round(i * step, digits) if digits else round(i * step) for i in range(first, last + 1)]
    raise AssertionError("ten steps of a power of ten are more than `most` of them")
