import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metapn.experiments.paper import Published
from metapn.experiments.statistics import holm
from metapn.experiments.verdict import Summary, paired_tests, summarise, verdict


def test_a_summary_by_hand(record):
    found = summarise([record(seed, accuracy) for seed, accuracy in enumerate([0.25, 0.5, 0.75, 0.5])])
    assert (found.mean, found.n) == (0.5, 4)
    assert 0.25 <= found.low < 0.5 < found.high <= 0.75
    assert summarise([record(0, 0.7)]) == Summary(0.7, 0.7, 0.7, 1)


@pytest.mark.parametrize(
    ("printed", "word", "difference"),
    [
        (0.80, "reproduced", 0.0),
        (0.8249, "reproduced", -0.0249),  # inside the two intervals laid end to end
        (0.8251, "below", -0.0251),
        (0.7751, "reproduced", 0.0249),
        (0.7749, "above", 0.0251),
    ],
)
def test_the_verdict_is_reproduced_while_the_intervals_meet(printed, word, difference):
    found = verdict(Summary(0.80, 0.78, 0.82, 20), Published(printed, 0.005))
    assert (found.word, found.difference) == (word, pytest.approx(difference))


def test_what_the_paper_does_not_print_has_no_verdict():
    found = verdict(Summary(0.8, 0.7, 0.9, 3), None)
    assert (found.word, found.difference) == ("not in the paper", None)


share = st.floats(0, 1)


@given(st.tuples(share, share, share), share, st.floats(0, 0.1))
def test_the_word_agrees_with_the_sign_of_the_difference(ours, printed, half_width):
    low, mean, high = sorted(ours)
    found = verdict(Summary(mean, low, high, 5), Published(printed, half_width))
    assert found.difference == pytest.approx(mean - printed, abs=1e-6)
    if found.word == "above":
        assert found.difference >= 0
    if found.word == "below":
        assert found.difference <= 0


def runs(record, accuracies):
    return [record(seed, accuracy) for seed, accuracy in accuracies.items()]


def test_rivals_are_met_on_the_splits_that_both_have_and_corrected_together(record):
    ours = {0: 0.8, 1: 0.7, 2: 0.9, 3: 0.85, 7: 0.1}
    near = {3: 0.84, 2: 0.89, 1: 0.71, 0: 0.79, 5: 0.2}  # in another order, and with a split of its own
    far = {0: 0.5, 1: 0.45, 2: 0.52}
    rivals = {name: runs(record, each) for name, each in (("near", near), ("far", far), ("once", {0: 0.3}))}
    found = paired_tests(runs(record, ours), rivals)
    assert list(found) == ["near", "far"], "one common split is no test"
    for name, theirs in (("near", near), ("far", far)):
        common = sorted(ours.keys() & theirs.keys())
        one, other = [ours[s] for s in common], [theirs[s] for s in common]
        assert found[name].n == len(common)
        assert found[name].difference == pytest.approx((sum(one) - sum(other)) / len(one))
        assert found[name].p_value == pytest.approx(stats.ttest_rel(one, other).pvalue)
    expected = holm([found["near"].p_value, found["far"].p_value])
    assert [found["near"].p_corrected, found["far"].p_corrected] == expected
    assert paired_tests(runs(record, ours), {}) == {}
