import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn import MetaPN

SIZES = {"n": 20_000, "m": 100_000, "f": 128, "c": 40, "k": 10}
counts = st.integers(1, 10**6)


@settings(max_examples=100, deadline=None)
@given(
    st.fixed_dictionaries({"n": counts, "m": counts, "f": st.integers(1, 10**4), "c": st.integers(2, 200)}),
    st.integers(1, 20),
    st.sampled_from(["n", "m", "f", "c", "k"]),
    st.integers(1, 10**6),
)
def test_more_of_anything_needs_no_less(sizes, k, what, more):
    # With a fixed number of gold nodes: five of each of many classes may be too many for a Gram matrix.
    sizes = {**sizes, "k": k, "g": 0}
    more_of_it = {**sizes, what: sizes[what] + more}
    assert MetaPN.estimate_memory(**sizes) < MetaPN.estimate_memory(**more_of_it)


@pytest.mark.parametrize("what, bytes_each", [("m", 32), ("f", 12 * 20_000 + 24 * 64), ("k", 4 * 20_000 * 43)])
def test_it_grows_by_the_bytes_of_what_is_added(what, bytes_each):
    larger = {**SIZES, what: SIZES[what] + 10}
    grown = MetaPN.estimate_memory(**larger) - MetaPN.estimate_memory(**SIZES)
    assert grown == 10 * bytes_each


def test_it_is_linear_in_the_graph():
    """Ten times the nodes and edges need ten times the memory beyond what the libraries take."""
    base = MetaPN.estimate_memory(0, 0, 128, 40, 10)
    small, large = (MetaPN.estimate_memory(f * 10_000, f * 50_000, 128, 40, 10) - base for f in (1, 10))
    assert large == pytest.approx(10 * small)


def test_a_sparse_matrix_counts_by_its_entries():
    dense = MetaPN.estimate_memory(**SIZES)
    thin = MetaPN.estimate_memory(**SIZES, stored=20_000 * 5)
    thicker = MetaPN.estimate_memory(**SIZES, stored=20_000 * 6)
    assert thin < thicker < dense


def test_each_run_more_adds_its_own_stack_gram_matrix_and_weights():
    one, two, three = (MetaPN.estimate_memory(**SIZES, g=100, h=32, r=r) for r in (1, 2, 3))
    assert two - one == three - two == 4 * 20_000 * (40 * 11 + 100) + 24 * 128 * 32


def test_a_gram_matrix_counts_while_it_is_formed():
    without, few, many = (MetaPN.estimate_memory(**SIZES, g=g) for g in (0, 500, 600))
    assert few - without == 4 * 20_000 * 500
    assert many == without  # of more than 4 f rows it is not formed
