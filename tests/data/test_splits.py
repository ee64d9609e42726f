import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn.data.splits import paper_split, ratio_split
from metapn.errors import InputError
from metapn.graph import Graph


def protocol(labels, shot, seed, n_known, n_stopping):
    """The published protocol once more, step by step and slowly."""
    first = np.random.RandomState(4143496719)
    known = list(first.choice(np.arange(len(labels)), n_known, replace=False))
    test = []
    for node in range(len(labels)):
        if node not in known:
            test.append(node)
    second = np.random.RandomState(seed)
    train = []
    for label in range(max(labels[node] for node in known) + 1):
        pool = np.array([node for node in known if labels[node] == label])
        train.extend(second.choice(pool, shot, replace=False))
    rest = np.array([node for node in known if node not in train])
    stopping = second.choice(rest, n_stopping, replace=False)
    return train, list(stopping), test


@pytest.mark.parametrize("seed", [0, 1, 2413340114])
@pytest.mark.parametrize("n_known", [400, 700])
def test_the_split_is_the_published_one_to_the_last_node(seed, n_known):
    labels = np.random.default_rng(seed).integers(0, 7, 1000)
    split = paper_split(labels, 5, seed, n_known=n_known, n_stopping=150)
    train, stopping, test = protocol(labels, 5, seed, n_known, 150)
    assert split.train.tolist() == train
    assert split.stopping.tolist() == stopping
    assert split.test.tolist() == test
    assert split.train.dtype == split.stopping.dtype == split.test.dtype == np.int64


@settings(max_examples=60, deadline=None)
@given(
    n_nodes=st.integers(60, 300),
    n_classes=st.integers(1, 5),
    shot=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
    unknown=st.floats(0, 0.3),
)
def test_parts_are_disjoint_and_of_the_size_asked_for(n_nodes, n_classes, shot, seed, unknown):
    random = np.random.default_rng(n_nodes)
    labels = np.where(random.random(n_nodes) < unknown, -1, random.integers(0, n_classes, n_nodes))
    n_labelled = int((labels >= 0).sum())
    n_known, n_stopping = n_labelled // 2, n_labelled // 10
    try:
        split = paper_split(labels, shot, seed, n_known, n_stopping)
    except InputError as error:
        assert "class" in str(error) or "early stopping" in str(error)
        return
    everyone = np.concatenate([split.train, split.stopping, split.test])
    assert len(np.unique(everyone)) == len(everyone)
    assert (labels[everyone] >= 0).all()
    assert len(split.stopping) == n_stopping
    assert len(split.test) == n_labelled - n_known
    present = np.unique(labels[labels >= 0])
    assert [int((labels[split.train] == label).sum()) for label in present] == [shot] * len(present)
    other = paper_split(labels, shot, (seed + 1) % 2**32, n_known, n_stopping)
    np.testing.assert_array_equal(other.test, split.test)


def test_masking_hides_all_but_the_labelled_nodes_in_a_copy():
    labels = np.arange(4000) % 7
    before = labels.copy()
    split = paper_split(labels, 3, seed=0)
    y = split.masked(labels)
    assert (y >= 0).sum() == 21
    np.testing.assert_array_equal(y[split.train], labels[split.train])
    y[:] = 99
    np.testing.assert_array_equal(labels, before)


def test_a_class_with_a_gap_in_the_numbers_is_no_class():
    labels = np.where(np.arange(300) % 2, 0, 5)
    split = paper_split(labels, 2, seed=0, n_known=100, n_stopping=10)
    assert labels[split.train].tolist() == [0, 0, 5, 5]


WRONG = {
    "class too small": ({"shot": 5}, "class 3 has"),
    "no shot": ({"shot": 0}, "the shot is 0"),
    "no test nodes": ({"n_known": 300}, "n_known is 300"),
    "none known": ({"n_known": 0}, "n_known is 0"),
    "too few to stop": ({"shot": 1, "n_stopping": 99}, "early stopping"),
    "seed too large": ({"shot": 1, "seed": 2**32}, "the seed is"),
    "seed negative": ({"shot": 1, "seed": -1}, "the seed is"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_split_is_told_in_one_sentence(case):
    labels = np.zeros(300, dtype=np.int64)
    labels[100:] = np.arange(200) % 3
    labels[-4:] = 3
    changes, word = WRONG[case]
    with pytest.raises(InputError, match=word):
        paper_split(labels, **({"shot": 1, "seed": 0, "n_known": 100, "n_stopping": 20} | changes))


@pytest.fixture
def published():
    nodes = np.random.default_rng(0).permutation(1000)
    parts = {"train": nodes[:500], "valid": nodes[500:700], "test": nodes[700:]}
    return Graph.from_edges([(0, 1)], 1000, labels=np.arange(1000) % 40, official_split=parts)


def test_a_ratio_is_a_share_of_all_nodes_drawn_from_the_published_training_nodes(published):
    split = ratio_split(published, 0.025, seed=3)
    assert len(split.train) == round(0.025 * 1000)
    assert len(np.unique(split.train)) == len(split.train)
    assert np.isin(split.train, published.official_split["train"]).all()
    np.testing.assert_array_equal(split.stopping, published.official_split["valid"])
    np.testing.assert_array_equal(split.test, published.official_split["test"])
    assert split.train.tolist() == ratio_split(published, 0.025, seed=3).train.tolist()
    assert split.train.tolist() != ratio_split(published, 0.025, seed=4).train.tolist()


@pytest.mark.parametrize("ratio", [0.0, -0.1, 0.6, 1e-9, float("nan")])
def test_a_ratio_that_labels_nobody_is_refused(published, ratio):
    with pytest.raises(InputError, match="ratio"):
        ratio_split(published, ratio, seed=0)


def test_a_ratio_needs_a_published_split():
    with pytest.raises(InputError, match="no published split"):
        ratio_split(Graph.from_edges([(0, 1)], 2), 0.01, seed=0)
