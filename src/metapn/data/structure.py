"""Features for nodes that have none: what the graph alone says of each.

    log(1 + d_i),  log(1 + s_i)          degree, and the sum of the weights
    log(1 + c_i)                         core number: the largest k such that i is in a subgraph of degrees ≥ k
    mean and spread of log(1 + d_j)      over the neighbours j
    Σ_k ρ(Sᵏ R)_i / K,  k = 1 … K        position: what random walks of each length meet

S = T - t tᵀ, T = D̃^-½ (A + I) D̃^-½ and t = D̃^½ 1 / |D̃^½ 1|: a step of a random walk, without the one direction
that all long walks end in, which says no more than the degree. R_ij ~ N(0, 1) of shape (n, p), and ρ divides a row by
its length. Nodes near each other meet the same random numbers and get similar positions; walks of many lengths tell
small groups as well as large ones.

Every edge is met K p times and no pair of nodes ever: time and memory grow with n + m. Positions are drawn anew for
every graph, so a model that has learnt from them is of use on that graph only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metapn.graph import FloatArray, Graph, IntArray

POSITIONS, HOPS = 32, 20


def structural_features(
    graph: Graph, *, n_positions: int = POSITIONS, n_hops: int = HOPS, seed: int = 0
) -> FloatArray:
    """Describe each node by its place in the graph.

    Parameters
    ----------
    graph : Graph
    n_positions : int
        p above.
    n_hops : int
        K above.
    seed : int
        The same seed gives the same features, bit for bit.

    Returns
    -------
    array, shape (n, 5 + n_positions)

    Examples
    --------
    >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)], n_nodes=4)
    >>> structural_features(star, n_positions=2).shape
    (4, 7)
    """
    A = graph.adjacency
    degree = np.diff(A.indptr)
    log_degree = np.log1p(degree).astype(np.float32)
    counted = sparse.csr_array((np.ones(A.nnz, dtype=np.float32), A.indices, A.indptr), shape=A.shape)
    n_neighbours = np.maximum(degree, 1)
    mean = (counted @ log_degree) / n_neighbours
    spread = np.sqrt(np.maximum((counted @ log_degree**2) / n_neighbours - mean**2, 0))
    scalars = [log_degree, np.log1p(A.sum(axis=1)), np.log1p(core_numbers(A)), mean, spread]
    features: FloatArray = np.column_stack([*scalars, positions(A, n_positions, n_hops, seed)]).astype(np.float32)
    return features


def positions(A: sparse.csr_array, n_positions: int, n_hops: int, seed: int) -> FloatArray:
    """Mean over k = 1 … n_hops of the rows of Sᵏ R, each of length one; shape (n, n_positions)."""
    degree = 1 + np.asarray(A.sum(axis=1), dtype=np.float32)[:, None]
    root, last = 1 / np.sqrt(degree), np.sqrt(degree / degree.sum())
    P = np.random.default_rng(seed).standard_normal((A.shape[0], n_positions), dtype=np.float32)
    total = np.zeros_like(P)
    for _ in range(n_hops):
        scaled = P * root
        P = (A @ scaled + scaled) * root
        P -= last * (last * P).sum(axis=0)
        total += P / np.maximum(np.linalg.norm(P, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    total /= n_hops
    return total


def core_numbers(A: sparse.csr_array) -> IntArray:
    """Core number of each node, shape (n,), by peeling: nodes of least degree are taken away until none is left.

    A node of core number c is looked at in c + 1 levels at most, and the core numbers sum up to less than the
    degrees: all in all as many steps as there are edges.

    Examples
    --------
    >>> triangle_with_a_tail = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], n_nodes=4)
    >>> core_numbers(triangle_with_a_tail.adjacency)
    array([2, 2, 2, 1])
    """
    degree = np.diff(A.indptr).astype(np.int64)
    core = np.zeros(len(degree), dtype=np.int64)
    alive = np.ones(len(degree), dtype=bool)
    left = np.arange(len(degree))
    while len(left):
        level = int(degree[left].min())
        peeled = left[degree[left] <= level]
        while len(peeled):
            alive[peeled] = False
            core[peeled] = level
            met, times = np.unique(_neighbours(A, peeled), return_counts=True)
            degree[met] -= times
            peeled = met[alive[met] & (degree[met] <= level)]
        left = left[alive[left]]
    return core


def _neighbours(A: sparse.csr_array, nodes: IntArray) -> npt.NDArray[np.int64]:
    """Neighbours of some nodes one after another, each as often as it is one."""
    starts, lengths = A.indptr[nodes].astype(np.int64), np.diff(A.indptr)[nodes]
    before = np.repeat(np.cumsum(lengths) - lengths, lengths)
    places = np.repeat(starts, lengths) + np.arange(int(lengths.sum())) - before
    found: npt.NDArray[np.int64] = A.indices[places].astype(np.int64)
    return found
