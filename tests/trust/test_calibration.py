import json

import numpy as np
import pytest

from metapn.baselines import method
from metapn.errors import InputError
from metapn.trust.calibration import Adjustment, Calibration, calibrate
from metapn.trust.cross_fitting import cross_fitted
from metapn.trust.folds import label_folds
from metapn.trust.reliability import scores


@pytest.mark.parametrize("name", ["metapn", "mlp", "lp", "appnp"])
def test_hidden_labels_change_no_probability_by_a_bit(small, name):
    """Each fold's labels, poisoned, change what is said of other folds, and nothing of what is said of itself."""
    model = method(name)(random_state=0)
    model.set_params(**({"max_epochs": 10} if "max_epochs" in model.get_params() else {}))
    folds = label_folds(small.y, 3)
    clean = cross_fitted(model, small.X, small.y, small.graph, folds)
    poisoned = small.y.copy()
    poisoned[folds[1]] = (poisoned[folds[1]] + 1) % 3
    other = cross_fitted(model, small.X, poisoned, small.graph, folds)
    own = np.isin(clean.nodes, folds[1])
    for before, after in ((clean.transduction, other.transduction), (clean.unseen, other.unseen)):
        assert before.hidden[own].tobytes() == after.hidden[own].tobytes()
        assert before.common[1].tobytes() == after.common[1].tobytes()
    assert clean.transduction.hidden[~own].tobytes() != other.transduction.hidden[~own].tobytes()
    assert (clean.labels[own] != other.labels[own]).all()


def test_hidden_predictions_are_those_of_fits_without_the_labels(small, quick):
    folds = label_folds(small.y, 4)
    found = cross_fitted(quick, small.X, small.y, small.graph, folds)
    y = small.y.copy()
    y[folds[2]] = -1
    quick.fit(small.X, y, graph=small.graph)
    own = np.isin(found.nodes, folds[2])
    assert found.transduction.hidden[own].tobytes() == quick.label_distributions_[folds[2]].tobytes()
    assert found.unseen.hidden[own].tobytes() == quick.predict_proba(small.X)[folds[2]].tobytes()
    assert np.array_equal(found.labels, small.truth[found.nodes])
    assert found.unseen.common[2].tobytes() == quick.predict_proba(small.X)[small.y < 0].tobytes()


def test_it_makes_a_careful_model_bolder(small, quick):
    """Propagation leaves probabilities far too near to uniform, though the classes are right: ECE must fall."""
    quick.set_params(max_epochs=60).fit(small.X, small.y, graph=small.graph)
    calibration = calibrate(quick, small.X, small.y, small.graph)
    assert calibration.n_labels == 12
    hidden = small.y < 0
    before = scores(quick.label_distributions_[hidden], small.truth[hidden])
    after = scores(calibration.transduction.apply(quick.label_distributions_)[hidden], small.truth[hidden])
    assert after["accuracy"] == before["accuracy"] > 0.7
    assert after["ece"] < before["ece"] / 2 and after["brier"] < before["brier"]
    assert calibration.transduction.temperature < 1


def test_labels_of_any_kind_give_the_same(small, quick):
    names = np.array(["x", "y", "z", None], dtype=object)[small.y]
    quick.fit(small.X, names, graph=small.graph)
    by_name = calibrate(quick, small.X, names, small.graph, n_folds=3)
    quick.fit(small.X, small.y, graph=small.graph)
    assert calibrate(quick, small.X, small.y, small.graph, n_folds=3) == by_name


def test_without_a_graph_the_neighbours_are_joined_as_in_fit(small, quick):
    quick.fit(small.X, small.y)
    assert calibrate(quick, small.X, small.y, n_folds=2).n_labels == 12


def test_validation_nodes_stop_the_refits_too(small, quick):
    stopping = np.flatnonzero(small.y < 0)[:20]
    pair = (stopping, small.truth[stopping])
    quick.set_params(patience=2).fit(small.X, small.y, graph=small.graph, validation=pair)
    with_nodes = calibrate(quick, small.X, small.y, small.graph, validation=pair, n_folds=2)
    assert with_nodes != calibrate(quick, small.X, small.y, small.graph, n_folds=2)


def test_a_class_prior_holds_on_the_graph_and_for_unseen_nodes(small, quick):
    quick.fit(small.X, small.y, graph=small.graph)
    prior = {0: 0.2, 1: 0.3, 2: 0.5}
    calibration = calibrate(quick, small.X, small.y, small.graph, class_prior=prior, n_folds=2)
    for adjustment, P in (
        (calibration.transduction, quick.label_distributions_),
        (calibration.unseen, quick.predict_proba(small.X)),
    ):
        assert adjustment.apply(P).mean(axis=0) == pytest.approx([0.2, 0.3, 0.5], abs=1e-3)
    assert calibration.class_prior == {"0": 0.2, "1": 0.3, "2": 0.5}
    with pytest.raises(InputError, match="is not a class"):
        calibrate(quick, small.X, small.y, small.graph, class_prior={0: 0.5, 7: 0.5})


def test_with_one_label_a_class_nothing_can_be_hidden(small, quick):
    y = np.full(120, -1)
    y[[int(np.flatnonzero(small.truth == c)[0]) for c in range(3)]] = range(3)
    quick.fit(small.X, y, graph=small.graph)
    calibration = calibrate(quick, small.X, y, small.graph)
    assert calibration == Calibration() and "not calibrated" in str(calibration)
    P = quick.label_distributions_
    assert calibration.transduction.apply(P) == pytest.approx(P, abs=1e-6)


def test_it_goes_through_json():
    one = Calibration(Adjustment(0.123456789, (0.1, 0.9)), Adjustment(1.7), 21, {"a": 0.1, "b": 0.9})
    assert Calibration.from_dict(json.loads(json.dumps(one.as_dict()))) == one
    assert "0.12" in str(one) and "21 labels" in str(one)


@pytest.mark.parametrize(
    "broken",
    [
        {"transduction": {}},
        {"transduction": {"temperature": 0, "weights": []}},
        {"unseen": {"temperature": 1, "weights": [-1.0, 1.0]}},
        {"unseen": None},
        {"n_labels": "many"},
        {"class_prior": [1]},
    ],
)
def test_a_damaged_calibration_is_told(broken):
    with pytest.raises(InputError, match="does not read as one"):
        Calibration.from_dict(Calibration().as_dict() | broken)
