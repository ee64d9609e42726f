"""What an engine promises: edges and seeds in, the hop stack out by blocks of nodes, PageRank by blocks of rows.

::

    Y(0)     ones at (seeds.nodes, seeds.columns), shape (n, d)
    Y(k + 1) = T Y(k),   T = D̃^(-1/2) (A + I) D̃^(-1/2)

Only these two, the hop stack and personalised PageRank, need the whole graph; all else of Meta-PN looks at
single nodes. An engine is therefore the one part that has to know where the graph lies: in memory, on disk,
or with the workers of a cluster. The rules:

- Nodes are whole numbers 0..n-1, in 64 bits everywhere.
- Edges without weights stay without: T is applied by scaling with D̃^(-1/2) before and after a plain sum over
  neighbours, and a self-loop that is never stored.
- A column is one class of one run: with r runs of c classes, d = r · c and class j of run i is column i · c + j.
- Values are given out in float32. ``dtype`` says how the stack is kept: float16 halves it, at a relative error
  of at most 2^-11 a value (for values below 2^-28 of the largest of their block, hop and column: an error of
  at most 2^-39 of that largest). Hops are computed from float32 all the same, so the error does not grow with k;
  but the engine ``ray`` also sends rows from worker to worker in float16, and errs in hop k by (k + 1) 2^-11.
- The nodes are dealt before the stack is made: ``order`` is a permutation of them, and block i holds the nodes
  order[i · b : (i + 1) · b]. An engine on disk or on a cluster keeps a block in one piece, for a block is what
  a step of training reads.
- Nothing that an engine holds in memory grows with the number of edges, but in the engine ``memory``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from metapn.graph import FloatArray, IntArray

#: Called with (hops done, hops in all) after each hop.
OnHop = Callable[[int, int], None]


class EdgeBlock(NamedTuple):
    """Some edges: ``source`` and ``target`` (m,), ``weight`` (m,), None where every edge has weight one."""

    source: IntArray
    target: IntArray
    weight: FloatArray | None


class EdgeSource(Protocol):
    """Edges that are read block by block, as often as needed; each counts in both directions.

    Self-loops are ignored. An edge that comes twice, in either direction, counts once, with its largest weight.
    """

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""

    @property
    def weighted(self) -> bool:
        """Whether the blocks have weights."""

    def blocks(self) -> Iterator[EdgeBlock]:
        """Yield all edges, in blocks that are small beside the memory."""

    def fingerprint(self) -> str:
        """Return a text that changes when the edges do."""


class Seeds(NamedTuple):
    """Where Y(0) is one: entry (nodes[i], columns[i]) of n_columns columns; ``nodes`` and ``columns`` (g,)."""

    nodes: IntArray
    columns: IntArray
    n_columns: int

    def dense(self, n_nodes: int, columns: slice = slice(None)) -> npt.NDArray[np.float32]:
        """Y(0), or some of its columns, shape (n, d)."""
        start, stop, _ = columns.indices(self.n_columns)
        Y0 = np.zeros((n_nodes, stop - start), dtype=np.float32)
        here = (self.columns >= start) & (self.columns < stop)
        Y0[self.nodes[here], self.columns[here] - start] = 1
        return Y0


class RowBlocks(Protocol):
    """A matrix of n rows, in the order of the nodes, of which some rows at a time are in memory."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""

    def rows(self, start: int, stop: int) -> Tensor:
        """Rows start to stop, shape (stop - start, d), float32."""


class HopStack(Protocol):
    """Y(0)..Y(K) of all nodes, in blocks of nodes."""

    @property
    def n_columns(self) -> int:
        """Number of columns of the label matrix, d."""

    @property
    def n_hops(self) -> int:
        """K."""

    def __len__(self) -> int:
        """Return the number of blocks."""

    def nodes(self, block: int) -> Tensor:
        """Nodes of a block, shape (b,)."""

    def block(self, block: int) -> Tensor:
        """Hops of the nodes of a block, shape (d, K + 1, b), float32."""

    def rows(self, nodes: Tensor) -> Tensor:
        """Hops of any nodes, shape (d, K + 1, len(nodes)), float32; meant for few."""

    def mass(self) -> Tensor:
        """Σ over the hops 1..K and all nodes, of each column, shape (d,), float64."""


class Engine(Protocol):
    """Propagation over one graph."""

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""

    def hop_stack(
        self,
        seeds: Seeds,
        n_hops: int,
        *,
        order: Tensor,
        block_size: int,
        dtype: torch.dtype = torch.float32,
        on_hop: OnHop | None = None,
    ) -> HopStack:
        """Make Y(0)..Y(K), dealt into blocks.

        An engine that keeps a folder goes on from the last hop that is complete there, if the graph and all
        parameters are the same.

        Parameters
        ----------
        seeds : Seeds
        n_hops : int
            K.
        order : int tensor, shape (n,)
            The nodes in the order in which they are dealt.
        block_size : int
            b, nodes of a block; the last block may have fewer.
        dtype : {torch.float32, torch.float16}
            How the stack is kept.
        on_hop : callable, optional
        """

    def pagerank(self, P: RowBlocks, alpha: float, n_hops: int, *, on_hop: OnHop | None = None) -> RowBlocks:
        """Z(k + 1) = (1 - α) T Z(k) + α P from Z(0) = P: K steps of personalised PageRank, shape (n, d)."""

    def close(self) -> None:
        """Give back what is held: temporary files, workers."""
