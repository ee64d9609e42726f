"""How close propagation comes to what the memory can do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from metapn import datasets
from metapn.bench.measure import Measure, side_by_side
from metapn.propagation.hops import transition


def bandwidth_share(dataset: str, *, threads: int, copied: int = 2**26) -> Measure:
    """Time T Y against a plain copy of memory.

    A row of T Y gathers, for each of its entries, a row of Y: nnz (4 c + 8) bytes for rows, columns and
    values, and 4 n c for the result. A copy moves each byte twice, in and out; it is of so many floats, far more
    than any cache holds.
    """
    torch.set_num_threads(threads)
    graph = datasets.load(dataset)
    T, n_classes = transition(graph), graph.n_classes
    Y = torch.rand(graph.n_nodes, n_classes)
    source, target = torch.rand(copied), torch.empty(copied)
    kernels: dict[str, Callable[[], object]] = {
        "product": lambda: T.product(Y),
        "scipy": lambda: T.stored @ Y.numpy(),
        "copy": lambda: target.copy_(source),
    }
    if (csr := T._forward.torch) is not None:
        kernels["torch_csr"] = partial(torch.mm, csr, Y)
    seconds = dict(zip(kernels, side_by_side(*kernels.values(), rounds=8), strict=True))
    n_rows = graph.n_nodes
    gathered = T.nnz * (4 * n_classes + 8) + 4 * n_rows * n_classes
    least = 8 * T.nnz + 8 * n_rows * n_classes
    copy = 2 * source.numel() * 4 / seconds["copy"]
    return Measure(
        name=f"bandwidth/{dataset}",
        what=f"bytes a second of T Y / of a plain copy, {dataset}, {threads} threads",
        value=gathered / seconds["product"] / copy,
        bound=0.5,
        at_most=False,
        details={
            "copy_gb_s": copy / 1e9,
            "gathered_gb_s": gathered / seconds["product"] / 1e9,
            "each_byte_once_gb_s": least / seconds["product"] / 1e9,
            **{f"{name}_ms": 1e3 * value for name, value in seconds.items() if name != "copy"},
        },
    )


def fitted_exponent(sizes: list[float], costs: list[float]) -> float:
    """Slope of log cost over log size, by least squares.

    Examples
    --------
    >>> round(fitted_exponent([1, 10, 100], [3, 30, 300]), 3)
    1.0
    """
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])
