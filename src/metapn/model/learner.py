"""Algorithm 1: the alternating bi-level training of transformer and propagator."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from metapn.model.bilevel import (
    Coupling,
    Gold,
    LabelGradient,
    exact_label_gradient,
    finite_difference_label_gradient,
    gram_pays,
)
from metapn.model.features import FeatureMatrix
from metapn.model.propagator import Propagator
from metapn.model.task import Task
from metapn.model.transformer import (
    Activation,
    Gradient,
    Transformer,
    activate,
    cross_entropy_gradient,
    dropout_mask,
)
from metapn.propagation.hops import hop_stack, one_hot
from metapn.propagation.operator import SparseMatrix


class Settings(Protocol):
    """The settings that training needs; a `MetaPN` has them."""

    n_hops: int
    learning_rate: float
    meta_learning_rate: float
    l2: float
    batch_size: int
    meta_gradient: str
    balance: bool


class Networks(Protocol):
    """Transformer, propagator, and the prediction they make together."""

    transformer: Transformer
    propagator: Propagator

    def probabilities(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Probabilities of all nodes, shape (n, c)."""


class Batch(NamedTuple):
    """Nodes that take a step together, with what never changes about them."""

    nodes: Tensor
    X: FeatureMatrix
    coupling: Coupling


class BilevelLearner:
    """One epoch of Algorithm 1: each batch makes an inner step of θ and an outer step of φ.

    The loss of a batch is J_pseudo = -(1/c) Σᵢ Σ_c ŷ_ic log p_ic, a sum over the batch in which the nodes
    that much label has reached weigh more, and λ/2 ‖W₁‖² besides.

    The nodes are dealt into batches once, at random, and the batches are visited in random order: their
    rows of X, transposed, and their Gram matrix against the gold nodes are then made once. Every node
    takes part, the gold ones too; their pseudo label is their gold label and a little more.

    Both steps of a batch start from one forward pass: the gradient of J_pseudo that moves θ (by Adam) is
    the one that the virtual step follows (by plain descent, eq. 6). In the virtual step dropout is off.

    Parameters
    ----------
    network : Networks
        Trained in place.
    task : Task
    settings : Settings
    """

    def __init__(self, network: Networks, task: Task, settings: Settings) -> None:
        self.network, self.task, self.settings = network, task, settings
        self.transformer, self.propagator = network.transformer, network.propagator
        self.scale = float(task.n_classes)
        self.targets = one_hot(task.gold, task.gold_labels, task.n_nodes, task.n_classes)
        self.stack = hop_stack(task.T, self.targets, settings.n_hops)
        if settings.balance:
            self.stack = balanced(self.stack, task.gold_labels)
        self.targets = self.targets[task.gold]
        self.X_gold = task.X.rows(task.gold.cpu().numpy())
        self.batches = self._deal()
        self.inner = torch.optim.Adam(self.transformer.parameters(), lr=settings.learning_rate, fused=True)
        self.learns_to_propagate = self.propagator.adaptive and settings.meta_learning_rate > 0
        if self.learns_to_propagate:
            self.outer = torch.optim.Adam(self.propagator.parameters(), lr=settings.meta_learning_rate)

    def _deal(self) -> list[Batch]:
        task = self.task
        form = gram_pays(task.X, len(task.gold))
        order = torch.randperm(task.n_nodes, generator=task.generator)
        batches = []
        for nodes in order.split(int(self.settings.batch_size)):
            X = task.X.rows(nodes.numpy())
            batches.append(Batch(nodes.to(task.device), X, Coupling(X, self.X_gold, form=form)))
        return batches

    def epoch(self) -> float:
        """Take a step on each batch, in random order; return the mean of their losses."""
        self.transformer.train()
        order = torch.randperm(len(self.batches), generator=self.task.generator)
        loss = sum(self._step(self.batches[i]) for i in order.tolist())
        self.transformer.eval()
        return float(loss) / len(self.batches)

    def weights(self) -> list[Tensor]:
        """All of θ and φ."""
        return [*self.transformer.parameters(), *self.propagator.parameters()]

    def predict(self) -> Tensor:
        """Probabilities of all nodes, shape (n, c)."""
        return self.network.probabilities(self.task.X, self.task.T)

    def _step(self, batch: Batch) -> Tensor:
        pseudo = self.propagator(self.stack[batch.nodes])
        labels = pseudo.detach()
        with torch.no_grad():
            head = self.transformer.head
            Z = batch.X @ self.transformer.W1
            at = activate(Z, head)
            inner = cross_entropy_gradient(at, head, labels, self.scale)
            if self.learns_to_propagate:
                label_gradient = self._label_gradient(batch, Z, at, inner)
            if self.transformer.dropout > 0:
                at, X, inner = self._noisy_gradient(batch, labels)
            else:
                X = batch.X
            loss: Tensor = -(labels * at.log_p).sum() / self.scale
            self._inner_step(X, inner)
        if self.learns_to_propagate:
            # dJ_gold/dφ: from the pseudo labels on it is one backward pass through the tiny propagator.
            self.outer.zero_grad()
            pseudo.backward(label_gradient)
            self.outer.step()
        return loss

    def _label_gradient(self, batch: Batch, Z: Tensor, at: Activation, inner: Gradient) -> Tensor:
        exact = self.settings.meta_gradient == "exact"
        gradient: LabelGradient = exact_label_gradient if exact else finite_difference_label_gradient
        gold = Gold(self.X_gold @ self.transformer.W1, self.targets, batch.coupling)
        return gradient(Z, at, self.transformer.head, inner, gold, self.settings.learning_rate, self.scale)

    def _noisy_gradient(self, batch: Batch, labels: Tensor) -> tuple[Activation, FeatureMatrix, Gradient]:
        """Forward pass and gradient with dropout on features and hidden layer."""
        net = self.transformer
        X = batch.X.dropout(net.dropout, net.generator)
        Z = X @ net.W1
        at = activate(Z, net.head, dropout_mask(Z, net.dropout, net.generator))
        return at, X, cross_entropy_gradient(at, net.head, labels, self.scale)

    def _inner_step(self, X: FeatureMatrix, inner: Gradient) -> None:
        """Adam's step on θ along ∇J_pseudo + λ W₁."""
        net = self.transformer
        net.W1.grad = X.transpose_product(inner.Z).add_(net.W1, alpha=self.settings.l2)
        net.b1.grad, net.W2.grad, net.b2.grad = inner.head
        self.inner.step()


def balanced(stack: Tensor, gold_labels: Tensor) -> Tensor:
    """Hop stack in which each gold label sends out the same mass, shape (n, K + 1, c).

    Y(k) weighs a label by the degree and the surroundings of its node, so that with three labels a class a
    class may have many times the pseudo-label mass of another by chance, and drown it. The column of class
    c is multiplied by one number, such that over the hops 1..K it holds a share of the mass that equals its
    share of the gold labels. Hop 0, the gold labels themselves, stays as it is.
    """
    mass = stack[:, 1:].sum(dim=(0, 1), dtype=torch.float64)
    share = torch.bincount(gold_labels, minlength=len(mass)).to(mass) / len(gold_labels)
    stack[:, 1:] *= (share * mass.sum() / mass).to(stack)
    return stack
