import numpy as np
import pytest
import torch
from scipy import sparse

from metapn.model.features import FeatureMatrix, FeatureScaling

KINDS = {"dense": np.asarray, "sparse": sparse.csr_array}


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    return random.standard_normal((12, 7)) * (random.random((12, 7)) < 0.5)


@pytest.fixture(params=KINDS)
def wrap(request):
    return KINDS[request.param]


def test_products_are_those_of_the_dense_matrix(rows, wrap):
    X, dense = FeatureMatrix(wrap(rows), dtype=torch.float64), torch.from_numpy(rows)
    W = torch.rand(7, 3, dtype=torch.float64, requires_grad=True)
    P = torch.rand(12, 3, dtype=torch.float64)
    torch.testing.assert_close(X @ W, dense @ W)
    torch.testing.assert_close(torch.autograd.grad(X @ W, W, P)[0], dense.T @ P)
    torch.testing.assert_close(X.transpose_product(P), dense.T @ P)
    assert X.shape == (12, 7)
    assert X.n_stored == (np.count_nonzero(rows) if wrap is sparse.csr_array else 84)


def test_rows_and_gram_matrix(rows, wrap):
    X = FeatureMatrix(wrap(rows), dtype=torch.float64)
    few = X.rows(np.array([3, 0, 3]))
    torch.testing.assert_close(few @ torch.eye(7, dtype=torch.float64), torch.from_numpy(rows[[3, 0, 3]]))
    torch.testing.assert_close(X.gram(few), torch.from_numpy(rows @ rows[[3, 0, 3]].T))


def test_dropout_scales_what_it_keeps_in_forward_and_backward_alike(rows, wrap):
    X = FeatureMatrix(wrap(rows))
    assert X.dropout(0, torch.Generator()) is X
    noisy = X.dropout(0.5, torch.Generator().manual_seed(0))
    values = noisy @ torch.eye(7)
    kept = values.numpy() != 0
    assert 0 < kept.sum() < np.count_nonzero(rows)
    assert values.numpy()[kept] == pytest.approx(2 * rows[kept], rel=1e-6)
    torch.testing.assert_close(noisy.transpose_product(torch.eye(12)), values.T)
    torch.testing.assert_close(noisy.gram(X), values @ torch.from_numpy(rows.T).float())
    torch.testing.assert_close(noisy.rows(np.array([2, 1])) @ torch.eye(7), values[[2, 1]])
    torch.testing.assert_close(X @ torch.eye(7), torch.from_numpy(rows).float())
    again = X.dropout(0.5, torch.Generator().manual_seed(0))
    assert torch.equal(again @ torch.eye(7), values)


def test_rows_get_norm_one_and_empty_rows_stay(rows, wrap):
    rows[4] = 0
    scaling = FeatureScaling.fit(wrap(rows), "rows")
    scaled = scaling.transform(wrap(rows))
    assert sparse.issparse(scaled) == (wrap is sparse.csr_array)
    norms = np.asarray(abs(scaled).sum(axis=1)).ravel()
    assert norms == pytest.approx(np.where(np.arange(12) == 4, 0, 1), abs=1e-6)


def test_columns_get_mean_zero_and_equal_spread_and_rows_norm_one_on_average(rows, wrap):
    rows[:, 2] = 1e6  # a constant column carries nothing
    rows[:, 3] *= 1e3
    scaled = FeatureScaling.fit(wrap(rows), "columns").transform(wrap(rows))
    assert scaled.dtype == np.float32
    spread = scaled.std(axis=0)
    assert scaled.mean(axis=0) == pytest.approx(np.zeros(7), abs=1e-6)
    assert spread[2] == 0
    assert np.delete(spread, 2) == pytest.approx(np.full(6, spread[0]), rel=1e-4)
    assert np.abs(scaled).sum(axis=1).mean() == pytest.approx(1, rel=1e-4)


def test_a_matrix_of_one_value_gives_zeros(wrap):
    scaled = FeatureScaling.fit(wrap(np.full((4, 3), 7.0)), "columns").transform(wrap(np.full((2, 3), 7.0)))
    assert not scaled.any()


def test_auto_is_rows_for_sparse_and_columns_for_dense(rows):
    for kind, named in (("sparse", "rows"), ("dense", "columns")):
        X = KINDS[kind](rows)
        auto, chosen = (FeatureScaling.fit(X, name).transform(X) for name in ("auto", named))
        assert np.array_equal(
            auto.toarray() if kind == "sparse" else auto, chosen.toarray() if kind == "sparse" else chosen
        )


def test_none_leaves_the_values(rows, wrap):
    X = wrap(rows)
    scaled = FeatureScaling.fit(X, "none").transform(X)
    assert np.asarray(scaled.toarray() if sparse.issparse(scaled) else scaled) == pytest.approx(rows, rel=1e-6)


def test_unseen_rows_are_scaled_by_what_was_learned(rows):
    scaling = FeatureScaling.fit(rows, "columns")
    whole = scaling.transform(rows)
    assert np.array_equal(scaling.transform(rows[3:5]), whole[3:5])


def test_a_small_spread_around_a_large_mean_counts_in_double_precision():
    """Times in seconds since 1970: their spread is a millionth of their mean."""
    times = 1.6e9 + np.array([[0.0], [1000], [2000], [3000]])
    scaled = FeatureScaling.fit(times, "columns").transform(times)
    assert scaled[:, 0] == pytest.approx(np.array([-1.5, -0.5, 0.5, 1.5]), rel=1e-3)
    assert scaled.dtype == np.float32
    constant = np.full((4, 1), 0.1, np.float32)
    assert not FeatureScaling.fit(constant, "columns").transform(constant).any()


@pytest.mark.parametrize("n_runs", [1, 3])
def test_products_of_several_runs_are_those_of_each(rows, wrap, n_runs):
    X, dense = FeatureMatrix(wrap(rows), dtype=torch.float64), torch.from_numpy(rows)
    generator = torch.Generator().manual_seed(0)
    W = torch.rand(n_runs, 7, 3, dtype=torch.float64, generator=generator)
    P = torch.rand(n_runs, 12, 3, dtype=torch.float64, generator=generator)
    torch.testing.assert_close(X.products(W), dense @ W)
    torch.testing.assert_close(torch.stack(X.transpose_products(P)), dense.T @ P)


@pytest.mark.parametrize("size", [1, 5, 12, 100])
def test_row_blocks_are_the_rows_in_order(rows, wrap, size):
    X = FeatureMatrix(wrap(rows), dtype=torch.float64)
    blocks = list(X.row_blocks(size))
    parts = [block @ torch.eye(7, dtype=torch.float64) for block in blocks]
    assert [len(part) for part in parts] == [block.shape[0] for block in blocks]
    torch.testing.assert_close(torch.cat(parts), torch.from_numpy(rows))
    if wrap is np.asarray:
        assert max(len(part) for part in parts) <= size
        assert all(np.shares_memory(block.source, X.source) for block in blocks)
    else:
        assert len(blocks) == 1
