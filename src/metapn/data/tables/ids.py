"""Ids of any kind, and the numbers 0 to n - 1 that stand for them.

Ids are whole numbers (int64) if every one of them is written as one, without leading zeros; otherwise they are
text, as written. So 7 in a Parquet file and "7" in a CSV file are the same node, and "007" is another.
"""

from __future__ import annotations

from typing import Any

from metapn.data.tables.source import arrow
from metapn.errors import InputError

_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


def canonical(values: Any, where: str) -> Any:
    """Turn an array of distinct ids into int64 if all are whole numbers, else into strings.

    Parameters
    ----------
    values : pyarrow array, shape (k,)
        No value is missing.
    where : str
        For the message when there can be no ids of this type.
    """
    pa, compute = arrow(), arrow("pyarrow.compute")
    kind = values.type
    if pa.types.is_nested(kind):
        raise InputError(f"{where} holds values of type {kind}, which name no node; name a column of text or numbers")
    try:
        if pa.types.is_integer(kind):
            return values.cast(pa.int64())
        if pa.types.is_floating(kind):
            return values.cast(pa.int64())
        text = values.cast(pa.string())
        if pa.types.is_string(text.type) and compute.all(compute.match_substring_regex(text, _WHOLE)).as_py():
            return text.cast(pa.int64())
        return text
    except pa.ArrowInvalid:
        return values.cast(pa.string())
    except pa.ArrowNotImplementedError:
        raise InputError(
            f"{where} holds values of type {kind}, which name no node; name a column of text or numbers"
        ) from None


def same_type(one: Any, other: Any) -> tuple[Any, Any]:
    """Make two arrays of canonical ids comparable: both text if one of them is."""
    pa = arrow()
    if one.type == other.type:
        return one, other
    return one.cast(pa.string()), other.cast(pa.string())


def encoded(column: Any, value_type: Any) -> Any:
    """Dictionary-encode an array or chunk, so that each id is kept once in a block."""
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        return column.cast(pa.dictionary(pa.int32(), value_type))
    return column.cast(value_type).dictionary_encode()


def first_missing(column: Any) -> int | None:
    """Place of the first value that is null, NaN or empty, in a dictionary-encoded array; None if all are there."""
    pa, compute = arrow(), arrow("pyarrow.compute")
    values = column.dictionary
    empty = pa.scalar("", values.type) if pa.types.is_string(values.type) else None
    if pa.types.is_floating(values.type):
        blank = compute.is_nan(values)
    elif empty is not None:
        blank = compute.equal(values, empty)
    else:
        blank = pa.nulls(len(values), pa.bool_()).fill_null(False)
    if column.null_count == 0 and not compute.any(blank.fill_null(True)).as_py():
        return None
    wrong = compute.take(blank, column.indices).fill_null(True)
    place = compute.index(wrong, True).as_py()
    return None if place < 0 else int(place)
