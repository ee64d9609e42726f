import pytest

from metapn.experiments.ledger import Record


@pytest.fixture
def record():
    """Make a run, of which only what matters has to be said."""

    def make(seed=0, accuracy=0.5, **other):
        fields = {
            "dataset": "sbm-100",
            "method": "lp",
            "shot": 5,
            "protocol": "paper",
            "settings": {},
            "final": "LP",
            "epochs": 3,
            "best_epoch": 2,
            "seconds": 0.1,
            "megabytes": 9.0,
            "version": "0",
            "observations": {"hops": None},
        }
        return Record(seed=seed, accuracy=accuracy, **(fields | other))

    return make
