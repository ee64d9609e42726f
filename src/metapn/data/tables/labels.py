"""The label column of a node table: whole numbers, text or truth values, many of them missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.data.tables.delimited import MISSING
from metapn.data.tables.source import arrow
from metapn.errors import InputError
from metapn.graph import IntArray

Labels = npt.NDArray[np.object_]


def read_labels(column: Any, where: str) -> Labels:
    """Turn a column into labels, shape (n,), None where a node has none (empty, NA, NaN; -1 among numbers)."""
    pa, compute = arrow(), arrow("pyarrow.compute")
    column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        whole = np.isnan(numbers) | (np.isfinite(numbers) & (numbers == np.floor(numbers)))
        if not whole.all():
            row = int((~whole).argmax())
            raise InputError(
                f"{where}, row {row + 1}: the label is {numbers[row]:g}; classes are whole numbers or text, and a "
                "quantity cannot be learnt"
            )
        column = pa.array(numbers, from_pandas=True).cast(pa.int64(), safe=False)
        kind = column.type
    if pa.types.is_integer(kind):
        column = compute.if_else(compute.equal(column, -1), None, column)
    elif not pa.types.is_boolean(kind) and not pa.types.is_null(kind):
        column = _text(column, where)
        row = compute.index(compute.match_substring(column, "\n"), True).as_py()
        if row >= 0:
            raise InputError(f"{where}, row {row + 1}: the label has more than one line; close its quotation mark")
        column = compute.if_else(compute.is_in(column, value_set=pa.array(MISSING)), None, column)
    labels = np.empty(len(column), dtype=object)
    labels[:] = column.to_pylist()
    return labels


def codes_and_names(labels: Labels) -> tuple[IntArray, tuple[str, ...]]:
    """Class numbers of the labels, shape (n,), -1 where there is none, and the names of the classes in order.

    Examples
    --------
    >>> codes_and_names(np.array(["b", None, "a"], dtype=object))
    (array([ 1, -1,  0]), ('a', 'b'))
    """
    known = np.array([label is not None for label in labels], dtype=bool)
    codes = np.full(len(labels), -1, dtype=np.int64)
    classes, codes[known] = np.unique(np.array(labels[known].tolist()), return_inverse=True)
    return codes, tuple(str(name) for name in classes.tolist())


def _text(column: Any, where: str) -> Any:
    pa, compute = arrow(), arrow("pyarrow.compute")
    try:
        return compute.utf8_trim_whitespace(column.cast(pa.string()))
    except pa.ArrowException:
        raise InputError(f"{where} holds labels of type {column.type}; give text or whole numbers") from None
