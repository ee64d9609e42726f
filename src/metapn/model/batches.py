"""The nodes dealt into batches, each with what never changes about it, and with class weights that are equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from metapn.model.bilevel import Coupling, gram_pays
from metapn.model.features import FeatureMatrix
from metapn.model.task import Task
from metapn.propagation.hops import hop_blocks


class Settings(Protocol):
    """The settings that dealing needs."""

    n_hops: int
    batch_size: int


class Batch:
    """Nodes that take a step together, with what never changes about them.

    ``stack`` is their part of the hop stacks, shape (r, c, K + 1, b); ``labels`` are their pseudo labels
    (r, c, b) where the propagator does not learn.
    """

    def __init__(self, nodes: Tensor, X: FeatureMatrix, coupling: Coupling, stack: Tensor) -> None:
        self.nodes, self.X, self.coupling, self.stack = nodes, X, coupling, stack
        self.labels: Tensor | None = None

    def keep(self, runs: list[int]) -> None:
        """Go on with some of the runs."""
        self.coupling.keep(runs)
        self.stack = self.stack[runs]
        self.labels = None if self.labels is None else self.labels[runs]


def deal(task: Task, Y0: Tensor, X_gold: list[FeatureMatrix], settings: Settings) -> list[Batch]:
    """Deal all nodes into batches at random, for the runs whose labels Y(0), shape (r, n, c), are given."""
    form = gram_pays(task.X, X_gold[0].shape[0])
    order = torch.randperm(task.n_nodes, generator=task.generator)
    deals = order.split(int(settings.batch_size))
    stacks = hop_blocks(task.T, Y0, settings.n_hops, [nodes.to(task.device) for nodes in deals])
    batches = []
    for nodes, stack in zip(deals, stacks, strict=True):
        X = task.X.rows(nodes.numpy())
        batches.append(Batch(nodes.to(task.device), X, Coupling(X, X_gold, form=form), stack))
    return batches


def balance(stacks: Sequence[Tensor], gold_labels: Tensor) -> None:
    """Weigh the hop stacks of several runs, in blocks of shape (r, c, K + 1, b), so that classes are equal.

    Y(k) weighs a label by the degree and the surroundings of its node, so that with three labels a class a
    class may have many times the pseudo-label mass of another by chance, and drown it. Class c is
    multiplied, in place, by one number, such that over the hops 1..K and all blocks it holds a share of the
    mass that equals its share of the gold labels, shape (r, g). Hop 0, the gold labels themselves, stays.
    """
    mass = torch.stack([stack[:, :, 1:].sum(dim=(2, 3), dtype=torch.float64) for stack in stacks]).sum(dim=0)
    factor = balance_factors(mass, gold_labels)
    for stack in stacks:
        weigh(stack, factor)


def balance_factors(mass: Tensor, gold_labels: Tensor) -> Tensor:
    """What `balance` multiplies each class of each run by, shape (r, c), from the masses (r, c)."""
    counts = torch.stack([torch.bincount(labels, minlength=mass.shape[1]) for labels in gold_labels])
    share = counts.to(mass) / gold_labels.shape[1]
    return share * mass.sum(dim=1, keepdim=True) / mass


def weigh(stack: Tensor, factor: Tensor) -> None:
    """Multiply the hops 1..K of a stack (r, c, K + 1, b), in place, by a factor for each class, shape (r, c)."""
    stack[:, :, 1:] *= factor[:, :, None, None].to(stack)
