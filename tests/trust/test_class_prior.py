import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metapn.errors import InputError
from metapn.trust.class_prior import checked_prior, prior_weights, reweighted

shares = st.lists(st.floats(0.05, 1), min_size=3, max_size=3).map(lambda v: np.array(v) / np.sum(v))


@given(shares, st.integers(0, 5))
def test_the_mean_probability_of_each_class_becomes_its_share(prior, seed):
    P = np.random.default_rng(seed).dirichlet(np.ones(3), 200)
    assert reweighted(P, prior_weights(P, prior)).mean(axis=0) == pytest.approx(prior, abs=1e-4)


def test_its_first_step_is_that_of_saerens():
    P, prior = np.random.default_rng(0).dirichlet(np.ones(3), 50), np.array([0.2, 0.3, 0.5])
    first = prior_weights(P, prior, most=1)
    expected = prior / P.mean(axis=0)
    assert first == pytest.approx(expected / expected.sum())


def test_what_is_as_it_should_be_stays():
    P = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    assert reweighted(P, prior_weights(P, P.mean(axis=0))) == pytest.approx(P)


def test_names_of_numbers_may_be_text():
    assert checked_prior({"10": 0.25, "9": 0.75}, np.array([9, 10])).tolist() == [0.75, 0.25]
    assert checked_prior({9: 0.75, 10: 0.25}, np.array([9, 10])).tolist() == [0.75, 0.25]


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ({"a": 1.0}, "'b' has no share"),
        ({"a": 0.3, "b": 0.3, "c": 0.4}, "'c' is not a class"),
        ({"a": 0.3, "b": 0.3}, "together 0.6"),
        ({"a": 1.5, "b": -0.5}, "above 0"),
        ({"a": float("nan"), "b": 0.5}, "above 0"),
    ],
)
def test_a_wrong_prior_is_told(prior, words):
    with pytest.raises(InputError, match=words):
        checked_prior(prior, np.array(["a", "b"]))
