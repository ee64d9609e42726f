"""What kind of thing a column holds, and whether anything can be learnt from it."""

from __future__ import annotations

from typing import Any

from metapn.errors import InputError

KINDS = ("numeric", "count", "boolean", "category", "text", "date", "vector", "drop")

#: A column of text with more different values than this share of its rows names the rows.
_ID_SHARE = 0.95
#: Few rows may well differ by chance.
_FEW_ROWS = 20
_WORDS_OF_TEXT = 3.0
#: As many columns, each zero in this share of its rows, are a bag of words, with those zero in a smaller share.
_MANY_COUNTS, _ZERO_SHARE, _LEAST_ZERO_SHARE = 100, 0.75, 0.3


def recognise(column: Any) -> tuple[str, str]:
    """Kind of a column, and why it is dropped if it is.

    Parameters
    ----------
    column : pyarrow array, shape (n,)

    Returns
    -------
    kind, reason : str
    """
    import pyarrow as pa
    import pyarrow.compute as compute

    kind = column.type
    n_known = len(column) - column.null_count
    if n_known == 0:
        return "drop", "it holds no value"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        numeric = pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type)
        return ("vector", "") if numeric else ("drop", f"there are no features for the type {kind}")
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
        if is_text(kind):
            return _distinct(column, "category")
    if pa.types.is_boolean(kind):
        return _distinct(column, "boolean")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _numbers(column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return _distinct(column, "date")
    if not is_text(kind):
        return "drop", f"there are no features for the type {kind}"
    values = column.cast(pa.string())
    different = int(compute.count_distinct(values).as_py())
    if different == 1:
        return "drop", "all its values are the same"
    words = float(compute.mean(compute.count_substring_regex(values, r"\w+")).as_py())
    if words >= _WORDS_OF_TEXT and different > 2:
        return "text", ""
    if n_known >= _FEW_ROWS and different >= _ID_SHARE * n_known:
        return "drop", f"{different:,} of {n_known:,} values are different, so it names rows and says nothing of them"
    return "category", ""


def counts_among(columns: Any, names: list[str]) -> list[str]:
    """Names of the columns that make up a bag of words: numbers from 0 upwards, 0 in most rows of a hundred of them.

    In a text some words are frequent, so zero need not be that frequent in all of them.
    """
    import pyarrow as pa
    import pyarrow.compute as compute

    shares = {}
    for name in names:
        kind, column = columns.schema.field(name).type, columns[name]
        if len(column) == 0 or column.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            continue
        if compute.min(column).as_py() >= 0:
            shares[name] = (compute.sum(compute.equal(column, 0)).as_py() or 0) / len(column)
    rare = [name for name, share in shares.items() if share >= _ZERO_SHARE]
    return [name for name, share in shares.items() if share >= _LEAST_ZERO_SHARE] if len(rare) >= _MANY_COUNTS else []


def check_kinds(kinds: dict[str, str], names: list[str]) -> None:
    """Refuse kinds that there are not, and columns that there are not."""
    for name, kind in kinds.items():
        if name not in names:
            raise InputError(f"there is no column {name!r} to take as {kind}; the columns are {', '.join(names)}")
        if kind not in KINDS:
            raise InputError(f"column {name!r} cannot be taken as {kind!r}; the kinds are {', '.join(KINDS)}")


def is_text(kind: Any) -> bool:
    """Whether a pyarrow type is one of those of text."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _distinct(column: Any, kind: str) -> tuple[str, str]:
    import pyarrow.compute as compute

    if compute.count_distinct(column).as_py() == 1 and column.null_count == 0:
        return "drop", "all its values are the same"
    return kind, ""


def _numbers(column: Any) -> tuple[str, str]:
    import pyarrow as pa
    import pyarrow.compute as compute

    ends = compute.min_max(column).as_py()
    low, high = ends["min"], ends["max"]
    n_known = len(column) - column.null_count
    if low == high:
        return "drop", "all its values are the same"
    if (low, high) == (0, 1) and compute.count_distinct(column.drop_null()).as_py() == 2:
        return "boolean", ""
    counting = pa.types.is_integer(column.type) and n_known >= _FEW_ROWS and high - low == n_known - 1
    if counting and compute.count_distinct(column, mode="only_valid").as_py() == n_known:
        return "drop", f"it numbers the rows from {low:,} to {high:,}"
    return "numeric", ""
