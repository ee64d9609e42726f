"""Graphs of other libraries, recognised without importing any library that is not in use.

=========================================  ==========================================================
given                                      nodes and edges
=========================================  ==========================================================
``networkx``, any of its graphs            in the order of ``graph.nodes``; attribute ``weight``
PyTorch Geometric ``Data``                 as numbered; ``edge_weight``; ``x`` and ``y`` come along
``igraph.Graph``                           as numbered; attribute ``weight``
data frame of pandas, polars, pyarrow      edges: columns source, target and perhaps weight, which
                                           number the rows of X (see `metapn.data.tables` for ids)
what `metapn.graph.as_graph` accepts       a `Graph`, a matrix or an edge list
=========================================  ==========================================================

An edge counts in both directions, one that is given several times once, with the largest of its weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from metapn.data.tables.edges import read_edges
from metapn.data.tables.frames import Frame
from metapn.data.tables.ids import canonical
from metapn.data.tables.roles import edge_roles
from metapn.data.tables.source import arrow
from metapn.errors import InputError
from metapn.graph import Graph
from metapn.graph import as_graph as _as_graph


def as_graph(graph: Any, n_nodes: int | None = None) -> Graph:
    """Make a graph of what users have.

    Parameters
    ----------
    graph : Graph, matrix, edge list, or a graph or data frame of another library
    n_nodes : int, optional
        Number of rows of X, to check against; needed for an edge list or a data frame, in which a node
        without an edge does not occur.

    Returns
    -------
    Graph

    Examples
    --------
    >>> import networkx
    >>> as_graph(networkx.path_graph(4))
    Graph(4 nodes, 3 edges)
    """
    convert = {
        "networkx": _of_networkx,
        "torch_geometric": _of_geometric,
        "igraph": _of_igraph,
        "pandas": _of_frame,
        "polars": _of_frame,
        "pyarrow": _of_frame,
    }.get(_library(graph))
    if convert is not None:
        graph = convert(graph, n_nodes)
    elif n_nodes is None:
        if isinstance(graph, Graph):
            n_nodes = graph.n_nodes
        elif sparse.issparse(graph):
            n_nodes = graph.shape[0]
        else:
            raise InputError("an edge list does not say how many nodes there are; give n_nodes")
    return graph if n_nodes is None else _as_graph(graph, n_nodes)


def _library(graph: Any) -> str:
    """Name of the library that a class comes from: of itself, or of one that it extends."""
    known = ("networkx", "torch_geometric", "igraph", "pandas", "polars", "pyarrow")
    return next((root for kind in type(graph).__mro__ if (root := kind.__module__.partition(".")[0]) in known), "")


def _of_networkx(graph: Any, n_nodes: int | None) -> Graph:
    number = {node: place for place, node in enumerate(graph.nodes)}
    edges = [(number[one], number[other]) for one, other in graph.edges()]
    weights = [weight for _, _, weight in graph.edges(data="weight", default=1)]
    return _joined(edges, weights, len(number))


def _of_igraph(graph: Any, n_nodes: int | None) -> Graph:
    weights = graph.es["weight"] if graph.is_weighted() else None
    return _joined(graph.get_edgelist(), weights, graph.vcount())


def _of_geometric(graph: Any, n_nodes: int | None) -> Graph:
    """Features and labels come along; labels of several columns, or quantities, are no classes and do not."""
    if getattr(graph, "edge_index", None) is None:
        raise InputError(
            f"a {type(graph).__name__} without edge_index cannot be read; give a Data of one kind of nodes"
        )
    labels, features = graph.y, graph.x
    if labels is not None and (labels.dim() != 1 or labels.is_floating_point() or len(labels) != graph.num_nodes):
        labels = None
    return _joined(
        graph.edge_index.cpu().numpy().T,
        None if graph.edge_weight is None else graph.edge_weight.cpu().numpy(),
        int(graph.num_nodes),
        features=None if features is None else features.detach().cpu().numpy(),
        labels=None if labels is None else labels.cpu().numpy().astype(np.int64),
    )


def _of_frame(frame: Any, n_nodes: int | None) -> Graph:
    table = Frame.of(frame, "the edge table")
    roles = edge_roles(table, None, None, None)
    rows = read_edges(table, roles)
    if n_nodes is None:
        raise InputError("an edge table does not say how many nodes there are; give n_nodes")
    ids = canonical(rows.ids)
    if not arrow().types.is_integer(ids.type):
        raise InputError(
            "the edge table names nodes by text, but X has rows only; number the nodes by their row in X, or read "
            "both tables with metapn.data.tables.read_tables"
        )
    numbers = ids.to_numpy()
    return _joined(np.column_stack([numbers[end] for end in rows.ends]), rows.weights, n_nodes)


def _joined(edges: Any, weights: Any, n_nodes: int, **more: Any) -> Graph:
    return Graph.from_edges(np.asarray(edges, dtype=np.int64).reshape(-1, 2), n_nodes, weights, **more)
