import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metapn.experiments.comparison import compare
from metapn.experiments.memory import peak_memory
from metapn.experiments.run import Outcome
from metapn.experiments.statistics import bootstrap_interval, holm, paired_p_value


def test_the_bootstrap_interval_agrees_with_scipy_s():
    values = np.random.default_rng(0).normal(0.8, 0.03, 20)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=10_000, rng=1).confidence_interval
    np.testing.assert_allclose(bootstrap_interval(values), theirs, atol=1e-3)


def test_the_interval_of_one_value_is_that_value():
    assert bootstrap_interval([0.5]) == (0.5, 0.5)


def test_the_paired_test_by_its_formula():
    one, other = np.random.default_rng(1).normal(size=(2, 12))
    d = one - other
    t = d.mean() / (d.std(ddof=1) / np.sqrt(12))
    assert paired_p_value(one, other) == pytest.approx(2 * stats.t.sf(abs(t), 11))
    assert paired_p_value(one, one) == 1.0


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def rejected(p_values, level):
    """Holm's procedure as he wrote it: from the smallest p on, while p(i) ≤ level / (m - i + 1)."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    found = set()
    for step, place in enumerate(order):
        if p_values[place] > level / (len(p_values) - step):
            break
        found.add(place)
    return found


@given(st.lists(st.floats(0.001, 0.999), min_size=1, max_size=6), st.floats(0.01, 0.99))
def test_a_corrected_p_is_below_a_level_just_where_holm_s_procedure_rejects(p_values, level):
    corrected = holm(p_values)
    if min(abs(p - level) for p in corrected) > 1e-9:  # rounding decides nothing
        assert {place for place, p in enumerate(corrected) if p <= level} == rejected(p_values, level)
    assert all(p <= c <= 1 for p, c in zip(p_values, corrected, strict=True))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9), st.floats(-0.2, 0.2))
def test_the_paired_test_is_even_and_knows_the_same_shift_as_no_chance(values, shift):
    shifted = [value + shift for value in values]
    assert paired_p_value(values, shifted) == paired_p_value(shifted, values)
    assert paired_p_value(values, shifted) == (0.0 if np.any(np.subtract(values, shifted)) else 1.0)


def outcomes(accuracies, seconds=1.0):
    runs = [Outcome(seed, a, 10, seconds, 100 + seed, "x") for seed, a in enumerate(accuracies)]
    return runs[::-1]  # in any order


def test_a_comparison_ranks_and_tests_on_the_same_splits():
    best = [0.8, 0.9, 0.7, 0.85]
    rows = compare(
        {
            "worse": outcomes([0.7, 0.8, 0.61, 0.74]),
            "best": outcomes(best, seconds=2.0),
            "much worse": outcomes([0.3, 0.4, 0.2, 0.1]),
        }
    )
    assert [row.method for row in rows] == ["best", "worse", "much worse"]
    assert rows[0].p_value is None and rows[0].accuracies == best and rows[0].seconds == 2.0
    assert rows[1].p_value == pytest.approx(stats.ttest_rel(best, rows[1].accuracies).pvalue)
    assert rows[1].p_corrected >= rows[1].p_value
    assert rows[0].megabytes == 103


def test_peak_memory_sees_what_was_held_and_not_what_was_before():
    before = bytearray(300_000_000)
    del before
    with peak_memory() as megabytes:
        base = megabytes()
        block = np.ones(25_000_000)  # 200 MB
        del block
    assert megabytes() - base > 150
    with peak_memory() as megabytes:
        pass
    assert megabytes() < base + 150
