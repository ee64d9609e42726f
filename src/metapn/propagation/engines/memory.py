"""The engine ``memory``: T and the hop stack in memory, the fastest for what fits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from metapn.graph import Graph
from metapn.propagation.engines.contract import EdgeSource, OnHop, RowBlocks, Seeds
from metapn.propagation.hops import hop_blocks, personalised_pagerank, transition
from metapn.propagation.operator import SparseMatrix


class MemoryEngine:
    """Propagation by a T in memory, see `metapn.propagation.engines.contract.Engine`.

    Parameters
    ----------
    T : SparseMatrix, shape (n, n)
    device : torch.device or str
        Where T is.
    """

    def __init__(self, T: SparseMatrix, device: torch.device | str = "cpu") -> None:
        self.T, self.device = T, device

    @classmethod
    def of(cls, edges: EdgeSource) -> MemoryEngine:
        """Read all edges."""
        return cls(transition(read_graph(edges)))

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return self.T.shape[0]

    def hop_stack(
        self,
        seeds: Seeds,
        n_hops: int,
        *,
        order: Tensor,
        block_size: int,
        dtype: torch.dtype = torch.float32,
        on_hop: OnHop | None = None,
    ) -> StackInMemory:
        """Make the stack; all of it is in memory, in float32 whatever the dtype."""
        Y0 = torch.from_numpy(seeds.dense(self.n_nodes)).to(self.device)
        deals = [nodes.to(self.device) for nodes in order.split(block_size)]
        blocks = hop_blocks(self.T, Y0[None], n_hops, deals)
        if on_hop is not None:
            on_hop(n_hops, n_hops)
        return StackInMemory(deals, [block[0] for block in blocks])

    def pagerank(self, P: RowBlocks, alpha: float, n_hops: int, *, on_hop: OnHop | None = None) -> RowsInMemory:
        """Make K steps of personalised PageRank from P, shape (n, d)."""
        Z = personalised_pagerank(self.T, P.rows(0, self.n_nodes).to(self.device), alpha, n_hops)
        if on_hop is not None:
            on_hop(n_hops, n_hops)
        return RowsInMemory(Z)

    def close(self) -> None:
        """Nothing is held that Python would not give back."""


class StackInMemory:
    """Y(0)..Y(K) as a list of blocks, see `metapn.propagation.engines.contract.HopStack`.

    Parameters
    ----------
    deals : sequence of int tensor, each of shape (b,)
        Nodes of each block.
    blocks : sequence of tensor, each of shape (d, K + 1, b)
    """

    def __init__(self, deals: Sequence[Tensor], blocks: Sequence[Tensor]) -> None:
        self._deals, self._blocks = list(deals), list(blocks)
        self.n_columns, self.n_hops = blocks[0].shape[0], blocks[0].shape[1] - 1

    def __len__(self) -> int:
        return len(self._blocks)

    def nodes(self, block: int) -> Tensor:
        """Nodes of a block, shape (b,)."""
        return self._deals[block]

    def block(self, block: int) -> Tensor:
        """Hops of the nodes of a block, shape (d, K + 1, b); no copy."""
        return self._blocks[block]

    def rows(self, nodes: Tensor) -> Tensor:
        """Hops of any nodes, shape (d, K + 1, len(nodes))."""
        order = torch.cat(self._deals)
        place = torch.empty_like(order).scatter_(0, order, torch.arange(len(order), device=order.device))[nodes]
        size = len(self._deals[0])
        parts = [self._blocks[int(p) // size][:, :, int(p) % size] for p in place]
        return torch.stack(parts, dim=2) if parts else self._blocks[0][:, :, :0]

    def mass(self) -> Tensor:
        """Σ over the hops 1..K and all nodes, of each column, shape (d,), float64."""
        parts = [block[:, 1:].sum(dim=(1, 2), dtype=torch.float64) for block in self._blocks]
        return torch.stack(parts).sum(dim=0)


class RowsInMemory:
    """A matrix in memory, given out by rows.

    Parameters
    ----------
    matrix : tensor, shape (n, d)
    """

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix
        self.shape: tuple[int, int] = (matrix.shape[0], matrix.shape[1])

    def rows(self, start: int, stop: int) -> Tensor:
        """Rows start to stop, a view."""
        return self.matrix[start:stop]


def read_graph(edges: EdgeSource) -> Graph:
    """Read a source whole, as a `Graph`."""
    blocks = list(edges.blocks())
    ends = [np.stack([block.source, block.target], axis=1) for block in blocks]
    whole = np.concatenate(ends) if ends else np.zeros((0, 2), np.int64)
    weights = [block.weight for block in blocks if block.weight is not None]
    if not len(whole):
        return Graph(sparse.csr_array((edges.n_nodes, edges.n_nodes), dtype=np.float32))
    return Graph.from_edges(whole, edges.n_nodes, weights=np.concatenate(weights) if weights else None)
