"""Several methods on the same splits: who is best, and is the difference more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from metapn.experiments.run import Outcome
from metapn.experiments.statistics import bootstrap_interval, holm, paired_p_value


@dataclass(frozen=True)
class Row:
    """One method in a comparison.

    Parameters
    ----------
    method : str
    mean, low, high : float
        Mean accuracy over the seeds and its 95 % bootstrap interval.
    p_value, p_corrected : float or None
        Paired t-test against the best method on the same splits, as it is and after Holm's correction for
        the number of comparisons; None for the best itself.
    seconds : float
        Mean of a fit.
    megabytes : float
        Most memory that the process held during a fit.
    accuracies : list of float
        In the order of the seeds.
    """

    method: str
    mean: float
    low: float
    high: float
    p_value: float | None
    p_corrected: float | None
    seconds: float
    megabytes: float
    accuracies: list[float]

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary."""
        return asdict(self)


def compare(outcomes: Mapping[str, Sequence[Outcome]]) -> list[Row]:
    """Rank the methods by mean accuracy.

    Parameters
    ----------
    outcomes : mapping of method to its outcomes
        All methods on the same seeds.
    """
    by_seed = {name: sorted(runs, key=lambda run: run.seed) for name, runs in outcomes.items()}
    accuracies = {name: [run.accuracy for run in runs] for name, runs in by_seed.items()}
    means = {name: sum(values) / len(values) for name, values in accuracies.items()}
    ranking = sorted(means, key=lambda name: -means[name])
    p_values = [paired_p_value(accuracies[ranking[0]], accuracies[name]) for name in ranking[1:]]
    tested = dict(zip(ranking[1:], zip(p_values, holm(p_values), strict=True), strict=True))
    rows = []
    for name in ranking:
        low, high = bootstrap_interval(accuracies[name])
        p_value, p_corrected = tested.get(name, (None, None))
        seconds = sum(run.seconds for run in by_seed[name]) / len(by_seed[name])
        megabytes = max(run.megabytes for run in by_seed[name])
        rows.append(Row(name, means[name], low, high, p_value, p_corrected, seconds, megabytes, accuracies[name]))
    return rows
