"""Of several trainings the best on the validation nodes is kept, weights and history alike."""

import pytest
import torch
from torch import nn

from metapn.baselines.supervised import keep_best
from metapn.model.training import History


def attempts(network, results):
    """Trainings that leave their number in the weight."""
    for number, (accuracy, loss) in enumerate(results):
        nn.init.constant_(network.weight, number)
        scores = ([], []) if accuracy is None else ([0.0, accuracy, 1.0], [9.0, loss, 0.0])
        yield History([1.0] * 3, *scores, best_epoch=2)


@pytest.mark.parametrize(
    ("results", "kept"),
    [
        ([(0.7, 1.0), (0.9, 2.0), (0.8, 0.5)], 1),
        ([(0.7, 1.0), (0.7, 0.8), (0.7, 0.9)], 1),
        ([(None, None), (None, None)], 1),
        ([(0.5, 1.0)], 0),
    ],
    ids=["highest accuracy", "then lowest loss", "without validation the last", "one"],
)
def test_keeps_the_best(results, kept):
    network = nn.Linear(1, 1)
    histories = []

    def noted():
        for history in attempts(network, results):
            histories.append(history)
            yield history

    assert keep_best(network, noted()) is histories[kept]
    assert float(network.weight.detach()) == kept
    assert not torch.isnan(network.bias).any()
