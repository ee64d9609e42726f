"""One number that makes probabilities bolder or more careful, from a handful of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from metapn.graph import IntArray

#: Standard deviation of log T about the agreement's, before any label is seen: with twenty hidden labels the
#: agreement decides, with some hundreds they do. Chosen on CiteSeer, on block models and on four splits of Cora-ML,
#: see docs/trust.md.
PRIOR_WIDTH = 0.2
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


def fit_temperature(P: Floats, labels: IntArray, centre: float = 1.0, width: float = PRIOR_WIDTH) -> float:
    """Find the T under which the labels are most probable, and T itself is not improbable.

        min over T of  -Σ_i log softmax(log p_i / T)_{y_i} + (log T - log T₀)² / (2 σ²)

    With no label T is T₀; each label pulls it towards what the probabilities should have been.

    Parameters
    ----------
    P : array, shape (t, c)
        Probabilities of nodes whose labels the model did not see.
    labels : int array, shape (t,)
    centre, width : float
        T₀ and σ.

    Examples
    --------
    >>> P = np.tile([0.6, 0.4], (500, 1))  # always right, and never sure
    >>> fit_temperature(P, np.zeros(500, dtype=int)) < 0.2
    True
    >>> round(fit_temperature(P[:0], np.zeros(0, dtype=int), centre=0.7), 3)
    0.7
    """
    # A probability of zero is a claim that no temperature mends; a floor keeps one such node from deciding alone.
    log_p = np.log(np.maximum(P.astype(np.float64), 1e-6))
    rows, before = np.arange(len(labels)), np.log(centre)

    def surprise(log_t: float) -> float:
        scaled = log_p / np.exp(log_t)
        highest = scaled.max(axis=1)
        total = highest + np.log(np.exp(scaled - highest[:, None]).sum(axis=1))
        return float((total - scaled[rows, labels]).sum() + (log_t - before) ** 2 / (2 * width**2))

    bounds = (np.log(LOWEST), np.log(HIGHEST))
    return float(np.exp(minimize_scalar(surprise, bounds=bounds, method="bounded", options={"xatol": 1e-6}).x))


def agreement_temperature(stack: Floats) -> float:
    """Find the T under which models that were shown other labels are as sure as they agree.

        min over T of  -Σ_{i≠j} Σ_v log softmax(log p_iv / T)_{argmax_c p_jvc}

    What one model says of a node that nobody labelled is a test of what the other says, if not as good a one
    as a label: models that differ in their labels alone agree about as often as they are right (Jiang et al.
    2022). There are thousands of such nodes, and only a handful of labels.

    Parameters
    ----------
    stack : array, shape (k, s, c)
        Probabilities of the same s nodes by k models, at least two.

    Examples
    --------
    >>> one, other = np.array([[0.6, 0.4], [0.4, 0.6]]), np.array([[0.7, 0.3], [0.2, 0.8]])
    >>> agreement_temperature(np.stack([one, other])) < 0.5  # of one mind, and never sure
    True
    """
    answers = stack.argmax(axis=2)
    pairs = [(i, j) for i in range(len(stack)) for j in range(len(stack)) if i != j]
    P = np.concatenate([stack[i] for i, _ in pairs])
    return fit_temperature(P, np.concatenate([answers[j] for _, j in pairs]), width=1.0)
