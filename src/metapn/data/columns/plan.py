"""What became of one column."""

from __future__ import annotations

from dataclasses import dataclass


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
