"""Sparse products with their own backward pass: the one operator that every method is built on."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from metapn.propagation.pieces import Pieces


class SparseMatrix:
    """A constant sparse matrix M that multiplies dense tensors, forward and backward.

        forward   P = M W            backward   dW = Mᵀ dP

    torch's own backward through a CSR product builds the transpose anew on every call; here it is stored
    once, and a symmetric matrix is its own transpose. The product runs on the fastest kernel that torch has
    (FBGEMM's sum of bags, MKL, CUDA), else on scipy's, so it works wherever the package installs.

    Parameters
    ----------
    matrix : scipy sparse array, shape (n, m)
    symmetric : bool
        Whether M equals its transpose, which is then not stored.
    exact : bool
        Whether long rows are summed in pieces, see `metapn.propagation.pieces`.
    dtype : torch.dtype
    device : torch.device or str
    """

    def __init__(
        self,
        matrix: sparse.csr_array,
        *,
        symmetric: bool = False,
        exact: bool = False,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        csr = sparse.csr_array(matrix)
        self.shape: tuple[int, int] = (csr.shape[0], csr.shape[1])
        self.nnz = int(csr.nnz)
        self._forward = _Kernel(csr, dtype, device, exact)
        self._backward = self._forward if symmetric else _Kernel(sparse.csr_array(csr.T), dtype, device, exact)
        self._mirror: Tensor | None = None

    def __matmul__(self, dense: Tensor) -> Tensor:
        """M W for W of shape (m, d), differentiable in W."""
        if not (dense.requires_grad and torch.is_grad_enabled()):
            return self._forward(dense)
        product: Tensor = _Product.apply(dense, self)  # type: ignore[no-untyped-call]
        return product

    def product(self, dense: Tensor) -> Tensor:
        """M W for W of shape (m, d), without gradient."""
        return self._forward(dense)

    def transpose_product(self, dense: Tensor) -> Tensor:
        """Mᵀ P for P of shape (n, d), without gradient."""
        return self._backward(dense)

    @property
    def stored(self) -> sparse.csr_array:
        """M itself, on the CPU."""
        return self._forward.scipy

    def scaled(self, factors: Tensor) -> SparseMatrix:
        """Return M with each stored entry multiplied by its factor, shape (nnz,), in the order of the rows.

        Only values are made anew: the places of the entries, and of their mirror images, are shared with M.
        """
        if self._mirror is None:
            structure = self.stored
            places = sparse.csr_array((np.arange(self.nnz), structure.indices, structure.indptr), shape=self.shape)
            self._mirror = torch.from_numpy(sparse.csr_array(places.T).data)
        result = copy.copy(self)
        values = torch.from_numpy(self.stored.data) * factors
        result._forward = self._forward.with_values(values)
        result._backward = self._backward.with_values(values[self._mirror])
        return result


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: SparseMatrix) -> Tensor:
        ctx.matrix = matrix
        return matrix._forward(dense)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.matrix.transpose_product(gradient), None


class _Kernel:
    """One direction of the product, on the fastest engine that this installation has."""

    def __init__(self, csr: sparse.csr_array, dtype: torch.dtype, device: torch.device | str, exact: bool) -> None:
        self.device = torch.device(device)
        self.scipy = csr.astype(torch.empty(0, dtype=dtype).numpy().dtype)
        # 32-bit indices move fewer bytes; they reach as far as 2^31 stored entries.
        index = np.int32 if max(csr.nnz, *csr.shape) < 2**31 else np.int64
        row_starts = torch.from_numpy(self.scipy.indptr.astype(index, copy=False)).to(self.device)
        self.pieces = Pieces(row_starts) if exact else None
        self.row_starts = row_starts if self.pieces is None else self.pieces.starts
        self.columns = torch.from_numpy(self.scipy.indices.astype(index, copy=False)).to(self.device)
        self._take(torch.from_numpy(self.scipy.data))

    def _take(self, values: Tensor) -> None:
        self.values = values.to(self.device)
        self.torch = None
        if self.device.type != "cpu" or torch.backends.mkl.is_available():
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta", UserWarning)
                self.torch = torch.sparse_csr_tensor(
                    self.row_starts, self.columns, self.values, size=self._shape, check_invariants=False
                )

    @property
    def _shape(self) -> tuple[int, int]:
        """Rows or pieces of rows, and columns."""
        return len(self.row_starts) - 1, self.scipy.shape[1]

    def with_values(self, values: Tensor) -> _Kernel:
        """Return the same pattern with other values, shape (nnz,), on the CPU."""
        result = copy.copy(self)
        parts = values.numpy(), self.scipy.indices, self.scipy.indptr
        result.scipy = sparse.csr_array(parts, shape=self.scipy.shape)
        result._take(values)
        return result

    def __call__(self, dense: Tensor) -> Tensor:
        sums = self._sums(dense)
        return sums if self.pieces is None else self.pieces.fold(sums)

    def _sums(self, dense: Tensor) -> Tensor:
        if self._sums_bags(dense):
            # A row of the product is a weighted sum of rows of the dense matrix: a bag of embeddings.
            bags: Tensor = torch.embedding_bag(
                dense.contiguous(), self.columns, self.row_starts, False, 0, False, self.values, True
            )[0]
            return bags
        if self.torch is not None:
            return self.torch @ dense.contiguous()
        parts = self.scipy.data, self.scipy.indices, self.row_starts.numpy()
        return torch.from_numpy(sparse.csr_array(parts, shape=self._shape) @ dense.detach().numpy())

    def _sums_bags(self, dense: Tensor) -> bool:
        """Whether torch has its compiled kernel for bags, and the rows are long enough for it to be the faster."""
        fits = self.device.type == "cpu" and dense.dtype == torch.float32 and dense.shape[1] >= 8
        return fits and _HAS_BAGS and len(self.values) > 0


#: FBGEMM comes with torch on x86; elsewhere embedding_bag works, but slowly.
_HAS_BAGS = "fbgemm" in torch.backends.quantized.supported_engines
