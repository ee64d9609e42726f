"""The one training loop: every method trains here, and here alone it is decided when to stop."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from metapn.model.task import Predicted, Problem

#: Called with (epochs done, most epochs) after each epoch.
OnEpoch = Callable[[int, int], None]


class Member(Protocol):
    """One run in training, as a stopping rule sees it."""

    def weights(self) -> list[Tensor]:
        """Return all that an epoch changes and a prediction needs."""

    def predict(self) -> Predicted:
        """Probabilities of every node as the method would now predict them, shape (n, c)."""

    def predict_with(self, weights: Sequence[Tensor]) -> Predicted:
        """Probabilities of every node by other weights, shape (n, c)."""


class Learner(ABC):
    """What a method tells of one run to have it trained."""

    @abstractmethod
    def epoch(self) -> float:
        """Train one epoch and return its loss."""

    @abstractmethod
    def weights(self) -> list[Tensor]:
        """Return all that an epoch changes and a prediction needs."""

    @abstractmethod
    def predict(self) -> Predicted:
        """Probabilities of every node as the method would now predict them, shape (n, c)."""

    def predict_with(self, weights: Sequence[Tensor]) -> Predicted:
        """Probabilities of every node by other weights, which are put in for the moment, shape (n, c)."""
        own = [weight.detach().clone() for weight in self.weights()]
        assign(self.weights(), weights)
        P = self.predict()
        assign(self.weights(), own)
        return P


@dataclass
class History:
    """What happened in training, epoch by epoch, and why it ended.

    ``loss`` is the training loss. With validation nodes there are ``validation_accuracy`` and
    ``validation_loss``, without them ``changed``: the share of nodes whose label changed lately.
    """

    loss: list[float] = field(default_factory=list)
    validation_accuracy: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    changed: list[float] = field(default_factory=list)
    best_epoch: int = 0
    stopped_because: str = "it reached max_epochs"
    seconds: float = 0.0


class StoppingRule(Protocol):
    """Decides after each epoch whether to go on, and in the end which weights to keep."""

    def update(self, member: Member, history: History) -> bool:
        """Look at the member after an epoch; True to stop."""

    def finish(self, member: Member, history: History) -> None:
        """Put the chosen weights into the member."""


class Group(Protocol):
    """What the loop needs to know of several runs that are trained at once."""

    @property
    def members(self) -> Sequence[Member]:
        """The runs still in training."""

    def epoch(self) -> list[float]:
        """Train all of them for one epoch and return the loss of each."""

    def retire(self, places: Sequence[int]) -> None:
        """End the runs at these places among the members, whose weights are final."""


class _Alone:
    """A learner as a group of one."""

    def __init__(self, learner: Learner) -> None:
        self.members = [learner]

    def epoch(self) -> list[float]:
        return [self.members[0].epoch()]

    def retire(self, places: Sequence[int]) -> None:
        pass


def train(learner: Learner, rule: StoppingRule, *, max_epochs: int, on_epoch: OnEpoch | None = None) -> History:
    """Train until the rule says stop or ``max_epochs`` are done, and keep the weights the rule chose.

    ``on_epoch(epochs done, max_epochs)`` is called after each epoch, for a progress bar.
    """
    return train_all(_Alone(learner), [rule], max_epochs=max_epochs, on_epoch=on_epoch)[0]


def train_all(
    group: Group,
    rules: Sequence[StoppingRule],
    *,
    max_epochs: int,
    on_epoch: OnEpoch | None = None,
    so_far: Sequence[History] | None = None,
) -> list[History]:
    """Train several runs at once, each until its own rule says stop; the others go on.

    ``so_far`` are the histories of runs that are taken up again, all after the same epoch.
    """
    histories = [History() for _ in rules] if so_far is None else list(so_far)
    training = list(range(len(rules)))
    start = time.perf_counter()
    for epoch in range(len(histories[0].loss) + 1, max_epochs + 1):
        losses, members, ended = group.epoch(), group.members, []
        for place, run in enumerate(training):
            histories[run].loss.append(losses[place])
            if rules[run].update(members[place], histories[run]) or epoch == max_epochs:
                rules[run].finish(members[place], histories[run])
                histories[run].seconds = time.perf_counter() - start
                ended.append(place)
        if on_epoch is not None:
            on_epoch(epoch, max_epochs)
        if ended:
            group.retire(ended)
            training = [run for place, run in enumerate(training) if place not in ended]
        if not training:
            break
    return histories


class EarlyStopping:
    """The paper's rule: patience is reset whenever accuracy rises or loss falls on the validation nodes.

    The weights kept are a true copy of those with the highest accuracy; among equals, the lowest loss.

    Parameters
    ----------
    nodes, labels : tensor, shape (v,)
        Validation nodes and their labels.
    patience : int
        Epochs without any improvement after which training stops.
    """

    def __init__(self, nodes: Tensor, labels: Tensor, patience: int) -> None:
        self.nodes, self.labels, self.patience = nodes, labels, patience
        self.best_accuracy, self.best_loss = -1.0, float("inf")
        self.kept: tuple[float, float] = (-1.0, float("-inf"))
        self.copy: list[Tensor] = []
        self.idle = 0

    def update(self, member: Member, history: History) -> bool:
        """Measure, keep a copy if it is the best yet, and tell whether patience has run out."""
        with torch.no_grad():
            p = member.predict()[self.nodes]
        accuracy = float((p.argmax(dim=1) == self.labels).float().mean())
        chosen = p.gather(1, self.labels[:, None]).clamp(min=1e-12)
        loss = float(-chosen.log().mean())
        history.validation_accuracy.append(accuracy)
        history.validation_loss.append(loss)
        if (accuracy, -loss) > self.kept:
            self.kept = (accuracy, -loss)
            self.copy = [weight.detach().clone() for weight in member.weights()]
            history.best_epoch = len(history.loss)
        # "Rises or falls" includes a tie, as in the code that the paper's rule comes from.
        improved = accuracy >= self.best_accuracy or loss <= self.best_loss
        self.best_accuracy, self.best_loss = max(accuracy, self.best_accuracy), min(loss, self.best_loss)
        self.idle = 0 if improved else self.idle + 1
        if self.idle >= self.patience:
            history.stopped_because = f"{self.patience} epochs brought nothing better on the validation nodes"
        return self.idle >= self.patience

    def finish(self, member: Member, history: History) -> None:
        """Restore the best weights."""
        assign(member.weights(), self.copy)


class Settled:
    """A rule without labels: average the weights, and stop when the averaged predictions have settled.

        θ̄ ← δ θ̄ + (1 - δ) θ  after every epoch, δ = min(decay, t / (t + 10))

    Training on noisy pseudo labels never comes to rest: from one epoch to the next many nodes change their
    label, and with no validation nodes there is no telling the good epochs from the bad. Their average has
    neither problem: it is at least as good as a typical epoch, and it does come to rest. Training stops
    when fewer than ``tolerance`` of all nodes changed their label (by the averaged weights) over the last
    ``window`` epochs, and the averaged weights are kept. It does not stop while fewer than half of the gold
    nodes are right: a network that still gives one class to all nodes is at rest too.

    Parameters
    ----------
    gold, gold_labels : tensor, shape (g,)
        The labelled nodes and their classes.
    decay, window, tolerance
        δ, epochs between two looks, and share of the nodes.
    """

    def __init__(
        self,
        gold: Tensor,
        gold_labels: Tensor,
        *,
        decay: float = 0.97,
        window: int = 10,
        tolerance: float = 0.005,
    ) -> None:
        self.gold, self.gold_labels = gold, gold_labels
        self.decay, self.window, self.tolerance = decay, window, tolerance
        self.average: list[Tensor] = []
        self.reference: Tensor | None = None

    def update(self, member: Member, history: History) -> bool:
        """Move the average; every ``window`` epochs, see how many labels have changed since the last look."""
        epoch = len(history.loss)
        weights = member.weights()
        if not self.average:
            self.average = [weight.detach().clone() for weight in weights]
        decay = min(self.decay, epoch / (epoch + 10))
        for mean, weight in zip(self.average, weights, strict=True):
            mean.lerp_(weight.detach(), 1 - decay)
        if epoch % self.window:
            return False
        with torch.no_grad():
            labels = member.predict_with(self.average).argmax(dim=1)
        changed = 1.0 if self.reference is None else float((labels != self.reference).float().mean())
        self.reference = labels
        history.changed.append(changed)
        learned = float((labels[self.gold] == self.gold_labels).float().mean()) >= 0.5
        settled = learned and changed < self.tolerance
        if settled:
            history.stopped_because = (
                f"fewer than {self.tolerance:.1%} of the nodes changed their label in {self.window} epochs"
            )
        return settled

    def finish(self, member: Member, history: History) -> None:
        """Keep the averaged weights."""
        assign(member.weights(), self.average)
        history.best_epoch = len(history.loss)


class KeepLast:
    """No rule: do all epochs and keep the weights of the last."""

    def update(self, member: Member, history: History) -> bool:
        """Go on."""
        return False

    def finish(self, member: Member, history: History) -> None:
        """Leave the weights as they are."""
        history.best_epoch = len(history.loss)


def stopping_rule(task: Problem, patience: int) -> StoppingRule:
    """Return early stopping where there are validation nodes, else the rule that needs no labels."""
    if task.validation is None or task.validation_labels is None:
        return Settled(task.gold, task.gold_labels)
    return EarlyStopping(task.validation, task.validation_labels, patience)


def assign(weights: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    """Copy values into weights."""
    with torch.no_grad():
        for weight, value in zip(weights, values, strict=True):
            weight.copy_(value)
