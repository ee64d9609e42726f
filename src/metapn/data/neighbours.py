"""A graph for data that has none: every row is joined to the rows most like it."""

from __future__ import annotations

from typing import Any

import numpy as np

from metapn.errors import InputError
from metapn.graph import Graph

_SIGHT = 32


def nearest_neighbour_graph(X: Any, n_neighbors: int = 10) -> Graph:
    """Join each row to its nearest rows: A_ij = 1 where i is a neighbour of j, or j of i.

    Of rows at the same distance those that come first are taken, so that the graph does not depend on the
    machine. With many columns every pair of rows is compared: n² f operations, in little memory.

    Parameters
    ----------
    X : array or sparse array, shape (n, f)
    n_neighbors : int
        Neighbours by Euclidean distance; all other rows where there are fewer.

    Returns
    -------
    Graph
        n nodes, weights one, without features.

    Examples
    --------
    >>> nearest_neighbour_graph([[0.0], [1.0], [5.0]], n_neighbors=1).adjacency.toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    from sklearn.neighbors import NearestNeighbors
    from sklearn.utils import check_array

    X = check_array(X, accept_sparse="csr")
    n_nodes = X.shape[0]
    if n_neighbors < 1:
        raise InputError(f"n_neighbors is {n_neighbors}; join each row to at least one other")
    kept = min(n_neighbors, n_nodes - 1)
    if kept == 0:
        return Graph.from_edges([], n_nodes)
    index = NearestNeighbors().fit(X)
    asked = min(2 * kept, n_nodes - 1)
    distances, neighbours = index.kneighbors(n_neighbors=asked)
    # Where as many rows tie, the first of them may be out of sight: look further, but not without end.
    while asked < min(_SIGHT * kept, n_nodes - 1) and (distances[:, kept - 1] == distances[:, -1]).any():
        asked = min(2 * asked, n_nodes - 1)
        distances, neighbours = index.kneighbors(n_neighbors=asked)
    nearest = np.lexsort((neighbours, distances), axis=1)[:, :kept]
    ends = np.take_along_axis(neighbours, nearest, axis=1).ravel()
    return Graph.from_edges(np.column_stack([np.repeat(np.arange(n_nodes), kept), ends]), n_nodes)
