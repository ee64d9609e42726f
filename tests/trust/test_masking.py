import json

import numpy as np
import pytest

from metapn.baselines import method
from metapn.errors import InputError
from metapn.trust import masking
from metapn.trust.folds import label_folds
from metapn.trust.intervals import wilson_interval
from metapn.trust.masking import hidden_probabilities, masked_round, summed_up


def quickly(name):
    model = method(name)(random_state=0)
    return model.set_params(max_epochs=8) if "max_epochs" in model.get_params() else model


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("name", ["metapn", "mlp", "lp"])
def test_hidden_labels_change_nothing_by_a_bit(small, monkeypatch, name, calibrated):
    """All labels of a fold are poisoned; what is said of its nodes stays, calibration and all."""
    folds = label_folds(small.y, 3)
    monkeypatch.setattr(masking, "label_folds", lambda codes, n_folds, seed: folds)
    poisoned = small.y.copy()
    poisoned[folds[1]] = (poisoned[folds[1]] + 1) % 3
    clean, other = (
        masked_round(quickly(name), small.X, y, small.graph, calibrated=calibrated) for y in (small.y, poisoned)
    )
    own = np.isin(clean.nodes, folds[1])
    assert (clean.labels[own] != other.labels[own]).all() and np.array_equal(clean.nodes, other.nodes)
    assert clean.before[own].tobytes() == other.before[own].tobytes()
    assert clean.before[~own].tobytes() != other.before[~own].tobytes()
    if calibrated:
        assert clean.after[own].tobytes() == other.after[own].tobytes()
        assert clean.after[own].tobytes() != clean.before[own].tobytes()
    else:
        assert clean.after is None


def test_nothing_that_is_fitted_is_given_a_hidden_label(small, monkeypatch):
    given = []

    def spy(model, X, shown, graph, nodes, *, calibrated):
        given.append((shown.copy(), nodes))
        return hidden_probabilities(model, X, shown, graph, nodes, calibrated=calibrated)

    monkeypatch.setattr(masking, "hidden_probabilities", spy)
    result = masked_round(quickly("lp"), small.X, small.y, small.graph, calibrated=False)
    assert sorted(np.concatenate([nodes for _, nodes in given])) == result.nodes.tolist()
    for shown, nodes in given:
        assert (shown[nodes] == -1).all()
        rest = np.setdiff1d(np.arange(120), nodes)
        assert np.array_equal(shown[rest], small.y[rest])


def test_a_round_is_the_same_again_and_another_deals_otherwise(small):
    first, again, other = (
        masked_round(quickly("metapn"), small.X, small.y, small.graph, repeat=repeat, calibrated=False)
        for repeat in (0, 0, 1)
    )
    assert first.before.tobytes() == again.before.tobytes() != other.before.tobytes()
    assert np.array_equal(first.nodes, np.flatnonzero(small.y >= 0))
    assert np.array_equal(first.labels, small.truth[first.nodes])


def test_summed_up_by_hand():
    labels = np.array([0, 0, 1, 1])
    right, wrong = [0.8, 0.2], [0.3, 0.7]
    rounds = [
        masking.Round(1, np.arange(4), labels, np.array([right, wrong, wrong, wrong]), None, 2.0),
        masking.Round(0, np.arange(4), labels, np.array([right, right, wrong, right]), None, 1.0),
    ]
    found = summed_up("some", rounds, ["a", "b"])
    assert found.hits == (1.0, 0.5, 1.0, 0.5) and found.accuracy == 0.75
    assert (found.low, found.high) == wilson_interval(0.75, 4)
    assert found.per_class == {"a": {"labels": 2, "accuracy": 0.75}, "b": {"labels": 2, "accuracy": 0.75}}
    assert (found.n_labels, found.rounds, found.seconds, found.after) == (4, 2, 1.5, None)
    # Four nodes at 0.8, three of them right; four at 0.7, three of them right.
    assert found.before["ece"] == pytest.approx((abs(3 - 3.2) + abs(3 - 2.8)) / 8)
    assert json.loads(json.dumps(found.as_dict()))["hits"] == [1.0, 0.5, 1.0, 0.5]


def test_it_finds_how_good_a_method_is(small):
    """Accuracy by hidden labels agrees with that on the nodes whose truth nobody was shown."""
    y = np.where(np.arange(120) < 60, small.truth, -1)
    found = summed_up(
        "sgc", [masked_round(quickly("sgc"), small.X, y, small.graph, calibrated=False)], ["0", "1", "2"]
    )
    model = quickly("sgc").fit(small.X, y, graph=small.graph)
    real = (model.transduction_ == small.truth)[60:].mean()
    assert found.n_labels == 60 and found.low - 0.1 < real < found.high + 0.1


def test_one_label_of_each_class_cannot_be_tested(small):
    y = np.full(120, -1)
    y[[int(np.flatnonzero(small.truth == c)[0]) for c in range(3)]] = range(3)
    with pytest.raises(InputError, match="label a second node"):
        masked_round(quickly("lp"), small.X, y, small.graph)
