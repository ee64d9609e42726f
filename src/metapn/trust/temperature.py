"""One number that makes probabilities bolder or more careful, from a handful of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from metapn.graph import IntArray

#: Standard deviation of log T before any label is seen: a factor of 2.7 either way is nothing unusual.
PRIOR_WIDTH = 1.0
LOWEST, HIGHEST = 0.02, 50.0

Floats = npt.NDArray[np.floating[Any]]


def sharpened(P: Floats, temperature: float) -> npt.NDArray[np.float64]:
    """p_c^(1/T) / Σ_d p_d^(1/T) for every row of P, shape (n, c): softmax(log p / T).

    T below 1 makes the highest probability higher, above 1 lower; the order of the classes stays.

    Examples
    --------
    >>> sharpened(np.array([[0.8, 0.2]]), 0.5).round(3)
    array([[0.941, 0.059]])
    """
    # By the largest of the row first: a small probability to a high power would leave nothing to divide by.
    powers = (P / P.max(axis=1, keepdims=True)).astype(np.float64) ** (1 / temperature)
    result: npt.NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return result


def fit_temperature(P: Floats, labels: IntArray, prior_width: float = PRIOR_WIDTH) -> float:
    """Find the T under which the labels are most probable, and T itself is not improbable.

        min over T of  -Σ_i log softmax(log p_i / T)_{y_i} + (log T)² / (2 σ²)

    With no label T is 1; each label pulls it towards what the probabilities should have been.

    Parameters
    ----------
    P : array, shape (t, c)
        Probabilities of nodes whose labels the model did not see.
    labels : int array, shape (t,)
    prior_width : float
        σ.

    Examples
    --------
    >>> P = np.tile([0.6, 0.4], (50, 1))  # always right, and never sure
    >>> fit_temperature(P, np.zeros(50, dtype=int)) < 0.2
    True
    >>> round(fit_temperature(P[:0], np.zeros(0, dtype=int)), 3)
    1.0
    """
    if len(labels) == 0:
        return 1.0
    # A probability of zero is a claim that no temperature mends; a floor keeps one such node from deciding alone.
    log_p = np.log(np.maximum(P.astype(np.float64), 1e-6))
    rows = np.arange(len(labels))

    def surprise(log_t: float) -> float:
        scaled = log_p / np.exp(log_t)
        highest = scaled.max(axis=1)
        total = highest + np.log(np.exp(scaled - highest[:, None]).sum(axis=1))
        return float((total - scaled[rows, labels]).sum() + log_t**2 / (2 * prior_width**2))

    bounds = (np.log(LOWEST), np.log(HIGHEST))
    return float(np.exp(minimize_scalar(surprise, bounds=bounds, method="bounded", options={"xatol": 1e-6}).x))
