"""A node table: ids, labels, and the columns that will be features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.data.tables.delimited import MISSING
from metapn.data.tables.ids import canonical, encoded, id_type
from metapn.data.tables.labels import Labels, read_labels
from metapn.data.tables.roles import NodeRoles
from metapn.data.tables.source import Source, Types, arrow, counted
from metapn.errors import InputError


@dataclass(frozen=True, eq=False)
class NodeRows:
    """What a node table holds, each id once.

    Parameters
    ----------
    ids : pyarrow array, shape (n,)
        Canonical ids.
    columns : pyarrow table, n rows
        The feature columns.
    labels : object array, shape (n,), or None
        None where a node has no label.
    notes : tuple of str
    """

    ids: Any
    columns: Any
    labels: Labels | None
    notes: tuple[str, ...]


def read_nodes(table: Source, roles: NodeRoles, types: Types | None = None) -> NodeRows:
    """Read all rows of a node table; a row that stands there twice counts once, unless the two differ."""
    pa = arrow()
    names = [name for name in (roles.id, roles.label, *roles.features) if name is not None]
    asked = dict(types or {})
    if roles.id is not None:
        asked[roles.id] = pa.dictionary(pa.int32(), pa.string())
    content = table.table(list(dict.fromkeys(names)), asked)
    if content.num_rows == 0:
        raise InputError(f"{table.name} has a header and no rows; add a row for each node")
    notes: tuple[str, ...] = ()
    if roles.id is None:
        ids = pa.array(np.arange(content.num_rows))
    else:
        ids, first = _ids(content[roles.id].combine_chunks(), table.name, roles.id)
        if len(first) < content.num_rows:
            _check_repeated(content, ids, first, table.name)
            notes = (
                f"{table.name}: {counted(content.num_rows - len(first), 'row')} left out that repeat another one",
            )
            content, ids = content.take(pa.array(first)), ids.take(pa.array(first))
    labels = (
        None if roles.label is None else read_labels(content[roles.label], f"{table.name}, column {roles.label!r}")
    )
    return NodeRows(ids, without_missing_words(content.select(list(roles.features))), labels, notes)


def without_missing_words(columns: Any) -> Any:
    """Replace the words for a missing value (NA, null, ...) in columns of text by missing values."""
    pa, compute = arrow(), arrow("pyarrow.compute")
    words = pa.array(MISSING)
    for place, field in enumerate(columns.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            column = columns[field.name]
            missing = compute.is_in(column, value_set=words.cast(field.type))
            if compute.any(missing).as_py():
                columns = columns.set_column(place, field.name, compute.if_else(missing, None, column))
    return columns


def _ids(column: Any, name: str, column_name: str) -> tuple[Any, Any]:
    """Canonical ids of all rows, and the rows in which each id occurs first."""
    codes = encoded(column, id_type(column.type), name, column_name)
    places = codes.indices.to_numpy()
    return canonical(codes.dictionary).take(codes.indices), np.unique(places, return_index=True)[1]


def _check_repeated(content: Any, ids: Any, first: Any, name: str) -> None:
    """Refuse rows of one id that are not the same in everything."""
    seen = np.zeros(content.num_rows, dtype=bool)
    seen[first] = True
    again = np.flatnonzero(~seen)
    earlier = first[ids.dictionary_encode().indices.to_numpy()[again]]
    for column in content.column_names:
        other = ~_same(content[column].take(earlier), content[column].take(again))
        if other.any():
            row, before = int(again[other.argmax()]), int(earlier[other.argmax()])
            raise InputError(
                f"{name}, row {row + 1}: the id {ids[row].as_py()!r} was in row {before + 1} already, with another "
                f"{column!r}; keep one of the two rows"
            )


def _same(one: Any, other: Any) -> npt.NDArray[np.bool_]:
    """Whether values are the same, shape (k,); missing ones are, and so are two NaN."""
    pa = arrow()
    if pa.types.is_nested(one.type):
        return np.array([str(a) == str(b) for a, b in zip(one, other, strict=True)], dtype=bool)
    both = pa.chunked_array([*one.chunks, *other.chunks], one.type).combine_chunks()
    both = both.cast(one.type.value_type) if pa.types.is_dictionary(one.type) else both
    codes = both.dictionary_encode(null_encoding="encode").indices.to_numpy()
    same: npt.NDArray[np.bool_] = codes[: len(one)] == codes[len(one) :]
    return same
