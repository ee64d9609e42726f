"""How far every node is from the nearest label."""

from __future__ import annotations

import numpy as np

from metapn.graph import Graph, IntArray

UNREACHED = -1


def hops_to_label(graph: Graph, labelled: IntArray) -> IntArray:
    """Edges on the shortest way from each node to a labelled one, shape (n,); -1 where there is no way.

    All labelled nodes start at once (a breadth-first search from their union), so the time grows with the
    number of edges alone.

    Parameters
    ----------
    graph : Graph
    labelled : int array, shape (g,)
        Nodes that have a label.

    Examples
    --------
    >>> path = Graph.from_edges([(0, 1), (1, 2), (3, 4)], n_nodes=5)
    >>> hops_to_label(path, np.array([0])).tolist()
    [0, 1, 2, -1, -1]
    """
    # The pattern alone: weights say how alike two nodes are, not how far apart.
    indptr, indices = graph.adjacency.indptr, graph.adjacency.indices
    distance = np.full(graph.n_nodes, UNREACHED, dtype=np.int64)
    distance[labelled] = 0
    frontier, hop = np.unique(labelled), 0
    while len(frontier):
        hop += 1
        neighbours = _rows(indptr, indices, frontier)
        frontier = np.unique(neighbours[distance[neighbours] == UNREACHED])
        distance[frontier] = hop
    return distance


def _rows(indptr: IntArray, indices: IntArray, rows: IntArray) -> IntArray:
    """Column numbers of the stored entries of some rows, one row after another."""
    lengths = indptr[rows + 1] - indptr[rows]
    starts = np.repeat(indptr[rows] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    found: IntArray = indices[starts + np.arange(int(lengths.sum()))]
    return found
