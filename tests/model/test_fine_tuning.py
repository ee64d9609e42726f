from types import SimpleNamespace

import pytest
import torch

from metapn.model.fine_tuning import fine_tune
from metapn.model.learner import BilevelLearner
from metapn.model.metapn import MetaPN


@pytest.fixture
def trained(task_of):
    """A network and its task after some epochs of training."""

    def train(epochs, validation=None, **changes):
        model = MetaPN(**{"hidden": 7, "n_hops": 3, "batch_size": 50, **changes})
        task = task_of(0, validation=validation)
        network = model._network(8, 3, task.generator)
        learner = BilevelLearner([network], [task], model)
        for _ in range(epochs):
            learner.epoch()
        learner.retire([0])
        return SimpleNamespace(network=network, task=task, settings=model)

    return train


def weights(network):
    return [value.detach().clone() for value in network.transformer.parameters()]


def test_it_lowers_the_loss_on_the_gold_nodes(trained):
    t = trained(1)
    before = weights(t.network)
    history = fine_tune(t.network, t.task, t.settings, 12)
    assert len(history.loss) == history.best_epoch == 12
    assert history.loss[-1] < history.loss[0]
    assert not any(torch.equal(a, b) for a, b in zip(before, weights(t.network), strict=True))
    assert not t.network.transformer.training


def test_it_never_loses_validation_accuracy(trained):
    validation = torch.arange(60, 110)
    t = trained(5, validation, l2=5.0, learning_rate=0.05)

    def accuracy():
        with torch.no_grad():
            found = t.network.probabilities(t.task.X, t.task.T)[validation].argmax(dim=1)
        return float((found == t.task.validation_labels).float().mean())

    before, start = accuracy(), weights(t.network)
    harmful = MetaPN(learning_rate=50.0)  # steps so long that they can only harm
    history = fine_tune(t.network, t.task, harmful, 6)
    assert accuracy() >= before
    if history.best_epoch == 0:
        assert all(torch.equal(a, b) for a, b in zip(start, weights(t.network), strict=True))
    assert len(history.validation_accuracy) == 6
