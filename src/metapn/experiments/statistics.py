"""What a handful of accuracies says: their mean, and how sure of it one can be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def bootstrap_interval(
    values: Sequence[float], *, level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """Interval of the mean by the percentile bootstrap.

    Parameters
    ----------
    values : sequence of float
        One for each run.
    level : float
        Share of resampled means that lie within.
    resamples : int
    seed : int
        Fixed, so that the same values give the same interval.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = bootstrap_interval([0.7, 0.8, 0.9])
    >>> bool(0.7 <= low < 0.8 < high <= 0.9)
    True
    """
    sample = np.asarray(values, dtype=float)
    drawn = np.random.default_rng(seed).integers(len(sample), size=(resamples, len(sample)))
    tail = (1 - level) / 2
    low, high = np.quantile(sample[drawn].mean(axis=1), (tail, 1 - tail))
    return float(low), float(high)
