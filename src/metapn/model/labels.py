"""Labels as users have them, turned into class indices and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d

from metapn.errors import InputError
from metapn.graph import IntArray

UNLABELLED = -1


def encode_labels(y: Any) -> tuple[IntArray, npt.NDArray[Any]]:
    """Split labels into class indices and classes.

    Parameters
    ----------
    y : array-like, shape (n,)
        -1 is unlabelled where labels are numbers; None or NaN is unlabelled everywhere.

    Returns
    -------
    codes : int array, shape (n,)
        Index into ``classes``, or -1.
    classes : array, shape (c,)
        The sorted labels that occur, at least two.

    Examples
    --------
    >>> codes, classes = encode_labels(["cat", None, "dog", "cat"])
    >>> codes.tolist(), classes.tolist()
    ([0, -1, 1, 0], ['cat', 'dog'])
    """
    labels = column_or_1d(_as_array(y, "y"), warn=True)
    known = ~_missing(labels)
    if not known.any():
        raise InputError(
            "y holds no label (all of it is -1, None or NaN); label at least one node of each of two classes"
        )
    values = labels[known]
    if values.dtype == object:
        values = _common_type(values)
    if values.dtype.kind == "f":
        fractional = ~np.isfinite(values) | (values != np.floor(values))
        if fractional.any():
            raise InputError(
                f"Unknown label type: y holds {values[fractional][0]}, which is no class; "
                "give whole numbers or strings (this is a classifier, not a regressor)"
            )
    classes, codes_of_known = np.unique(values, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"y names only one class ({classes[0]}), so there is nothing to tell apart; "
            "label at least one node of a second class"
        )
    codes = np.full(len(labels), UNLABELLED, dtype=np.int64)
    codes[known] = codes_of_known
    return codes, classes


def codes_of(labels: Any, classes: npt.NDArray[Any], what: str) -> IntArray:
    """Indices of given labels among known classes, shape (m,)."""
    values = column_or_1d(_as_array(labels, what)).tolist()
    index = {label: code for code, label in enumerate(classes.tolist())}
    codes = np.array([index.get(label, UNLABELLED) for label in values], dtype=np.int64)
    if (codes == UNLABELLED).any():
        raise InputError(
            f"{what} holds the label {values[int(codes.argmin())]!r}, which no labelled node in y has; "
            f"the classes are {', '.join(map(str, classes[:10]))}"
        )
    return codes


def _as_array(y: Any, what: str) -> npt.NDArray[Any]:
    if y is None:
        raise InputError(
            f"This estimator requires y to be passed, but the target {what} is None; give -1 for unlabelled nodes"
        )
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    array = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if array.ndim != 1 and array.shape[1:] != (1,):
        raise InputError(f"{what} should be a 1d array, got an array of shape {array.shape}; give one label a node")
    if array.dtype == object and array.size and array.ndim == 1:
        # A list of plain numbers is a numeric array; one with strings or None stays as it is.
        plain = np.array([v for v in array if not _is_missing(v)] or [0])
        if plain.dtype.kind in "iufb" and not any(_is_missing(v) for v in array):
            return plain
    return array


def _missing(labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        return np.asarray(np.isnan(labels) | (labels == UNLABELLED), dtype=bool)
    if labels.dtype.kind in "iu":
        return np.asarray(labels == UNLABELLED)
    if labels.dtype == object:
        number = int | float | np.number
        return np.array([_is_missing(v) or (isinstance(v, number) and v == UNLABELLED) for v in labels], dtype=bool)
    return np.zeros(len(labels), dtype=bool)


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return bool(np.ndim(value) == 0 and value != value)


def _common_type(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    kinds = {str if isinstance(v, str) else type(v) for v in values}
    if str in kinds and len(kinds) > 1:
        other = next(v for v in values if not isinstance(v, str))
        raise InputError(
            f"y mixes strings with other types (such as {other!r}), which cannot be ordered; give labels of one type"
        )
    return np.array(values.tolist())
