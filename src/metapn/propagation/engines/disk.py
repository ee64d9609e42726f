"""The engine ``disk``: edges, label matrices and hop stack in files; in memory some columns of one label matrix.

A hop reads the rows of neighbours once for each block of columns, from one end to the other, while that block of
Y(k) is in memory, and writes Y(k + 1) by blocks of rows. There are as many blocks of columns as the memory
makes necessary: one, if n · d float32 values fit. Then Y(k) is dealt: written to the hop stack in the order of
the batches.

A folder that is kept is gone on from: the sorted edges are reused, and hops that are complete are not computed
again. What was made from other edges or with other parameters is never mixed in, but made anew.
"""

from __future__ import annotations

import hashlib
import itertools
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from metapn.errors import InputError
from metapn.propagation.engines.available import available_memory
from metapn.propagation.engines.contract import EdgeSource, OnHop, RowBlocks, Seeds
from metapn.propagation.engines.label_files import LabelFiles, row_ranges
from metapn.propagation.engines.stored_graph import StoredGraph
from metapn.propagation.engines.stored_stack import StoredStack
from metapn.propagation.engines.work_folder import WorkFolder, check_room

#: What Python, torch and the blocks that are in work take besides the columns.
_BASE = 700_000_000


class DiskEngine:
    """Propagation over a graph on disk, see `metapn.propagation.engines.contract.Engine`.

    Parameters
    ----------
    edges : EdgeSource
    folder : path, optional
        Where the files are; a temporary folder by default.
    memory : int, optional
        Bytes that the process may take; by default half of what is available.
    """

    def __init__(self, edges: EdgeSource, folder: Path | None = None, memory: int | None = None) -> None:
        self.work = WorkFolder(folder)
        self.n_nodes = edges.n_nodes
        self.memory = available_memory() // 2 if memory is None else memory
        if self._spare < 4 * self.n_nodes:
            raise InputError(
                f"{self.n_nodes:,} nodes need {(_BASE + 24 * self.n_nodes) / 1e9:.1f} GB of memory by engine disk, "
                f"and it may take {self.memory / 1e9:.1f} GB; allow more, or use engine ray on several machines"
            )
        self.key = f"1 {edges.fingerprint()}"
        self.graph = StoredGraph.of(edges, self.key, self.work, min(self._spare, 2**30))
        self._names = itertools.count()

    @property
    def _spare(self) -> int:
        """Bytes for columns: what is left beside the order of the nodes and its hash, 20 bytes a node."""
        return self.memory - _BASE - 20 * self.n_nodes

    def hop_stack(
        self,
        seeds: Seeds,
        n_hops: int,
        *,
        order: Tensor,
        block_size: int,
        dtype: torch.dtype = torch.float32,
        on_hop: OnHop | None = None,
    ) -> StoredStack:
        """Make Y(0)..Y(K), or what of it is not in the folder yet."""
        n, d = self.n_nodes, seeds.n_columns
        key = self._stack_key(seeds, n_hops, order, block_size, dtype)
        place, noted = self.work.part("stack", key)
        if not noted:
            check_room(place, n * d * ((n_hops + 1) * dtype.itemsize + 8), "the hop stack")
            noted = {"done": 0, "bounds": self._column_blocks(d), "masses": {}}
            self.work.note(place, key, **noted)
        bounds: list[int] = noted["bounds"]
        stack = StoredStack(place, d, n_hops, order=order, block_size=block_size, dtype=dtype)
        stack.masses = {int(k): mass for k, mass in noted["masses"].items()}
        for k in range(int(noted["done"]), n_hops + 1):
            now = LabelFiles(place / f"hop-{k:03d}", (n, d), bounds, write=False) if k else None
            after = LabelFiles(place / f"hop-{k + 1:03d}", (n, d), bounds) if k < n_hops else None
            for block, columns in enumerate(_slices(bounds)):
                Y = now.load(block) if now is not None else torch.from_numpy(seeds.dense(n, columns))
                stack.deal(k, columns, Y)
                if after is not None:
                    self._hop(Y, after, block)
                del Y  # before the next is loaded: two would be twice the memory
            for files in (stack, after):
                if files is not None:
                    files.sync()
            self.work.note(place, key, done=k + 1, bounds=bounds, masses=stack.masses)
            for file in place.glob("hop-*"):
                if not file.name.startswith(f"hop-{k + 1:03d}-"):
                    file.unlink()
            if on_hop is not None and k < n_hops:
                on_hop(k + 1, n_hops)
        return stack

    def pagerank(self, P: RowBlocks, alpha: float, n_hops: int, *, on_hop: OnHop | None = None) -> LabelFiles:
        """Make K steps of personalised PageRank from P, shape (n, d); the files go with what is returned."""
        now = self.label_files(P.shape[1])
        for first, last in row_ranges(self.n_nodes):
            rows = P.rows(first, last)
            for block, columns in enumerate(now.blocks):
                now.write(block, first, rows[:, columns].contiguous())
        teleport = now
        for k in range(n_hops):
            after = self.label_files(P.shape[1])
            for block in range(len(after.blocks)):
                self._hop(now.load(block), after, block, teleport=teleport, alpha=alpha)
            now = after
            if on_hop is not None:
                on_hop(k + 1, n_hops)
        return now

    def label_files(self, n_columns: int) -> LabelFiles:
        """Make a matrix of shape (n, d) in the folder, whose files go with it."""
        place = self.work.path / f"labels-{next(self._names)}"
        return LabelFiles(place, (self.n_nodes, n_columns), self._column_blocks(n_columns), temporary=True)

    def close(self) -> None:
        """Remove a temporary folder."""
        self.work.close()

    def _stack_key(self, seeds: Seeds, n_hops: int, order: Tensor, block_size: int, dtype: torch.dtype) -> str:
        """Hash of all that a stack depends on."""
        digest = hashlib.sha256(f"{self.key} {seeds.n_columns} {n_hops} {block_size} {dtype}".encode())
        for part in (seeds.nodes, seeds.columns, order.numpy()):
            digest.update(np.ascontiguousarray(part, np.int64).data)
        return digest.hexdigest()

    def _hop(
        self, Y: Tensor, after: LabelFiles, block: int, *, teleport: LabelFiles | None = None, alpha: float = 0.0
    ) -> None:
        """Write T Y, or (1 - α) T Y + α P, as a block of columns; Y is used up."""
        self.graph.scale(Y)

        def keep(first: int, rows: Tensor) -> None:
            if teleport is not None:
                rows.mul_(1 - alpha).add_(teleport.part(block, first, len(rows)), alpha=alpha)
            after.write(block, first, rows)

        self.graph.product(Y, keep)

    def _column_blocks(self, n_columns: int) -> list[int]:
        """Bounds of blocks of columns, each of which fits into the memory, from 0 to d."""
        width = max(1, min(n_columns, self._spare // (4 * self.n_nodes)))
        count = -(-n_columns // width)
        return [n_columns * i // count for i in range(count + 1)]


def _slices(bounds: list[int]) -> list[slice]:
    return [slice(start, stop) for start, stop in itertools.pairwise(bounds)]
