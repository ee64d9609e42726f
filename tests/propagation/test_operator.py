import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from metapn.propagation import operator
from metapn.propagation.operator import SparseMatrix


@st.composite
def matrices(draw, square=False):
    """A random sparse matrix, rows and columns without entries included."""
    n = draw(st.integers(1, 9))
    m = n if square else draw(st.integers(1, 9))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dense = random.standard_normal((n, m)) * (random.random((n, m)) < draw(st.sampled_from([0, 0.2, 0.6, 1])))
    dense[random.random(n) < 0.2] = 0
    return sparse.csr_array(dense)


@pytest.fixture(params=["bags", "csr", "scipy"])
def engine(request, monkeypatch):
    """Each kernel: FBGEMM's sum of bags, torch's CSR product (MKL), and scipy's where torch comes without either."""
    if request.param == "bags" and not operator._HAS_BAGS:
        pytest.skip("this torch has no FBGEMM")
    if request.param == "csr" and not torch.backends.mkl.is_available():
        pytest.skip("this torch has no MKL")
    if request.param != "bags":
        monkeypatch.setattr(operator, "_HAS_BAGS", False)
    if request.param == "scipy":
        monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: False)
    return request.param


def kernel_of(M, dense):
    """Which kernel a product takes."""
    if M._forward._sums_bags(dense):
        return "bags"
    return "scipy" if M._forward.torch is None else "csr"


def check_against_autograd(matrix, M, dtype, tolerance, seed=0):
    """A narrow product and one that is wide enough for bags, forward and backward, against the dense matrix."""
    generator = torch.Generator().manual_seed(seed)
    dense = torch.from_numpy(matrix.toarray()).to(dtype)
    for width in (4, 9):
        W = torch.randn(matrix.shape[1], width, generator=generator, dtype=dtype, requires_grad=True)
        P = torch.randn(matrix.shape[0], width, generator=generator, dtype=dtype)
        product = M @ W
        assert product.dtype == dtype
        torch.testing.assert_close(product, dense @ W, rtol=tolerance, atol=tolerance)
        assert torch.equal(M.product(W.detach()), product)
        (ours,) = torch.autograd.grad(product, W, P)
        (theirs,) = torch.autograd.grad(dense @ W, W, P)
        torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)
        torch.testing.assert_close(M.transpose_product(P), dense.T @ P, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_forward_and_backward_are_those_of_the_dense_product(engine, dtype, tolerance):
    @settings(max_examples=30, deadline=None)
    @given(matrices(), st.integers(0, 2**31))
    def check(matrix, seed):
        check_against_autograd(matrix, SparseMatrix(matrix, dtype=dtype), dtype, tolerance, seed)

    check()


def test_a_symmetric_matrix_is_its_own_transpose(engine):
    @settings(max_examples=20, deadline=None)
    @given(matrices(square=True), st.integers(0, 2**31))
    def check(matrix, seed):
        matrix = sparse.csr_array(matrix + matrix.T)
        M = SparseMatrix(matrix, symmetric=True, dtype=torch.float64)
        assert M._backward is M._forward
        check_against_autograd(matrix, M, torch.float64, 1e-12, seed)

    check()


@pytest.mark.parametrize("symmetric", [False, True])
def test_scaled_entries_are_scaled_in_both_directions(engine, symmetric):
    @settings(max_examples=20, deadline=None)
    @given(matrices(square=symmetric), st.integers(0, 2**31))
    def check(matrix, seed):
        if symmetric:
            matrix = sparse.csr_array(matrix + matrix.T)
        M = SparseMatrix(matrix, symmetric=symmetric, dtype=torch.float64)
        factors = np.random.default_rng(seed).standard_normal(M.nnz)
        other = sparse.csr_array((M.stored.data * factors, M.stored.indices, M.stored.indptr), shape=matrix.shape)
        check_against_autograd(other, M.scaled(torch.from_numpy(factors)), torch.float64, 1e-12, seed)
        check_against_autograd(matrix, M, torch.float64, 1e-12, seed)

    check()


def test_a_matrix_without_entries_gives_zeros(engine):
    M = SparseMatrix(sparse.csr_array((3, 2)))
    W = torch.ones(2, 2, requires_grad=True)
    (M @ W).sum().backward()
    assert M.nnz == 0
    assert (M @ W).tolist() == [[0, 0]] * 3
    assert W.grad.tolist() == [[0, 0]] * 2


def test_a_slice_or_a_transpose_can_be_multiplied(engine):
    matrix = sparse.csr_array(np.arange(6.0).reshape(2, 3))
    W = torch.arange(54.0).reshape(18, 3)
    expected = torch.from_numpy(matrix.toarray()).float() @ W.T
    assert torch.equal(SparseMatrix(matrix) @ W.T, expected)
    assert torch.equal(SparseMatrix(matrix) @ W.T[:, ::2], expected[:, ::2])


def test_all_kernels_agree(engine):
    matrix = sparse.random_array((60, 40), density=0.1, format="csr", rng=np.random.default_rng(0))
    generator = torch.Generator().manual_seed(0)
    W, P = torch.rand(40, 9, generator=generator), torch.rand(60, 9, generator=generator)
    M = SparseMatrix(matrix)
    assert kernel_of(M, W) == engine
    torch.testing.assert_close(M @ W, torch.from_numpy(matrix @ W.double().numpy()).float())
    torch.testing.assert_close(M.transpose_product(P), torch.from_numpy(matrix.T @ P.double().numpy()).float())


def test_narrow_and_double_products_do_without_bags():
    M = SparseMatrix(sparse.csr_array(np.eye(3)))
    for dense in (torch.ones(3, 7), torch.ones(3, 9, dtype=torch.float64)):
        assert kernel_of(M, dense) != "bags"
