"""Rows of a node table a block at a time, for predictions on tables of any length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from metapn.data.tables.ids import encoded, id_type
from metapn.data.tables.nodes import without_missing_words
from metapn.data.tables.open import open_table
from metapn.data.tables.roles import IDS
from metapn.data.tables.source import arrow, check_known, listed
from metapn.errors import InputError


def node_blocks(nodes: str | Path, types: Mapping[str, Any], *, id: str | None = None) -> Iterator[tuple[Any, Any]]:
    """Yield ids and feature columns of a node table as it streams by.

    Parameters
    ----------
    nodes : path
    types : mapping of str to pyarrow type
        The columns to read, and what they are read as where the file does not say: `ColumnEncoder.types_`.
    id : str, optional
        Else a column with one of the usual names, else the number of the row from 0.

    Yields
    ------
    ids : pyarrow array, shape (b,)
        As written: text from a text file, for one block does not know what the next will bring.
    columns : pyarrow table, b rows
    """
    table = open_table(nodes, "the node table")
    missing = [name for name in types if name not in table.columns]
    if missing:
        raise InputError(
            f"{table.name} lacks the column{'s' if len(missing) > 1 else ''} {listed(missing)}, which the model "
            f"learnt from; it has {listed(table.columns)}"
        )
    if id is not None:
        check_known(table, id, "--id")
    lower = {name.strip().lower(): name for name in reversed(table.columns) if name not in types}
    chosen = id or next((lower[name] for name in IDS if name in lower), None)
    names = list(dict.fromkeys([*([chosen] if chosen else []), *types]))
    pa, n_rows = arrow(), 0
    asked = dict(types) | ({chosen: pa.string()} if chosen else {})
    for batch in table.blocks(names or list(table.columns[:1]), asked):
        block = pa.Table.from_batches([batch])
        if chosen is None:
            ids = pa.array(np.arange(n_rows, n_rows + block.num_rows))
        else:
            column = block[chosen].combine_chunks()
            codes = encoded(column, id_type(column.type), table.name, chosen, n_rows)
            ids = codes.dictionary.take(codes.indices)
        n_rows += block.num_rows
        yield ids, without_missing_words(block.select(list(types)))
    if n_rows == 0:
        raise InputError(f"{table.name} has a header and no rows; add a row for each node")
