import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metapn.trust.folds import label_folds

codes = st.lists(st.integers(-1, 4), min_size=2, max_size=60).filter(lambda v: max(v) >= 0).map(np.array)


@given(codes, st.integers(2, 12), st.integers(0, 3))
def test_every_class_keeps_a_label_and_every_other_label_is_hidden_once(labels, n_folds, seed):
    folds = label_folds(labels, n_folds, seed)
    sizes = np.bincount(labels[labels >= 0])
    hidden = np.concatenate([np.zeros(0, dtype=int), *folds])
    assert len(set(hidden.tolist())) == len(hidden)
    assert set(hidden.tolist()) == {i for i, c in enumerate(labels) if c >= 0 and sizes[c] > 1}
    assert len(folds) <= n_folds and all(len(fold) for fold in folds)
    for fold in folds:
        left = np.setdiff1d(np.flatnonzero(labels >= 0), fold)
        assert set(labels[left]) == set(labels[labels >= 0])
        # Each class as evenly as it goes.
        from_each = np.bincount(labels[fold], minlength=len(sizes))[sizes > 1]
        assert (from_each >= sizes[sizes > 1] // len(folds)).all()
        assert (from_each <= -(-sizes[sizes > 1] // len(folds))).all()


def test_as_many_labels_of_each_class_are_hidden_from_each_class():
    labels = np.tile(np.arange(7), 3)
    folds = label_folds(labels, n_folds=5)
    assert [sorted(labels[fold]) for fold in folds] == [list(range(7))] * 3


def test_another_seed_deals_otherwise():
    labels = np.repeat([0, 1, 2], 5)
    first, again, other = (label_folds(labels, 5, seed) for seed in (0, 0, 1))
    assert [f.tolist() for f in first] == [f.tolist() for f in again] != [f.tolist() for f in other]
