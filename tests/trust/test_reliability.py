import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from metapn.trust.reliability import BINS, brier_score, expected_calibration_error, reliability, scores

probabilities = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def test_ece_by_hand():
    """Bins of 1/15: 0.30 and 0.32 share one, [4/15, 5/15); 0.70 and 0.72 another, [10/15, 11/15); 1.0 the last."""
    confidence = np.array([0.30, 0.32, 0.70, 0.72, 1.0])
    right = np.array([False, True, True, True, False])
    by_hand = (2 * abs(0.5 - 0.31) + 2 * abs(1.0 - 0.71) + 1 * abs(0.0 - 1.0)) / 5
    assert expected_calibration_error(confidence, right) == pytest.approx(by_hand)


@given(probabilities)
def test_ece_is_what_the_bins_say(pairs):
    """Two ways to the same number: from all nodes, and from the sums that a ledger keeps."""
    confidence, right = (np.array(values) for values in zip(*pairs, strict=True))
    bins = reliability(confidence, right)
    assert len(bins["count"]) == BINS and sum(bins["count"]) == len(pairs)
    gaps = np.abs(np.array(bins["correct"]) - np.array(bins["confidence"])).sum() / len(pairs)
    ece = expected_calibration_error(confidence, right)
    assert ece == pytest.approx(gaps, abs=1e-3)
    # Bins only cancel errors within them: the error lies between that of one bin and that of no bins.
    assert abs(right.mean() - confidence.mean()) - 1e-9 <= ece <= np.abs(right - confidence).mean() + 1e-9


def test_perfect_probabilities_have_next_to_no_ece():
    random = np.random.default_rng(0)
    confidence = random.uniform(0.3, 1, 200_000)
    assert expected_calibration_error(confidence, random.uniform(size=200_000) < confidence) < 0.01


def test_brier_is_scikit_learn_s():
    random = np.random.default_rng(1)
    P, labels = random.dirichlet(np.ones(4), 50), random.integers(4, size=50)
    assert brier_score(P, labels) == pytest.approx(brier_score_loss(labels, P, labels=range(4), scale_by_half=False))


def test_scores_are_of_the_same_nodes():
    P, labels = np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0])
    found = scores(P, labels)
    assert found["accuracy"] == 0.5 and found["confidence"] == pytest.approx(0.75)
    assert found["ece"] == pytest.approx((0.1 + 0.6) / 2)
    assert found["brier"] == pytest.approx((2 * 0.01 + 2 * 0.36) / 2)
