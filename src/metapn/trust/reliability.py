"""Whether probabilities mean what they say: reliability bins, expected calibration error, Brier score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.graph import IntArray

BINS = 15

Floats = npt.NDArray[np.floating[Any]]
Bools = npt.NDArray[np.bool_]


def reliability(confidence: Floats, right: Bools) -> dict[str, list[Any]]:
    """Sort nodes into bins by the probability of the class that was chosen for them.

    Parameters
    ----------
    confidence : array, shape (t,)
    right : bool array, shape (t,)
        Whether that class was the true one.

    Returns
    -------
    dict
        For each of 15 bins of equal width the ``count`` of nodes, the sum of their ``confidence``, and how
        many were ``correct``. Sums, so that runs can be added up.

    Examples
    --------
    >>> reliability(np.array([0.95, 1.0, 0.5]), np.array([True, False, True]))["count"]
    [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2]
    """
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return {
        "count": np.bincount(bins, minlength=BINS).tolist(),
        "confidence": np.bincount(bins, weights=confidence, minlength=BINS).round(3).tolist(),
        "correct": np.bincount(bins[right], minlength=BINS).tolist(),
    }


def expected_calibration_error(confidence: Floats, right: Bools) -> float:
    """ECE = Σ_b (n_b / n) · |accuracy_b - mean confidence_b|, over the 15 bins b of `reliability`.

    With few nodes it is too high even for perfect probabilities: the accuracy of a bin of three nodes can
    only be 0, 1/3, 2/3 or 1. Compare it between predictions of the same nodes.

    Parameters
    ----------
    confidence : array, shape (t,)
        Probability of the chosen class.
    right : bool array, shape (t,)

    Examples
    --------
    >>> round(expected_calibration_error(np.array([0.9, 0.9, 0.6, 0.6]), np.array([True, True, True, False])), 3)
    0.1
    """
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gap = np.bincount(bins, weights=right.astype(float) - confidence, minlength=BINS)
    return float(np.abs(gap).sum() / len(confidence))


def bins_error(bins: Mapping[str, list[Any]]) -> float:
    """ECE from the sums that `reliability` keeps, of one run or of several that were added up.

    Examples
    --------
    >>> bins_error(reliability(np.array([0.75, 0.75, 0.5, 0.5]), np.array([True, True, True, False])))
    0.125
    """
    gaps = np.abs(np.array(bins["correct"]) - np.array(bins["confidence"])).sum()
    return float(gaps / sum(bins["count"]))


def brier_score(P: Floats, labels: IntArray) -> float:
    """Mean of Σ_c (p_ic - [c = y_i])²: 0 for certain and right, 2 for certain and wrong.

    Parameters
    ----------
    P : array, shape (t, c)
    labels : int array, shape (t,)
        True classes, as columns of P.

    Examples
    --------
    >>> brier_score(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0, 1]))
    0.25
    """
    truth = np.zeros(P.shape)
    truth[np.arange(len(P)), labels] = 1
    return float(((P - truth) ** 2).sum(axis=1).mean())


def scores(P: Floats, labels: IntArray) -> dict[str, float]:
    """Accuracy, mean confidence, ECE and Brier score of probabilities P (t, c) against true classes (t,)."""
    right = P.argmax(axis=1) == labels
    confidence = P.max(axis=1)
    return {
        "accuracy": float(right.mean()),
        "confidence": float(confidence.mean()),
        "ece": expected_calibration_error(confidence, right),
        "brier": brier_score(P, labels),
    }
