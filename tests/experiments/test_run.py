import numpy as np
import pytest

from metapn import InputError, datasets
from metapn.experiments.cell import Cell
from metapn.experiments.run import run
from metapn.experiments.runner import run_all

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
def test_the_method_sees_no_label_that_the_protocol_hides(monkeypatch, protocol):
    """Spy on fit: y holds the shots alone, and validation nodes are given in the paper's protocol only."""
    from metapn import MetaPN

    seen = {}
    fit = MetaPN.fit

    def spy(self, X, y, graph=None, **more):
        seen.update(y=y, validation=more["validation"])
        return fit(self, X, y, graph, **more)

    monkeypatch.setattr(MetaPN, "fit", spy)
    run(Cell("sbm-300", shot=3, protocol=protocol, settings={"max_epochs": 2}), [0])
    graph = datasets.load("sbm-300")
    split = datasets.split(graph, 3, 0)
    assert set(np.flatnonzero(seen["y"] >= 0)) == set(split.train)
    if protocol == "paper":
        np.testing.assert_array_equal(seen["validation"][0], split.stopping)
        assert not set(split.stopping) & set(split.test)
    else:
        assert seen["validation"] is None


def test_an_unknown_protocol_is_refused():
    with pytest.raises(InputError, match="protocol"):
        Cell("sbm-300", protocol="secret")
