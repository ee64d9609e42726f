"""What became of one column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

#: So many columns in a row of which the same is told are told of at once.
_MANY = 4


@dataclass(frozen=True)
class ColumnPlan:
    """One line of what is shown to the user.

    Parameters
    ----------
    name, kind : str
    n_features : int
        0 if the column was dropped.
    told : str
        How it is turned into features, or why it is not.

    Examples
    --------
    >>> print(ColumnPlan("age", "numeric", 1, "standardised"))
    age: numeric, 1 feature: standardised
    """

    name: str
    kind: str
    n_features: int
    told: str

    def __str__(self) -> str:
        count = f", {self.n_features:,} feature{'s' if self.n_features > 1 else ''}" if self.n_features else ""
        return f"{self.name}: {'dropped' if self.kind == 'drop' else self.kind}{count}: {self.told}"


def told_together(plans: Sequence[ColumnPlan]) -> list[str]:
    """Tell of all columns, of those that follow each other and became the same at once.

    Examples
    --------
    >>> told_together([ColumnPlan(f"w{place}", "count", 1, "as it is") for place in range(2000)])
    ['w0 to w1999 (2,000 columns): count, 2,000 features: as it is']
    """
    lines = []
    for _, group in groupby(plans, key=lambda plan: (plan.kind, plan.told)):
        alike = list(group)
        if len(alike) < _MANY:
            lines += [str(plan) for plan in alike]
            continue
        name = f"{alike[0].name} to {alike[-1].name} ({len(alike):,} columns)"
        lines.append(str(ColumnPlan(name, alike[0].kind, sum(plan.n_features for plan in alike), alike[0].told)))
    return lines
