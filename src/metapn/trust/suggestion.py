"""Which nodes to label next: those whose labels would say most about the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from metapn.errors import InputError
from metapn.graph import Graph, IntArray
from metapn.propagation.hops import personalised_pagerank, transition
from metapn.propagation.operator import SparseMatrix

Floats = npt.NDArray[np.floating[Any]]


def suggest(
    P: Floats,
    graph: Graph,
    labelled: IntArray,
    n: int = 20,
    *,
    candidates: IntArray | None = None,
    alpha: float = 0.1,
    n_hops: int = 10,
) -> IntArray:
    """Name the nodes whose labels would help most, the most helpful first.

        u = -Σ_c p_c log p_c / log C                     how much is not known of each node
        repeat: i = argmax Π u,  u ← u (1 - Π_i / Π_ii)   Π: personalised PageRank

    Π u is the doubt within reach of a node: what its label would say something about. Once a node is chosen
    the doubt about whatever is near it counts less, so that the next one lies elsewhere.

    Parameters
    ----------
    P : array, shape (n, c)
        Probabilities of every node of the graph, best calibrated ones.
    graph : Graph
    labelled : int array, shape (g,)
        Nodes that have a label; there is nothing to ask of them.
    n : int
        How many to name; fewer where there are fewer.
    candidates : int array, shape (k,), optional
        Nodes that could be labelled, all by default.
    alpha, n_hops : float, int
        Of Π, as in `metapn.MetaPN`.

    Returns
    -------
    int array, shape (n,)

    Examples
    --------
    >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3), (4, 5)], n_nodes=6)
    >>> suggest(np.full((6, 2), 0.5), star, np.array([], dtype=int), n=2).tolist()
    [0, 4]
    """
    if n < 1:
        raise InputError(f"{n} nodes were asked for; ask for one at least")
    if P.shape[0] != graph.n_nodes:
        raise InputError(
            f"there are probabilities of {P.shape[0]:,} nodes, but the graph has {graph.n_nodes:,}; "
            "give those of all its nodes, in its order"
        )
    T = transition(graph)
    free = torch.zeros(graph.n_nodes, dtype=torch.bool)
    free[torch.as_tensor(np.arange(graph.n_nodes) if candidates is None else candidates)] = True
    free[torch.as_tensor(labelled)] = False
    doubt = torch.as_tensor(entropy(P), dtype=torch.float32)
    doubt[torch.as_tensor(labelled)] = 0
    chosen: list[int] = []
    for _ in range(min(n, int(free.sum()))):
        gain = _reach(T, doubt, alpha, n_hops).masked_fill(~free, -1)
        node = int(gain.argmax())
        chosen.append(node)
        free[node] = False
        near = _reach(T, torch.nn.functional.one_hot(torch.tensor(node), graph.n_nodes).float(), alpha, n_hops)
        doubt *= 1 - (near / near[node]).clamp(0, 1)
    return np.array(chosen, dtype=np.int64)


def entropy(P: Floats) -> npt.NDArray[np.float64]:
    """-Σ_c p_c log p_c / log C for every row, shape (n,): 0 where all is known, 1 where nothing is.

    Examples
    --------
    >>> entropy(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [0.0, 1.0]
    """
    positive = np.maximum(P.astype(np.float64), 1e-300)
    result: npt.NDArray[np.float64] = -(P * np.log(positive)).sum(axis=1) / np.log(P.shape[1])
    return np.abs(result)


def _reach(T: SparseMatrix, u: Tensor, alpha: float, n_hops: int) -> Tensor:
    """Π u, shape (n,)."""
    return personalised_pagerank(T, u[:, None], alpha, n_hops)[:, 0]
