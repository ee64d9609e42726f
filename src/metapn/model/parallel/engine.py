"""The engine as one of the workers that train has it: its nodes of the stack, and PageRank of all together."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, distributed

from metapn.propagation.engines.contract import OnHop, RowBlocks, Seeds
from metapn.propagation.engines.parted_stack import OwnStack
from metapn.propagation.engines.ray import PartedEngine
from metapn.propagation.engines.row_files import RowFiles, write_rows


class SharedEngine:
    """An engine whose methods all workers call together; see `metapn.propagation.engines.contract.Engine`.

    Parameters
    ----------
    parted : PartedEngine
        Propagates; the first worker asks it to.
    own : sequence of int
        Numbers of the parts whose nodes this worker has.
    """

    def __init__(self, parted: PartedEngine, own: Sequence[int]) -> None:
        self.parted, self.own, self.n_nodes = parted, list(own), parted.n_nodes
        self._calls = 0

    def hop_stack(
        self,
        seeds: Seeds,
        n_hops: int,
        *,
        order: Tensor,
        block_size: int,
        dtype: torch.dtype = torch.float32,
        on_hop: OnHop | None = None,
    ) -> OwnStack:
        """Own nodes of Y(0)..Y(K), which the driver has had made; what is lacking, the first worker has made."""
        for turn in (True, False):
            if turn == (distributed.get_rank() == 0):
                whole = self.parted.hop_stack(seeds, n_hops, order=order, block_size=block_size, dtype=dtype)
            distributed.barrier()
        return OwnStack(whole, self.own)

    def pagerank(self, P: RowBlocks, alpha: float, n_hops: int, *, on_hop: OnHop | None = None) -> RowFiles:
        """Make K steps of personalised PageRank from P, of which each worker makes its own rows, shape (n, d).

        The result is there until the next call but one, when all workers have read it.
        """
        self._calls += 1
        name = f"training-{self._calls % 2}"
        bounds, made = self.parted.bounds, self.parted.folder / f"{name}-made"
        made.mkdir(exist_ok=True)
        for number in self.own:
            rows = P.rows(int(bounds[number]), int(bounds[number + 1]))
            write_rows(RowFiles.file(made, number), rows.numpy())
        distributed.barrier()
        if distributed.get_rank() == 0:
            self.parted.pagerank(RowFiles(made, bounds, P.shape[1]), alpha, n_hops, name=name)
        distributed.barrier()
        return RowFiles(self.parted.folder / name, bounds, P.shape[1])

    def close(self) -> None:
        """Nothing is held that is not the driver's."""
