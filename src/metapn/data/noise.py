"""Graphs made worse on purpose, to see what a method does about it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from metapn.data.random_edges import distinct
from metapn.errors import InputError
from metapn.graph import Graph, IntArray


def with_random_edges(graph: Graph, share: float, seed: int = 0) -> Graph:
    """Join random pairs of nodes besides: share · m more edges of weight one, none of which was there.

    Parameters
    ----------
    graph : Graph
    share : float
        Of the edges that there are: with 1 half of the edges of the result mean nothing. A graph without
        room for so many gets as many as there is room for.
    seed : int
        The same seed gives the same edges.

    Examples
    --------
    >>> from metapn.data.synthetic import contextual_sbm
    >>> with_random_edges(contextual_sbm(n_nodes=500), 0.5)
    Graph(sbm-500: 500 nodes, 3,750 edges, 16 features, 4 classes)
    """
    if not 0 <= share < np.inf:
        raise InputError(f"the share of random edges is {share}; give a number from 0 upwards")
    n, random = graph.n_nodes, np.random.default_rng(seed)
    there = sparse.triu(graph.adjacency).tocoo()
    taken = there.row.astype(np.int64) * n + there.col

    def draw(count: int) -> IntArray:
        ends = random.integers(n, size=(2, count))
        low, high = ends.min(axis=0), ends.max(axis=0)
        keys: IntArray = (low * n + high)[low < high]
        return keys[~np.isin(keys, taken)]

    low, high = np.divmod(distinct(draw, round(share * graph.n_edges)), n)
    more = sparse.coo_array((np.ones(len(low), np.float32), (low, high)), shape=(n, n))
    return replace(graph, adjacency=sparse.csr_array(graph.adjacency + more + more.T))
