"""Edges and nodes, from wherever they come, made one graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from metapn.data.tables.edges import joined, numbered, read_edges
from metapn.data.tables.graphml import read_graphml
from metapn.data.tables.labels import Labels, codes_and_names
from metapn.data.tables.matrices import npz_edges, npz_tables
from metapn.data.tables.nodes import NodeRows, read_nodes
from metapn.data.tables.open import kind_of, open_table
from metapn.data.tables.roles import edge_roles, node_roles
from metapn.data.tables.source import Source, arrow
from metapn.data.tables.tables import Tables
from metapn.errors import InputError
from metapn.graph import Graph


def read_tables(
    edges: Any = None,
    nodes: Any = None,
    *,
    id: str | None = None,
    label: str | None = None,
    features: Sequence[str] | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
) -> Tables:
    """Read a graph from an edge table, a node table, or both.

    Parameters
    ----------
    edges : path or data frame, optional
        A row for each edge, or a file with the whole graph (.npz, .graphml). Without it nodes are to be joined to
        their nearest neighbours.
    nodes : path or data frame, optional
        A row for each node. Without it the nodes are those that edges name, in the order of their ids.
    id, label : str, optional
        Columns of the node table; by default those with a usual name.
    features : sequence of str, optional
        Columns of the node table; by default all but id and label.
    source, target, weight : str, optional
        Columns of the edge table; by default those with a usual name, or the first two.

    Returns
    -------
    Tables
    """
    if edges is None and nodes is None:
        raise InputError(
            "there is nothing to read; give an edge table with --edges, a node table with --nodes, or both"
        )
    whole = kind_of(Path(edges)) if isinstance(edges, str | Path) else ""
    if nodes is None and whole != ".graphml" and (id, label, features) != (None, None, None):
        raise InputError("--id, --label and --features name columns of a node table; give one with --nodes")
    if (edges is None or whole == ".npz") and (source, target, weight) != (None, None, None):
        raise InputError("--source, --target and --weight name columns of an edge table; give one with --edges")
    if whole == ".npz" and nodes is None:
        return npz_tables(Path(edges))
    edge_table, node_table = _opened(edges, nodes, whole)
    found, notes = None, []
    if node_table is not None:
        roles = node_roles(node_table, id, label, features, joined=edge_table is not None)
        found = read_nodes(node_table, roles)
        notes = [*node_table.notes, roles.note, *found.notes]
    if edge_table is None:
        assert found is not None and node_table is not None
        return _tables(Graph(sparse.csr_array((len(found.ids),) * 2)), found, notes, node_table, has_edges=False)
    return _with_edges(edge_table, node_table, found, notes, (source, target, weight))


def _opened(edges: Any, nodes: Any, whole: str) -> tuple[Source | None, Source | None]:
    """Open the tables of edges and of nodes; a graph in one file has both."""
    node_table = None if nodes is None else open_table(nodes, "the node table")
    if whole == ".graphml":
        edge_table, described = read_graphml(Path(edges))
        return (edge_table if edge_table.content.num_rows else None), node_table or described
    if whole == ".npz":
        return npz_edges(Path(edges)), node_table
    return None if edges is None else open_table(edges, "the edge table"), node_table


def _with_edges(
    edge_table: Source,
    node_table: Source | None,
    found: NodeRows | None,
    notes: list[str],
    names: tuple[str | None, str | None, str | None],
) -> Tables:
    roles = edge_roles(edge_table, *names)
    rows = read_edges(edge_table, roles)
    if found is None:
        pa = arrow()
        ids = rows.ids.take(arrow("pyarrow.compute").array_sort_indices(rows.ids))
        found = NodeRows(ids, pa.table({"_": ids}).select([]), None, ())
    rows = numbered(rows, found.ids, edge_table, roles, node_table.name if node_table else edge_table.name)
    found = NodeRows(rows.ids, found.columns, found.labels, found.notes)
    graph, what_was_done = joined(rows, len(found.ids), edge_table.name)
    notes = [*notes, *edge_table.notes, roles.note, *what_was_done]
    alone = int((np.diff(graph.adjacency.indptr) == 0).sum())
    if alone:
        notes.append(f"{alone:,} of {graph.n_nodes:,} nodes have no edge")
    return _tables(graph, found, notes, node_table or edge_table, has_edges=True)


def _tables(graph: Graph, found: NodeRows, notes: list[str], table: Source, *, has_edges: bool) -> Tables:
    labels: Labels | None = found.labels
    if labels is not None:
        codes, class_names = codes_and_names(labels)
        graph = Graph(graph.adjacency, labels=codes, class_names=class_names, name=Path(table.name).stem)
    return Tables(graph, found.ids, found.columns, labels, tuple(notes), table.name, has_edges)
