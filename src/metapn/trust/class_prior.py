"""What is known of the shares of the classes, put into the probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.errors import InputError

Floats = npt.NDArray[np.floating[Any]]


def prior_weights(P: Floats, prior: Floats, *, tolerance: float = 1e-5, most: int = 500) -> npt.NDArray[np.float64]:
    """Find weights w, shape (c,), under which the mean probability of each class is its share π.

        p'_ic = p_ic w_c / Σ_d p_id w_d,   mean_i p'_ic = π_c

    Saerens, Latinne and Decaestecker (2002) weigh by w = π / mean_i p_i; that is the first step here, and
    it is repeated until the means are the shares. Of all probabilities with these means, p' is nearest to p.

    Parameters
    ----------
    P : array, shape (n, c)
    prior : array, shape (c,)
        π, above 0, of sum 1.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> w = prior_weights(P, np.array([0.3, 0.7]))
    >>> reweighted(P, w).mean(axis=0).round(3)
    array([0.3, 0.7])
    """
    weights = np.ones(P.shape[1])
    for _ in range(most):
        mean = reweighted(P, weights).mean(axis=0)
        if np.abs(mean - prior).max() < tolerance:
            break
        weights *= prior / np.maximum(mean, 1e-300)
        weights /= weights.sum()
    return weights


def reweighted(P: Floats, weights: Floats) -> npt.NDArray[np.float64]:
    """p_ic w_c / Σ_d p_id w_d for every row, shape (n, c)."""
    scaled = P.astype(np.float64) * weights
    result: npt.NDArray[np.float64] = scaled / scaled.sum(axis=1, keepdims=True)
    return result


def checked_prior(prior: Mapping[Any, float], classes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the shares as an array, shape (c,), in the order of the classes, or say what is wrong with them.

    Classes may be given by their name even where they are numbers: on a command line all is text.

    Examples
    --------
    >>> checked_prior({"b": 0.7, "a": 0.3}, np.array(["a", "b"]))
    array([0.3, 0.7])
    """
    given = {str(name): share for name, share in prior.items()}
    names = [str(name) for name in classes.tolist()]
    if sorted(given) != sorted(names):
        unknown, missing = sorted(set(given) - set(names)), sorted(set(names) - set(given))
        what = f"{unknown[0]!r} is not a class" if unknown else f"{missing[0]!r} has no share"
        raise InputError(
            f"the class prior is wrong: {what}; give a share for each of {', '.join(names[:10])}, such as "
            f"{','.join(f'{name}={1 / len(names):.2g}' for name in names[:3])}"
        )
    shares = np.array([given[name] for name in names], dtype=np.float64)
    if not (np.isfinite(shares).all() and (shares > 0).all() and abs(shares.sum() - 1) < 0.01):
        raise InputError(
            f"the shares of the class prior are {', '.join(f'{share:g}' for share in shares)}, together "
            f"{shares.sum():g}; give numbers above 0 whose sum is 1"
        )
    result: npt.NDArray[np.float64] = shares / shares.sum()
    return result
