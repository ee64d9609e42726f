"""What a handful of accuracies says: their mean, and how sure of it one can be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats


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
    >>> [round(bound, 3) for bound in bootstrap_interval([0.0, 1.0, 1.0, 0.0])]
    [0.0, 1.0]
    """
    sample = np.asarray(values, dtype=float)
    drawn = np.random.default_rng(seed).integers(len(sample), size=(resamples, len(sample)))
    tail = (1 - level) / 2
    low, high = np.quantile(sample[drawn].mean(axis=1), (tail, 1 - tail))
    return float(low), float(high)


def paired_p_value(one: Sequence[float], other: Sequence[float]) -> float:
    """Two-sided p of the paired t-test: how likely so large a mean difference is by chance alone.

        t = d̄ / (s_d / √n), with n - 1 degrees of freedom, for the differences d of the pairs

    Equal in every pair is no difference at all, p = 1; one pair says nothing, p = 1; the same difference in
    every pair, but for rounding, is no chance, p = 0.

    Examples
    --------
    >>> round(paired_p_value([0.8, 0.9, 0.7], [0.7, 0.7, 0.7]), 3)
    0.225
    """
    difference = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
    if len(difference) < 2 or not difference.any():
        return 1.0
    if np.ptp(difference) < 1e-12:
        return 0.0
    t = difference.mean() / (difference.std(ddof=1) / np.sqrt(len(difference)))
    return float(2 * stats.t.sf(abs(t), len(difference) - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for their number by Holm's method: sorted p(i) becomes max over j ≤ i of (m - j) p(j).

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.04, 0.01, 0.03])]
    [0.06, 0.03, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(steps, 1)
    return [float(value) for value in corrected]
