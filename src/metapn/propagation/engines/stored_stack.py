"""The hop stack on disk, in the order in which the nodes are dealt, so that a batch is one piece of the file.

Block i has (K + 1) · d rows of b values, hop by hop: hop k of column c is row k · d + c. In float16 each such
row is divided by a power of two of its own, kept in the file ``scales``, so that its largest value lies between
2^14 and 2^15: label mass thins out to 10^-9 on a large graph, where float16 alone would end at 6 · 10^-8.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from metapn.propagation.engines.flat_file import FlatFile

#: Float32 values that are gathered at a time.
_VALUES = 2**22


class StoredStack:
    """Y(0)..Y(K) in a file, see `metapn.propagation.engines.contract.HopStack`.

    Parameters
    ----------
    place : path
        Folder of the files.
    n_columns, n_hops : int
        d, K.
    order : int tensor, shape (n,)
    block_size : int
    dtype : {torch.float32, torch.float16}
    """

    def __init__(
        self, place: Path, n_columns: int, n_hops: int, *, order: Tensor, block_size: int, dtype: torch.dtype
    ) -> None:
        self.n_columns, self.n_hops = n_columns, n_hops
        self._order, self._size, self._half = order, block_size, dtype == torch.float16
        self._values = FlatFile(place / "values", "<f2" if self._half else "<f4", write=True)
        self._scales = FlatFile(place / "scales", "<f4", write=True) if self._half else None
        #: Mass of each column, by hop; filled while hops are dealt.
        self.masses: dict[int, list[float]] = {}

    def __len__(self) -> int:
        return -(-len(self._order) // self._size)

    def nodes(self, block: int) -> Tensor:
        """Nodes of a block, shape (b,)."""
        return self._order[block * self._size : (block + 1) * self._size]

    def block(self, block: int) -> Tensor:
        """Hops of the nodes of a block, shape (d, K + 1, b)."""
        size, lines = len(self.nodes(block)), (self.n_hops + 1) * self.n_columns
        values = self._values.read(block * self._size * lines, size * lines).astype(np.float32, copy=False)
        stack = values.reshape(lines, size)
        if self._scales is not None:
            stack *= self._scales.read(block * lines, lines)[:, None]
        return torch.from_numpy(stack).view(self.n_hops + 1, self.n_columns, size).transpose(0, 1).contiguous()

    def rows(self, nodes: Tensor) -> Tensor:
        """Hops of any nodes, shape (d, K + 1, len(nodes)); reads the block of each."""
        place = torch.empty_like(self._order).scatter_(0, self._order, torch.arange(len(self._order)))[nodes]
        result = torch.empty(self.n_columns, self.n_hops + 1, len(nodes))
        for block in torch.unique(place // self._size).tolist():
            here = torch.nonzero(place // self._size == block)[:, 0]
            result[:, :, here] = self.block(block)[:, :, place[here] % self._size]
        return result

    def mass(self) -> Tensor:
        """Σ over the hops 1..K and all nodes, of each column, shape (d,), float64."""
        lines = [self.masses[k] for k in range(1, self.n_hops + 1)]
        return torch.tensor(lines, dtype=torch.float64).view(-1, self.n_columns).sum(dim=0)

    def deal(self, k: int, columns: slice, Z: Tensor) -> None:
        """Write some columns of hop k, shape (n, columns), to the blocks."""
        mass = torch.zeros(Z.shape[1], dtype=torch.float64)
        lines, first = (self.n_hops + 1) * self.n_columns, k * self.n_columns + columns.start
        at_once = max(1, _VALUES // (self._size * Z.shape[1]))
        for start in range(0, len(self), at_once):
            dealt = Z[self._order[start * self._size : (start + at_once) * self._size]]
            mass += dealt.sum(dim=0, dtype=torch.float64)
            for block, rows in enumerate(dealt.split(self._size), start):
                values = rows.T.contiguous()
                if self._scales is not None:
                    scales = _powers(values)
                    self._scales.write(block * lines + first, scales.numpy())
                    values = values.div_(scales[:, None]).half()
                self._values.write(block * self._size * lines + first * len(rows), values.numpy())
        self.masses.setdefault(k, [0.0] * self.n_columns)[columns] = mass.tolist()

    def sync(self) -> None:
        """Return when all is on the disk."""
        self._values.sync()
        if self._scales is not None:
            self._scales.sync()


def _powers(values: Tensor) -> Tensor:
    """For each row of values the power of two that leaves its largest between 2^14 and 2^15, shape (rows,)."""
    exponents = torch.frexp(values.abs().amax(dim=1)).exponent
    return torch.ldexp(torch.ones(len(values)), (exponents - 15).clamp(min=-120))
