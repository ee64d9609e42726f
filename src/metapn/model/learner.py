"""Algorithm 1: the alternating bi-level training of transformer and propagator, for one run or many at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from metapn.model.adam import Adam
from metapn.model.batches import Batch, balance, deal
from metapn.model.bilevel import Gold, exact_label_gradient, finite_difference_label_gradient
from metapn.model.closed_forms import Activation, Gradient, Head, activate, cross_entropy_gradient
from metapn.model.features import FeatureMatrix
from metapn.model.propagator import Attention, Phi, Propagator, attend, propagator_gradient, pseudo_labels, stacked
from metapn.model.task import Predicted, Problem, Task
from metapn.model.transformer import Transformer, dropout_mask
from metapn.propagation.hops import one_hot
from metapn.propagation.operator import SparseMatrix


class Settings(Protocol):
    """The settings that training needs; a `MetaPN` has them."""

    n_hops: int
    dropout: float
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
    alpha: float

    @property
    def spread_hops(self) -> int:
        """Steps of personalised PageRank after the transformer."""

    def probabilities(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Probabilities of all nodes, shape (n, c)."""

    def spread(self, P: Tensor, T: SparseMatrix | None) -> Tensor:
        """Probabilities of all nodes, shape (n, c), from those of the transformer."""


class Member(NamedTuple):
    """One run among those that a learner trains: what a stopping rule looks at."""

    learner: BilevelLearner
    place: int

    def weights(self) -> list[Tensor]:
        """All of θ and φ, as views."""
        return [value[self.place] for value in (*self.learner.theta, *self.learner.phi)]

    def predict(self) -> Predicted:
        """Probabilities of all nodes after the last epoch, shape (n, c)."""
        return self.learner.predicted(self.place)

    def predict_with(self, weights: Sequence[Tensor]) -> Predicted:
        """Probabilities of all nodes by other weights, shape (n, c)."""
        return self.learner.predicted_with([weight[None] for weight in weights[:4]])


class BilevelLearner:
    """One epoch of Algorithm 1: each batch makes an inner step of θ and an outer step of φ.

    The loss of a batch is J_pseudo = -(1/c) Σᵢ Σ_c ŷ_ic log p_ic, a sum over the batch in which the nodes
    that much label has reached weigh more, and λ/2 ‖W₁‖² besides.

    The nodes are dealt into batches once, at random, and the batches are visited in random order: their
    rows of X, transposed, and their Gram matrix against the gold nodes are then made once. Every node
    takes part, the gold ones too; their pseudo label is their gold label and a little more.

    Both steps of a batch start from one forward pass: the gradient of J_pseudo that moves θ (by Adam) is
    the one that the virtual step follows (by plain descent, eq. 6). In the virtual step dropout is off.

    Many runs on one graph, with other labels and other initial weights, are trained at once by giving all
    their networks and tasks. They share the batches and the steps, and nothing else: every array has the
    run as its first axis.

    Parameters
    ----------
    networks : sequence of Networks
        Each gets its weights when its run retires.
    tasks : sequence of Task
        One for each network: the same T and X, and as many gold nodes in each.
    settings : Settings
    """

    def __init__(self, networks: Sequence[Networks], tasks: Sequence[Problem], settings: Settings) -> None:
        self.networks, self.settings, self.task = list(networks), settings, tasks[0]
        self.runs = list(range(len(tasks)))
        #: Pseudo labels (n, c) and hop weights (n, K + 1) of each run that has retired, by its number.
        self.propagated: dict[int, tuple[Tensor, Tensor]] = {}
        self._predictions: Tensor | None = None
        self.scale = float(self.task.n_classes)
        #: Source of the dropout masks.
        self.noise = self.task.generator
        self.X_gold = [task.X.rows(task.gold.cpu().numpy()) for task in tasks]
        self.theta = self._stacked_transformers()
        self.targets = torch.stack([_targets(task) for task in tasks])
        self.deal(tasks)
        rate = settings.learning_rate
        self.first_layer = Adam(self.theta[:1], learning_rate=rate, l2=settings.l2, run_by_run=True)
        self.beyond = Adam(self.theta[1:], learning_rate=rate)
        propagators = [network.propagator for network in self.networks]
        self.learns_to_propagate = propagators[0].adaptive and settings.meta_learning_rate > 0
        self.phi: list[Tensor] = []
        if self.learns_to_propagate:
            self.phi = [part.detach() for part in stacked(propagators) if part is not None]
            self.outer = Adam(self.phi, learning_rate=settings.meta_learning_rate)
        else:
            self.fix_labels(propagators)

    def deal(self, tasks: Sequence[Problem]) -> None:
        """Deal the nodes into batches, each with its part of the hop stacks."""
        assert isinstance(self.task, Task)
        Y0 = torch.stack([one_hot(task.gold, task.gold_labels, task.n_nodes, task.n_classes) for task in tasks])
        self.batches = deal(self.task, Y0, self.X_gold, self.settings)
        self.order = torch.cat([batch.nodes for batch in self.batches])
        if self.settings.balance:
            balance([batch.stack for batch in self.batches], torch.stack([task.gold_labels for task in tasks]))

    @torch.no_grad()
    def fix_labels(self, propagators: Sequence[Propagator]) -> None:
        """Keep the pseudo labels of propagators that learn nothing."""
        for batch in self.batches:
            batch.labels = fixed_labels(propagators, batch.stack)

    @property
    def n_batches(self) -> int:
        """Number of batches."""
        return len(self.batches)

    def visit(self, places: Iterable[int]) -> Iterator[Batch]:
        """Yield these batches, one after another."""
        return (self.batches[place] for place in places)

    def _stacked_transformers(self) -> list[Tensor]:
        """θ of all runs: W₁ (r, f, h), b₁ (r, 1, h), W₂ᵀ (r, c, h), b₂ (r, c, 1)."""
        nets = [network.transformer for network in self.networks]
        names = ("W1", "b1", "W2", "b2")
        W1, b1, W2, b2 = (torch.stack([getattr(net, name).detach() for net in nets]) for name in names)
        return [W1, b1[:, None], W2.mT.contiguous(), b2[..., None]]

    @property
    def optimisers(self) -> list[Adam]:
        """Those of θ, and of φ where it learns."""
        return [self.first_layer, self.beyond, *([self.outer] if self.phi else [])]

    @property
    def members(self) -> list[Member]:
        """The runs that are still in training."""
        return [Member(self, place) for place in range(len(self.networks))]

    @torch.no_grad()
    def epoch(self) -> list[float]:
        """Take a step on each batch, in random order; return the mean of their losses for each run."""
        self._predictions = None
        order = torch.randperm(self.n_batches, generator=self.task.generator)
        losses = torch.stack([self._step(batch) for batch in self.visit(order.tolist())])
        mean: list[float] = losses.mean(dim=0).div_(-self.scale).tolist()
        return mean

    def predicted(self, place: int) -> Predicted:
        """Probabilities of all nodes by one of the runs after the last epoch, shape (n, c)."""
        return self.predictions()[:, place]

    def predicted_with(self, theta: Sequence[Tensor]) -> Predicted:
        """Probabilities of all nodes by the transformer θ of one run, shape (n, c)."""
        return self.predict(theta)[:, 0]

    def predictions(self) -> Tensor:
        """Probabilities of all nodes by all runs after the last epoch, shape (n, r, c)."""
        if self._predictions is None:
            self._predictions = self.predict(self.theta)
        return self._predictions

    @torch.no_grad()
    def predict(self, theta: Sequence[Tensor]) -> Tensor:
        """Probabilities of all nodes by the transformers θ of some runs, shape (n, r, c)."""
        assert isinstance(self.task, Task)
        W1, head = theta[0], Head(*theta[1:])
        P = torch.cat([activate(batch.X.products(W1), head).p for batch in self.batches], dim=2)
        n_runs, n_classes, n_nodes = P.shape
        # Side by side: a sparse product with few columns takes nearly as long as one with many.
        spread = self.networks[0].spread(self._in_order(P.view(-1, n_nodes)), self.task.T)
        return spread.view(n_nodes, n_runs, n_classes)

    @torch.no_grad()
    def retire(self, places: Sequence[int]) -> None:
        """End some of the runs: their networks get their weights, and the others move up."""
        for place in places:
            self._write_back(place)
            self.propagated[self.runs[place]] = self._propagated(place)
        self._keep([place for place in range(len(self.networks)) if place not in places])

    def _write_back(self, place: int) -> None:
        """Give its weights to the network of one of the runs."""
        net, propagator = self.networks[place].transformer, self.networks[place].propagator
        W1, b1, W2t, b2 = (part[place] for part in self.theta)
        for parameter, value in zip((net.W1, net.b1, net.W2, net.b2), (W1, b1, W2t.T, b2), strict=True):
            parameter.copy_(value.reshape(parameter.shape))
        if self.phi:
            self._propagators().write_back(place, propagator)

    def _propagated(self, place: int) -> tuple[Tensor, Tensor]:
        """Pseudo labels (n, c) and hop weights (n, K + 1) of all nodes, by one of the runs."""
        propagator = self.networks[place].propagator
        weights, labels = [], []
        for batch in self.visit(range(self.n_batches)):
            weights.append(propagator.hop_weights(batch.stack[place]))
            labels.append((weights[-1] * batch.stack[place]).sum(dim=1))
        return self._in_order(torch.cat(labels, dim=1)), self._in_order(torch.cat(weights, dim=1))

    def _in_order(self, values: Tensor) -> Tensor:
        """Rows in the order of the nodes, shape (n, d), from columns in the order of the batches, (d, n)."""
        rows = values.T.contiguous()
        return torch.empty_like(rows).index_copy_(0, self.order, rows)

    def _keep(self, places: list[int]) -> None:
        """Go on with some of the runs, in smaller arrays."""
        if not places:
            return
        self._predictions = None
        self.networks = [self.networks[place] for place in places]
        self.X_gold = [self.X_gold[place] for place in places]
        self.runs = [self.runs[place] for place in places]
        self.targets = self.targets[places]
        self.keep_batches(places)
        kept = [array for optimiser in self.optimisers for array in optimiser.keep(places)]
        self.theta, self.phi = kept[:4], kept[4:]

    def keep_batches(self, places: list[int]) -> None:
        """Go on with some of the runs in the batches."""
        for batch in self.batches:
            batch.keep(places)

    def _step(self, batch: Batch) -> Tensor:
        """Inner and outer step on a batch; Σᵢ Σ_c ŷ_ic log p_ic of each run, shape (r,)."""
        labels, attention, phi = self._pseudo_labels(batch)
        head = Head(*self.theta[1:])
        at = activate(batch.X.products(self.theta[0]), head)
        inner = self._gradient(at, labels)
        first_layer = self._first_layer(batch.X, inner)
        if attention is not None and phi is not None:
            label_gradient = self._label_gradient(batch, at, first_layer, inner.head)
            # dJ_gold/dφ: from the pseudo labels on it is one backward pass through the tiny propagator.
            gradients = propagator_gradient(attention, phi, label_gradient)
            self.total(gradients)
            self.outer.step(gradients)
        if self.settings.dropout > 0:
            at, X, inner = self._noisy_gradient(batch, labels)
            first_layer = self._first_layer(X, inner)
        # Adam's step on θ along ∇J_pseudo + λ W₁, of which Adam adds the second part itself.
        self.first_layer.step(first_layer)
        self.beyond.step(inner.head)
        likelihood = torch.bmm(labels.flatten(1)[:, None], at.log_p.flatten(1)[..., None])[:, 0, 0]
        self.total([likelihood])
        return likelihood

    def total(self, parts: Sequence[Tensor]) -> None:
        """Add up, in place, what has been summed over the nodes of a batch: here they are all in one place."""

    def _gradient(self, at: Activation, labels: Tensor) -> Gradient:
        """∇J_pseudo of a batch; of its first layer each keeps the rows that it has."""
        gradient = cross_entropy_gradient(at, Head(*self.theta[1:]), labels, self.scale)
        self.total(gradient.head)
        return gradient

    def _first_layer(self, X: FeatureMatrix, inner: Gradient) -> list[Tensor]:
        """∂J_pseudo/∂W₁ of each run, shape (f, h)."""
        gradients = X.transpose_products(inner.Z)
        self.total(gradients)
        return gradients

    def _propagators(self) -> Phi:
        return Phi(self.phi[0], self.phi[1], self.phi[2] if len(self.phi) > 2 else None)

    def _pseudo_labels(self, batch: Batch) -> tuple[Tensor, Attention | None, Phi | None]:
        if batch.labels is not None:
            return batch.labels, None, None
        phi = self._propagators()
        attention = attend(phi, batch.stack)
        return pseudo_labels(attention, phi, batch.stack), attention, phi

    def _label_gradient(self, batch: Batch, at: Activation, first_layer: list[Tensor], inner: Head) -> Tensor:
        W1, head, eta = self.theta[0], Head(*self.theta[1:]), self.settings.learning_rate
        Z, slope = (
            torch.stack([rows @ w for rows, w in zip(self.X_gold, W, strict=True)]) for W in (W1, first_layer)
        )
        gold = Gold(Z, slope, self.targets, batch.coupling)
        if self.settings.meta_gradient == "exact":
            return exact_label_gradient(at, head, inner, gold, eta, self.scale)
        return finite_difference_label_gradient(batch.X.products(W1), head, inner, gold, eta, self.scale)

    def _noisy_gradient(self, batch: Batch, labels: Tensor) -> tuple[Activation, FeatureMatrix, Gradient]:
        """Forward pass and gradient with dropout on features and hidden layer."""
        p, generator = self.settings.dropout, self.noise
        X = batch.X.dropout(p, generator)
        Z = X.products(self.theta[0])
        at = activate(Z, Head(*self.theta[1:]), dropout_mask(Z, p, generator))
        return at, X, self._gradient(at, labels)


def _targets(task: Problem) -> Tensor:
    """Labels of the gold nodes as columns of ones and zeros, shape (c, g)."""
    n_gold = len(task.gold)
    return one_hot(torch.arange(n_gold, device=task.device), task.gold_labels, n_gold, task.n_classes).T


def fixed_labels(propagators: Sequence[Propagator], stack: Tensor) -> Tensor:
    """Pseudo labels of a batch by the propagators of all runs, shape (r, c, b)."""
    return torch.stack([propagator(own) for propagator, own in zip(propagators, stack, strict=True)])
