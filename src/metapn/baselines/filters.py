"""The two low-pass filters of Li et al. (2019), applied without ever forming an n × n matrix."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from metapn.baselines.mlp import TwoLayerClassifier
from metapn.baselines.supervised import keep_best
from metapn.model.settings import number, one_of, setting, whole
from metapn.model.task import Task
from metapn.model.training import History, OnEpoch
from metapn.propagation.hops import hops
from metapn.propagation.operator import SparseMatrix

FILTERS = ("auto", "rnm", "ar")


class Filter(nn.Module):
    """S H for a smoothing S of the graph, with L = I - T.

    - ``rnm``, renormalisation:  S = (I - L)^k = T^k
    - ``ar``, autoregressive:    S = (I + α L)^-1

    Kind and strength are part of the state, since `metapn.baselines.glp.GLP` chooses them in training.
    """

    autoregressive: Tensor
    strength: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("autoregressive", torch.tensor(True))
        self.register_buffer("strength", torch.tensor(0.0))

    def become(self, kind: str, strength: float) -> None:
        """Turn into the filter of this kind; ``strength`` is k or α."""
        self.autoregressive.fill_(kind == "ar")
        self.strength.fill_(strength)

    def forward(self, T: SparseMatrix | None, H: Tensor) -> Tensor:
        """S H, shape (n, d), differentiable in H; T is None for nodes without edges, whose S is the identity."""
        if T is None:
            return H
        if self.autoregressive:
            return autoregressive(T, H, float(self.strength))
        *_, last = hops(T, H, int(self.strength))
        return last


def autoregressive(T: SparseMatrix, H: Tensor, alpha: float, tolerance: float = 1e-6) -> Tensor:
    """(I + α L)^-1 H, shape (n, d), by the Chebyshev series of 1 / (1 + α (1 - x)) on [-1, 1].

        (I + α L)^-1 = (I + 2 Σ_j r^j C_j(T)) / s,   s = √(1 + 2α),   r = α / (1 + α + s)
        C_0 = I,  C_1 = T,  C_{j+1} = 2 T C_j - C_{j-1}

    All eigenvalues of T are in that interval, where |C_j| ≤ 1: the series is cut off where what follows
    is below the tolerance. For α = 20 that are 44 products with T.
    """
    s = math.sqrt(1 + 2 * alpha)
    r = max(alpha / (1 + alpha + s), 1e-9)
    n_terms = math.ceil(math.log(tolerance * (1 - r) * s / 2) / math.log(r))
    before, current, weight = H, T @ H, 2 * r / s
    total = torch.add(H / s, current, alpha=weight)
    for _ in range(n_terms - 1):
        before, current = current, torch.sub(2 * (T @ current), before)
        weight *= r
        total = torch.add(total, current, alpha=weight)
    return total


@dataclass(eq=False, repr=False, kw_only=True)
class FilteredClassifier(TwoLayerClassifier):
    """Base of the methods that smooth by one of the two filters.

    Parameters
    ----------
    l2 : float
        Weight of ½ ‖W₁‖² in the loss. The default is the authors': strongly smoothed features differ little
        from node to node, and with that of the other methods, ten times as much, W₁ cannot tell them apart.
    filter : {"auto", "rnm", "ar"}
        ``auto`` trains with each and keeps the better one on the validation nodes; without validation nodes
        it is ``ar``.
    k : int
        Power of ``rnm``.
    alpha : float
        Strength of ``ar``. Where every class has twenty gold labels or more, k and α are half as large, as
        the paper has it.
    """

    l2: float = setting(5e-4, number(0))
    filter: str = setting("auto", one_of(FILTERS))
    k: int = setting(10, whole(1))
    alpha: float = setting(20.0, number(0))

    #: The layers that smooth share the strength.
    smoothing_layers: ClassVar[int] = 1

    def _train(self, network: Any, task: Task, on_epoch: OnEpoch | None) -> History:
        start = copy.deepcopy(network.state_dict())
        kinds = (self.filter,) if self.filter != "auto" else ("ar",) if task.validation is None else ("rnm", "ar")
        many = int(torch.bincount(task.gold_labels).min()) >= 20
        share = self.smoothing_layers * (2 if many else 1)

        def attempts() -> Iterator[History]:
            for part, kind in enumerate(kinds):
                network.load_state_dict(start)
                network.filter.become(kind, max(1, self.k // share) if kind == "rnm" else self.alpha / share)
                yield self._train_once(network, task, on_epoch, part=part, parts=len(kinds))

        return keep_best(network, attempts())

    def _keep(self, network: Any, task: Task) -> None:
        self.filter_ = "ar" if network.filter.autoregressive else "rnm"
