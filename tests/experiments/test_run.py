import numpy as np
import pytest

from metapn import InputError, datasets
from metapn.experiments.cell import Cell
from metapn.experiments.run import run
from metapn.experiments.runner import run_all
from metapn.model.estimator import GraphClassifier

CELL = Cell("sbm-300", shot=3, settings={"max_epochs": 10})


def test_a_run_is_its_cell_and_its_seed():
    (one, other), (two,) = run(CELL, [0, 1]), run(CELL, [0])
    assert (one.accuracy, one.epochs) == (two.accuracy, two.epochs)
    assert one.accuracy != other.accuracy
    assert (one.final, one.epochs) == ("propagated", 10)


def test_outcomes_are_the_same_in_processes_and_in_one():
    alone = sorted((o for _, o in run_all([CELL], range(3))), key=lambda outcome: outcome.seed)
    together = sorted((o for _, o in run_all([CELL], range(3), jobs=2)), key=lambda outcome: outcome.seed)
    assert [(o.seed, o.accuracy) for o in alone] == [(o.seed, o.accuracy) for o in together]


@pytest.mark.parametrize("protocol", ["paper", "no-validation"])
@pytest.mark.parametrize("name", ["metapn", "mlp"])
def test_the_method_sees_no_label_that_the_protocol_hides(monkeypatch, protocol, name):
    """Spy on the tasks: each run's gold labels are its shots alone, and only the paper's protocol has validation."""
    seen = []
    task = GraphClassifier._task

    def spy(self, shared, codes, validation):
        seen.append((self.random_state, task(self, shared, codes, validation)))
        return seen[-1][1]

    monkeypatch.setattr(GraphClassifier, "_task", spy)
    run(Cell("sbm-300", name, shot=3, protocol=protocol, settings={"max_epochs": 2}), [4, 0])
    graph = datasets.load("sbm-300")
    assert [seed for seed, _ in seen] == [4, 0]
    for seed, given in seen:
        split = datasets.split(graph, 3, seed)
        assert given.gold.tolist() == sorted(split.train.tolist())
        np.testing.assert_array_equal(given.gold_labels, graph.labels[given.gold])
        if protocol == "paper":
            np.testing.assert_array_equal(given.validation, split.stopping)
            np.testing.assert_array_equal(given.validation_labels, graph.labels[split.stopping])
            assert not set(split.stopping) & set(split.test)
        else:
            assert given.validation is None
            assert given.validation_labels is None


def test_an_unknown_protocol_is_refused():
    with pytest.raises(InputError, match="protocol"):
        Cell("sbm-300", protocol="secret")
