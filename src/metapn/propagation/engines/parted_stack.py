"""The hop stack by parts of the graph, each in the order in which the nodes are dealt."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from metapn.data.files import whole_file
from metapn.graph import IntArray
from metapn.propagation.engines.half import powers_of_two

#: Rows that are dealt at a time.
_ROWS = 2**14


def write_part(
    folder: Path,
    number: int,
    hops: list[Path],
    scale: npt.NDArray[np.float64],
    order: IntArray,
    *,
    half: bool,
) -> None:
    """Write scale · U(0)..U(K) of a part, in the order given, as an array of shape (rows, d, K + 1).

    Beside it lie the powers of two that halved values are multiplied with, shape (d, K + 1), and last of all
    the mass, shape (d,), of the hops 1..K.
    """
    labels = [np.load(file, mmap_mode="r") for file in hops]
    n_rows, n_columns = labels[0].shape
    powers = np.ones((n_columns, len(labels)), dtype=np.float32)
    if half:
        largest = [np.abs(U * scale[:, None]).max(axis=0, initial=0) for U in labels]
        powers = powers_of_two(np.stack(largest, axis=1))
    mass = np.zeros(n_columns)
    kind = np.dtype(np.float16 if half else np.float32)
    with whole_file(_file(folder, "values", number)) as handle:
        header = {"descr": kind.str, "fortran_order": False, "shape": (n_rows, n_columns, len(labels))}
        np.lib.format.write_array_header_1_0(handle, header)
        for start in range(0, n_rows, _ROWS):
            rows = order[start : start + _ROWS]
            dealt = np.stack([U[rows] for U in labels], axis=2) * scale[rows][:, None, None]
            mass += dealt[:, :, 1:].sum(axis=(0, 2))
            handle.write(np.ascontiguousarray(dealt / powers, dtype=kind).data)
    for name, values in (("powers", powers), ("mass", mass)):
        with whole_file(_file(folder, name, number)) as handle:
            np.save(handle, values, allow_pickle=False)


class StackPart:
    """What a part has of each block of nodes.

    Parameters
    ----------
    folder : path
    number : int
        Of the part.
    positions : int array, shape (rows,)
        Places of its nodes among all nodes as they are dealt, in ascending order.
    block_size : int
        b.
    """

    def __init__(self, folder: Path, number: int, positions: IntArray, block_size: int) -> None:
        self.positions, self.block_size = positions, block_size
        file = _file(folder, "values", number)
        self.values = np.load(file, mmap_mode="r" if len(positions) else None)
        self.powers = np.load(_file(folder, "powers", number))
        self.mass = torch.from_numpy(np.load(_file(folder, "mass", number)))

    def places(self, block: int) -> Tensor:
        """Places in a block that this part fills, shape (b',)."""
        here = self._rows(block)
        return torch.from_numpy(self.positions[here] - block * self.block_size)

    def block(self, block: int) -> Tensor:
        """Hops of its nodes in a block, shape (d, K + 1, b'), float32."""
        return self._taken(self._rows(block))

    def at(self, positions: IntArray) -> Tensor:
        """Hops of the nodes of these places, all its own, shape (d, K + 1, len(positions)), float32."""
        return self._taken(np.searchsorted(self.positions, positions))

    def _rows(self, block: int) -> slice:
        low, high = np.searchsorted(self.positions, [block * self.block_size, (block + 1) * self.block_size])
        return slice(int(low), int(high))

    def _taken(self, rows: Any) -> Tensor:
        dealt = np.moveaxis(self.values[rows].astype(np.float32) * self.powers, 0, 2)
        return torch.from_numpy(np.ascontiguousarray(dealt))


class PartedStack:
    """Y(0)..Y(K) by parts, see `metapn.propagation.engines.contract.HopStack`.

    Parameters
    ----------
    folder : path
    bounds : int array, shape (parts + 1,)
        First node of each part, and n.
    order : int tensor, shape (n,)
        The nodes as they are dealt.
    block_size : int
    """

    def __init__(self, folder: Path, bounds: IntArray, order: Tensor, block_size: int) -> None:
        self.bounds, self.order, self.block_size = bounds, order, block_size
        self.positions = positions(order)
        own = [np.sort(self.positions[first:last]) for first, last in itertools.pairwise(bounds)]
        self.parts = [StackPart(folder, number, places, block_size) for number, places in enumerate(own)]
        self.n_columns, self.n_hops = self.parts[0].powers.shape[0], self.parts[0].powers.shape[1] - 1

    @staticmethod
    def complete(folder: Path, n_parts: int) -> bool:
        """Whether all parts have written theirs."""
        return all(_file(folder, "mass", number).exists() for number in range(n_parts))

    def __len__(self) -> int:
        return -(-len(self.order) // self.block_size)

    def nodes(self, block: int) -> Tensor:
        """Nodes of a block, shape (b,)."""
        return self.order[block * self.block_size : (block + 1) * self.block_size]

    def block(self, block: int) -> Tensor:
        """Hops of the nodes of a block, shape (d, K + 1, b)."""
        result = torch.empty(self.n_columns, self.n_hops + 1, len(self.nodes(block)))
        for part in self.parts:
            result[:, :, part.places(block)] = part.block(block)
        return result

    def rows(self, nodes: Tensor) -> Tensor:
        """Hops of any nodes, shape (d, K + 1, len(nodes))."""
        result = torch.empty(self.n_columns, self.n_hops + 1, len(nodes))
        owner = np.searchsorted(self.bounds, nodes.numpy(), side="right") - 1
        for number in np.unique(owner).tolist():
            here = np.flatnonzero(owner == number)
            result[:, :, here] = self.parts[number].at(self.positions[nodes.numpy()[here]])
        return result

    def mass(self) -> Tensor:
        """Σ over the hops 1..K and all nodes, of each column, shape (d,), float64."""
        return torch.stack([part.mass for part in self.parts]).sum(dim=0)


class OwnStack:
    """What some of the parts have of Y(0)..Y(K), in the same blocks as a `PartedStack`.

    Parameters
    ----------
    whole : PartedStack
    own : sequence of int
        Numbers of the parts.
    """

    def __init__(self, whole: PartedStack, own: Sequence[int]) -> None:
        self.whole, self.parts = whole, [whole.parts[number] for number in own]
        self.n_columns, self.n_hops = whole.n_columns, whole.n_hops

    def __len__(self) -> int:
        return len(self.whole)

    def nodes(self, block: int) -> Tensor:
        """Its nodes in a block, shape (b',)."""
        return self.whole.nodes(block)[torch.cat([part.places(block) for part in self.parts])]

    def block(self, block: int) -> Tensor:
        """Hops of its nodes in a block, shape (d, K + 1, b')."""
        return torch.cat([part.block(block) for part in self.parts], dim=2)

    def rows(self, nodes: Tensor) -> Tensor:
        """Hops of any nodes of the graph, shape (d, K + 1, len(nodes))."""
        return self.whole.rows(nodes)

    def mass(self) -> Tensor:
        """Σ over the hops 1..K and all nodes of the graph, of each column, shape (d,), float64."""
        return self.whole.mass()


def positions(order: Tensor) -> IntArray:
    """Place of each node in the order in which they are dealt, shape (n,)."""
    places: IntArray = torch.empty_like(order).scatter_(0, order, torch.arange(len(order))).numpy()
    return places


def _file(folder: Path, what: str, number: int) -> Path:
    return folder / f"{what}-{number:05d}.npy"
