"""The last line of Algorithm 1: the transformer goes on learning from the gold labels alone."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from metapn.model.learner import Networks, Settings
from metapn.model.task import Predicted, Problem
from metapn.model.training import EarlyStopping, History, KeepLast, Learner, StoppingRule, train


class FineTuningLearner(Learner):
    """One epoch is one step on the cross-entropy of the gold nodes, at a tenth of the learning rate.

    A tenth, because the transformer is to be adjusted and not to forget the pseudo labels: at the full rate
    a few steps on three labels a class undo the training.
    """

    def __init__(self, network: Networks, task: Problem, settings: Settings) -> None:
        self.network, self.task, self.settings = network, task, settings
        self.transformer = network.transformer
        self.X_gold = task.X.rows(task.gold.cpu().numpy())
        self.optimiser = torch.optim.Adam(self.transformer.parameters(), lr=settings.learning_rate / 10, fused=True)

    def epoch(self) -> float:
        """Take one step; return its loss."""
        self.transformer.train()
        loss = F.cross_entropy(self.transformer(self.X_gold), self.task.gold_labels)
        loss = loss + self.settings.l2 / 2 * self.transformer.W1.square().sum()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.transformer.eval()
        return float(loss.detach())

    def weights(self) -> list[Tensor]:
        """All of θ."""
        return list(self.transformer.parameters())

    def predict(self) -> Predicted:
        """Probabilities of all nodes, shape (n, c)."""
        return self.task.predict(self.network)


def fine_tune(network: Networks, task: Problem, settings: Settings, epochs: int) -> History:
    """Fine-tune in place.

    With validation nodes the best epoch is kept, and the weights from before count as epoch 0: fine-tuning
    cannot make the validation accuracy worse. Without them all epochs are done.
    """
    learner = FineTuningLearner(network, task, settings)
    rule: StoppingRule = KeepLast()
    if task.validation is not None and task.validation_labels is not None:
        rule = EarlyStopping(task.validation, task.validation_labels, patience=epochs)
        rule.update(learner, History())
    return train(learner, rule, max_epochs=epochs)
