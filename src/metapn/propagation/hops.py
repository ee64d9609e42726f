"""What propagates: the transition matrix T, the hop stack Y(0)..Y(K) and personalised PageRank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from metapn.graph import Graph
from metapn.propagation.operator import SparseMatrix


def transition(
    graph: Graph, *, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> SparseMatrix:
    """T = D̃^(-1/2) (A + I) D̃^(-1/2), the symmetric normalised adjacency with self-loops, shape (n, n).

    The self-loop keeps every degree at least one, so an isolated node simply keeps its own value.

    Examples
    --------
    >>> import torch
    >>> from metapn import Graph
    >>> transition(Graph.from_edges([(0, 1)], n_nodes=3)) @ torch.eye(3)
    tensor([[0.5000, 0.5000, 0.0000],
            [0.5000, 0.5000, 0.0000],
            [0.0000, 0.0000, 1.0000]])
    """
    looped = sparse.csr_array(graph.adjacency + sparse.eye_array(graph.n_nodes, dtype=np.float32, format="csr"))
    scale = 1 / np.sqrt(looped.sum(axis=1, dtype=np.float64))
    values = np.repeat(scale, np.diff(looped.indptr))
    values *= looped.data
    values *= scale[looped.indices]
    looped.data = values
    return SparseMatrix(looped, symmetric=True, exact=True, dtype=dtype, device=device)


def hop_blocks(T: SparseMatrix, Y0: Tensor, n_hops: int, blocks: Sequence[Tensor]) -> list[Tensor]:
    """Y(k+1) = T Y(k) (eq. 2) of several runs at once: the stack of all hops, in blocks of nodes.

    Parameters
    ----------
    T : SparseMatrix, shape (n, n)
    Y0 : tensor, shape (r, n, c)
        For each run one-hot rows of the labelled nodes, zero elsewhere.
    n_hops : int
        K.
    blocks : sequence of int tensor
        Nodes of each block.

    Returns
    -------
    list of tensor, shape (r, c, K + 1, nodes of the block)
    """
    n_runs, n, n_classes = Y0.shape
    stacks = [Y0.new_empty(n_runs, n_classes, n_hops + 1, len(nodes)) for nodes in blocks]
    for k, hop in enumerate(hops(T, Y0.permute(1, 0, 2).reshape(n, -1), n_hops)):
        for stack, nodes in zip(stacks, blocks, strict=True):
            stack[:, :, k] = hop[nodes].T.view(n_runs, n_classes, -1)
    return stacks


def hops(T: SparseMatrix | None, Y0: Tensor, n_hops: int) -> Iterator[Tensor]:
    """Y(0), T Y(0), ..., T^K Y(0) one after another, each of shape (n, c) and differentiable in Y(0).

    T is None for a graph without edges, where T is the identity.
    """
    yield Y0
    for _ in range(n_hops):
        Y0 = Y0 if T is None else T @ Y0
        yield Y0


def personalised_pagerank(
    T: SparseMatrix | None,
    Z: Tensor,
    alpha: float,
    n_hops: int,
    *,
    constrain: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """Z(k+1) = (1 - α) T Z(k) + α Z(0): K steps of personalised PageRank, shape (n, c), differentiable in Z.

    T is None for a graph without edges. ``constrain``, where given, has the last word on each Z(k+1).
    """
    current, teleport = Z, alpha * Z
    for _ in range(n_hops):
        current = torch.add(teleport, current if T is None else T @ current, alpha=1 - alpha)
        if constrain is not None:
            current = constrain(current)
    return current


def one_hot(nodes: Tensor, labels: Tensor, n_nodes: int, n_classes: int) -> Tensor:
    """Y(0): a one in row ``nodes[i]``, column ``labels[i]``; zero elsewhere, shape (n, c)."""
    Y0 = torch.zeros(n_nodes, n_classes, device=nodes.device)
    Y0[nodes, labels] = 1
    return Y0
