"""What the methods share that descend on the cross-entropy of the gold labels: the learner and the settings."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from metapn.baselines.views import View
from metapn.model.estimator import GraphClassifier
from metapn.model.features import FeatureMatrix
from metapn.model.network import Network
from metapn.model.settings import number, setting, whole
from metapn.model.task import Task
from metapn.model.training import History, Learner, OnEpoch, stopping_rule, train
from metapn.propagation.operator import SparseMatrix


class LogitNetwork(Network):
    """P = softmax(logits(X, T)): base of the networks that are trained by their cross-entropy."""

    @abstractmethod
    def logits(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Scores of each class, shape (n, c), with dropout while training; T is None for nodes without edges."""

    @property
    @abstractmethod
    def first_layer(self) -> nn.Parameter:
        """W₁, shape (f, h): what the L2 penalty is on."""

    def probabilities(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Probability of each class, shape (n, c)."""
        return torch.softmax(self.logits(X, T), dim=-1)


class Settings(Protocol):
    """The settings that the learner needs."""

    learning_rate: float
    l2: float


class SupervisedLearner(Learner):
    """One epoch is one step of Adam on J = -(1/g) Σᵢ log p_i,y(i) + λ/2 ‖W₁‖² over the g gold nodes.

    Parameters
    ----------
    network : LogitNetwork
        Trained in place.
    task : Task
    settings : Settings
    training, prediction : View, optional
        What the network sees in a step, and when it predicts all nodes; by default the whole graph.
    """

    def __init__(
        self,
        network: LogitNetwork,
        task: Task,
        settings: Settings,
        training: View | None = None,
        prediction: View | None = None,
    ) -> None:
        whole = View(task.X, task.T, task.gold)
        self.network, self.labels = network, task.gold_labels
        self.training, self.prediction = training or whole, prediction or whole
        first = network.first_layer
        others = [weight for weight in network.parameters() if weight is not first]
        # Adam adds weight_decay · W₁ to the gradient, which is the gradient of the penalty.
        groups: list[dict[str, Any]] = [{"params": [first], "weight_decay": settings.l2}, {"params": others}]
        self.optimiser = torch.optim.Adam(groups, lr=settings.learning_rate, fused=True)

    def epoch(self) -> float:
        """Take one step; return its cross-entropy."""
        self.network.train()
        X, T, gold = self.training
        loss = F.cross_entropy(self.network.logits(X, T)[gold], self.labels)
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.network.eval()
        return float(loss.detach())

    def weights(self) -> list[Tensor]:
        """All parameters."""
        return list(self.network.parameters())

    def predict(self) -> Tensor:
        """Probabilities of all nodes, shape (n, c)."""
        return self.network.probabilities(self.prediction.X, self.prediction.T)


@dataclass(eq=False, repr=False, kw_only=True)
class SupervisedClassifier(GraphClassifier):
    """Base of the methods that learn from the gold labels alone, by gradient descent.

    Parameters
    ----------
    learning_rate : float
        Of Adam.
    l2 : float
        Weight of ½ ‖W₁‖² (first layer only) in the loss.
    max_epochs : int
    patience : int
        Epochs without improvement on the validation nodes, where they are given to `fit`.
    scaling, n_neighbors, device, random_state
        As in `metapn.MetaPN`.
    """

    learning_rate: float = setting(0.05, number(0))
    l2: float = setting(0.005, number(0))
    max_epochs: int = setting(500, whole(1))
    patience: int = setting(100, whole(1))

    def _learner(self, network: Any, task: Task) -> SupervisedLearner:
        """Build what the training loop trains."""
        return SupervisedLearner(network, task, self)

    def _train(self, network: Any, task: Task, on_epoch: OnEpoch | None) -> History:
        return self._train_once(network, task, on_epoch)

    def _train_once(
        self, network: Any, task: Task, on_epoch: OnEpoch | None, *, part: int = 0, parts: int = 1
    ) -> History:
        """Train in place, as one of several parts for the progress bar."""

        def in_all(done: int, most: int) -> None:
            assert on_epoch is not None
            on_epoch(part * most + done, parts * most)

        return train(
            self._learner(network, task),
            stopping_rule(task, self.patience),
            max_epochs=self.max_epochs,
            on_epoch=in_all if on_epoch is not None else None,
        )


def keep_best(network: Network, histories: Iterable[History]) -> History:
    """Train a network several times over, and keep the weights that did best on the validation nodes.

    Parameters
    ----------
    network : Network
    histories : iterable of History
        Each is asked for in turn, and trains the network in place before it is there.

    Returns
    -------
    History
        That of the weights kept: highest accuracy, among equals the lowest loss; without validation nodes
        the last.
    """
    best, kept, weights = (-1.0, 0.0), History(), copy.deepcopy(network.state_dict())
    for history in histories:
        place = history.best_epoch - 1
        scored = bool(history.validation_accuracy)
        score = (history.validation_accuracy[place], -history.validation_loss[place]) if scored else best
        if score >= best:
            best, kept, weights = score, history, copy.deepcopy(network.state_dict())
    network.load_state_dict(weights)
    return kept
