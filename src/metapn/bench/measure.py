"""One measured ratio, and how to time two things side by side."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Measure:
    """What was measured, and what it should be.

    Parameters
    ----------
    name : str
    what : str
        The ratio in words.
    value : float
    bound : float or None
        What it should be at most (or at least); None where there is nothing to hold it against.
    at_most : bool
        Whether the bound is an upper one.
    details : dict
        The figures that the ratio is made of.
    """

    name: str
    what: str
    value: float
    bound: float | None = None
    at_most: bool = True
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool | None:
        """Whether the bound holds; None without one."""
        if self.bound is None:
            return None
        return self.value <= self.bound if self.at_most else self.value >= self.bound

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary, with whether the bound holds."""
        return asdict(self) | {"holds": self.holds}


def side_by_side(*actions: Callable[[], object], rounds: int = 15) -> list[float]:
    """Shortest time of each action in seconds, taken in turns, so that a busy moment hits all alike.

    Examples
    --------
    >>> quick, slow = side_by_side(lambda: None, lambda: sum(range(100_000)), rounds=3)
    >>> quick < slow
    True
    """
    for action in actions:
        action()
    best = [float("inf")] * len(actions)
    for _ in range(rounds):
        for place, action in enumerate(actions):
            start = time.perf_counter()
            action()
            best[place] = min(best[place], time.perf_counter() - start)
    return best
