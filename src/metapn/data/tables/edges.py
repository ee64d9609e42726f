"""An edge table as it streams by: two int32 numbers and perhaps a weight are kept of each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.data.tables.ids import canonical, encoded, id_type, same_type
from metapn.data.tables.roles import EdgeRoles
from metapn.data.tables.source import Source, arrow, counted
from metapn.errors import InputError
from metapn.graph import FloatArray, Graph


@dataclass(frozen=True, eq=False)
class EdgeRows:
    """What an edge table holds.

    Parameters
    ----------
    ids : pyarrow array, shape (k,)
        Every id once, canonical.
    ends : two int32 arrays, shape (m,)
        Places in ``ids`` of source and target.
    weights : float array, shape (m,), or None
    """

    ids: Any
    ends: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
    weights: FloatArray | None


def read_edges(table: Source, roles: EdgeRoles) -> EdgeRows:
    """Read all rows of an edge table."""
    pa = arrow()
    # Ids are read as text, for nothing else keeps leading zeros; a file with types of its own keeps them.
    types = {roles.source: pa.dictionary(pa.int32(), pa.string())}
    types[roles.target] = types[roles.source]
    names = [roles.source, roles.target]
    if roles.weight is not None:
        types[roles.weight] = pa.float64()
        names.append(roles.weight)
    ends: list[Any] = []
    weights: list[FloatArray] = []
    n_rows, value_type = 0, None
    for block in table.blocks(names, types):
        value_type = value_type or id_type(*(column.type for column in block.columns[:2]))
        ends += [
            encoded(column, value_type, table.name, name, n_rows)
            for name, column in zip(names[:2], block.columns, strict=False)
        ]
        if roles.weight is not None:
            weights.append(_weights(block.columns[2], table.name, roles.weight, n_rows))
        n_rows += block.num_rows
    if n_rows == 0:
        raise InputError(
            f"{table.name} has a header and no rows; add edges, or leave the file out to join nearest neighbours"
        )
    chunks = pa.chunked_array(ends).unify_dictionaries().chunks
    numbers = [chunk.indices.to_numpy() for chunk in chunks]
    return EdgeRows(
        canonical(chunks[0].dictionary),
        (np.concatenate(numbers[0::2]), np.concatenate(numbers[1::2])),
        np.concatenate(weights) if weights else None,
    )


def numbered(rows: EdgeRows, ids: Any, table: Source, roles: EdgeRoles, nodes: str) -> EdgeRows:
    """Renumber the ends by the ids of the node table, every one of which must be there.

    Parameters
    ----------
    rows : EdgeRows
    ids : pyarrow array, shape (n,)
        Canonical ids of the nodes.
    table, roles : Source, EdgeRoles
        Of the edges, for the message.
    nodes : str
        What the message calls the node table.
    """
    known, named = same_type(ids, rows.ids)
    found = arrow("pyarrow.compute").index_in(named, value_set=known)
    codes = found.fill_null(-1).to_numpy().astype(np.int32, copy=False)
    ends = codes[rows.ends[0]], codes[rows.ends[1]]
    if (codes < 0).any():
        unknown = (ends[0] < 0) | (ends[1] < 0)
        row = int(unknown.argmax())
        side = 0 if ends[0][row] < 0 else 1
        name = named[int(rows.ends[side][row])].as_py()
        more = int(unknown.sum()) - 1
        others = f" (nor are ends of {counted(more, 'more row')})" if more else ""
        raise InputError(
            f"{table.name}, row {row + 1}: {name!r} in column {(roles.source, roles.target)[side]!r} is no id of "
            f"{nodes}{others}; add such nodes there, or remove these edges"
        )
    return EdgeRows(known, ends, rows.weights)


def joined(rows: EdgeRows, n_nodes: int, name: str) -> tuple[Graph, tuple[str, ...]]:
    """Make the undirected graph of the rows, and tell what became of loops, repetitions and zero weights."""
    graph = Graph.from_edges(np.column_stack(rows.ends), n_nodes, rows.weights)
    loops = rows.ends[0] == rows.ends[1]
    nothing = np.zeros(len(loops), dtype=bool) if rows.weights is None else rows.weights == 0
    n_loops, n_zero = int(loops.sum()), int((nothing & ~loops).sum())
    repeated = len(loops) - n_loops - n_zero - graph.n_edges
    rows_, edges = counted(len(loops), "row"), counted(graph.n_edges, "edge")
    notes = [f"{name}: {rows_} with {edges}, which count in both directions"]
    if n_loops:
        notes.append(f"{name}: {counted(n_loops, 'self-loop')} left out, for propagation adds one to every node")
    if repeated > 0:
        largest = "" if rows.weights is None else "; the largest of its weights holds"
        notes.append(f"{name}: {counted(repeated, 'repetition')} of an edge left out, in either direction{largest}")
    if n_zero:
        notes.append(f"{name}: {counted(n_zero, 'edge')} of weight zero left out")
    return graph, tuple(notes)


def _weights(column: Any, table: str, name: str, before: int) -> FloatArray:
    """Weights of a block in single precision; finite, and not negative."""
    pa = arrow()
    try:
        numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        raise InputError(f"{table}: the weights in column {name!r} are of type {column.type}; give numbers") from None
    with np.errstate(over="ignore"):
        weights: FloatArray = numbers.astype(np.float32)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        place = int(wrong.argmax())
        value = "missing" if column[place].as_py() is None else f"{numbers[place]:g}"
        raise InputError(
            f"{table}, row {before + place + 1}: the weight in column {name!r} is {value}; weights say how alike two "
            "nodes are, so give a finite number from 0 (no edge) upwards"
        )
    return weights
