import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from metapn.trust.temperature import HIGHEST, LOWEST, agreement_temperature, fit_temperature, sharpened

rows = st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda row: sum(row) > 0.1)
tables = st.lists(rows, min_size=1, max_size=20).map(lambda t: np.array(t) / np.sum(t, axis=1, keepdims=True))


def drawn(temperature, n=4000, seed=0):
    """Probabilities, and labels drawn from what they are at this temperature."""
    random = np.random.default_rng(seed)
    P = random.dirichlet(np.full(4, 0.7), n)
    truth = sharpened(P, temperature)
    return P, (truth.cumsum(axis=1) < random.uniform(size=(n, 1))).sum(axis=1)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_it_finds_the_temperature_that_labels_were_drawn_by(temperature):
    assert fit_temperature(*drawn(temperature)) == pytest.approx(temperature, rel=0.1)


def test_few_labels_pull_less_than_many():
    P, labels = drawn(0.2)
    found = [fit_temperature(P[:n], labels[:n], centre=0.9) for n in (0, 3, 4000)]
    assert found[0] == pytest.approx(0.9) and found[0] > found[1] > found[2]


def test_agreement_is_calibration_against_the_other_s_answers():
    """Two models: the temperature is that of each against the labels that the other gives."""
    stack = np.random.default_rng(0).dirichlet(np.ones(3), (2, 300))
    one, other = stack
    both = np.concatenate([one, other])
    answers = np.concatenate([other.argmax(axis=1), one.argmax(axis=1)])
    assert agreement_temperature(stack) == pytest.approx(fit_temperature(both, answers, width=1.0))
    assert agreement_temperature(stack[::-1]) == pytest.approx(agreement_temperature(stack))


def test_the_more_models_agree_the_surer_they_should_be():
    random = np.random.default_rng(1)
    classes = random.integers(3, size=400)
    found = []
    for share in (0.5, 0.8, 0.95):
        said = np.where(random.uniform(size=(3, 400)) < share, classes, random.integers(3, size=(3, 400)))
        found.append(agreement_temperature(np.where(np.eye(3)[said] > 0, 0.5, 0.25)))
    assert found[0] > found[1] > found[2]


@given(tables, st.floats(LOWEST, HIGHEST))
def test_it_is_a_softmax_of_logarithms_and_keeps_the_order(P, temperature):
    result = sharpened(P, temperature)
    assert np.isfinite(result).all() and result.sum(axis=1) == pytest.approx(1)
    assert (np.take_along_axis(result, P.argmax(axis=1)[:, None], axis=1)[:, 0] == result.max(axis=1)).all()
    with np.errstate(divide="ignore"):
        assert result == pytest.approx(softmax(np.log(P) / temperature, axis=1), abs=1e-6)


@given(tables, st.randoms(use_true_random=False))
def test_whatever_the_labels_it_stays_in_bounds(P, random):
    labels = np.array([random.randrange(3) for _ in P])
    assert LOWEST <= fit_temperature(P, labels) <= HIGHEST
