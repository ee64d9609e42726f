"""Ids of any kind, and the numbers 0 to n - 1 that stand for them.

Ids are whole numbers (int64) if every one of them is written as one, without leading zeros; otherwise they are
text, as written. So 7 in a Parquet file and "7" in a CSV file are the same node, and "007" is another.
"""

from __future__ import annotations

from typing import Any

from metapn.data.tables.source import arrow
from metapn.errors import InputError

_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


def id_type(*types: Any) -> Any:
    """Type in which ids from columns of these types are compared: int64 if all are numbers, else string."""
    pa = arrow()
    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in types]
    # uint64 holds hashes that int64 does not.
    whole = [pa.types.is_integer(kind) and not pa.types.is_uint64(kind) for kind in plain]
    if all(one or pa.types.is_floating(kind) for one, kind in zip(whole, plain, strict=True)):
        return pa.int64()
    return pa.string()


def encoded(column: Any, kind: Any, where: str, name: str, before: int = 0) -> Any:
    """Dictionary-encode a column of ids, all of which must be there, so that each is kept once in a block.

    Parameters
    ----------
    column : pyarrow array, shape (b,)
    kind : pyarrow type
        What `id_type` says.
    where, name : str
        Table and column, for messages.
    before : int
        Number of rows before this block.
    """
    pa, compute = arrow(), arrow("pyarrow.compute")
    plain = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_floating(plain):
        column = compute.if_else(compute.is_nan(column), None, column)
    try:
        codes = column.cast(pa.dictionary(pa.int32(), kind)) if plain != column.type else column.cast(kind)
        codes = codes if plain != column.type else codes.dictionary_encode()
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{where}: column {name!r} holds what is no id ({str(error).splitlines()[0]}); name a column of whole "
            "numbers or text"
        ) from None
    except pa.ArrowException:
        raise InputError(
            f"{where}: column {name!r} holds values of type {plain}, which name no node; name a column of text or "
            "whole numbers"
        ) from None
    if codes.null_count or pa.types.is_string(kind):
        _check(codes, where, name, before)
    return codes


def canonical(values: Any) -> Any:
    """Turn an array of distinct ids into int64 if all are whole numbers, else leave them strings.

    Parameters
    ----------
    values : pyarrow array, shape (k,)
        Of int64 or strings.
    """
    pa, compute = arrow(), arrow("pyarrow.compute")
    if pa.types.is_string(values.type) and compute.all(compute.match_substring_regex(values, _WHOLE)).as_py():
        return values.cast(pa.int64())
    return values


def same_type(one: Any, other: Any) -> tuple[Any, Any]:
    """Make two arrays of canonical ids comparable: both text if one of them is."""
    pa = arrow()
    if one.type == other.type:
        return one, other
    return one.cast(pa.string()), other.cast(pa.string())


def _check(codes: Any, where: str, name: str, before: int) -> None:
    """Refuse ids that are missing, empty, or of more than one line: then a quotation mark does not end."""
    compute = arrow("pyarrow.compute")
    text = codes.dictionary.cast(arrow().string())
    for wrong, words in (
        (compute.equal(text, ""), "holds no id; fill it in, or remove the row"),
        (compute.match_substring(text, "\n"), "holds an id of more than one line; close its quotation mark"),
    ):
        if codes.null_count or compute.any(wrong).as_py():
            place = compute.index(compute.take(wrong, codes.indices).fill_null(True), True).as_py()
            raise InputError(f"{where}, row {before + place + 1}: column {name!r} {words}")
