"""Sparse products with their own backward pass: the one operator that every method is built on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor


class SparseMatrix:
    """A constant sparse matrix M that multiplies dense tensors, forward and backward.

        forward   P = M W            backward   dW = Mᵀ dP

    torch's own backward through a CSR product builds the transpose anew on every call; here it is stored
    once, and a symmetric matrix is its own transpose. The product runs on MKL or CUDA where torch has
    them, else on scipy's kernel, so it works wherever the package installs.

    Parameters
    ----------
    matrix : scipy sparse array, shape (n, m)
    symmetric : bool
        Whether M equals its transpose, which is then not stored.
    dtype : torch.dtype
    device : torch.device or str
    """

    def __init__(
        self,
        matrix: sparse.csr_array,
        *,
        symmetric: bool = False,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        csr = sparse.csr_array(matrix)
        self.shape: tuple[int, int] = (csr.shape[0], csr.shape[1])
        self.nnz = int(csr.nnz)
        self._forward = _Kernel(csr, dtype, device)
        self._backward = self._forward if symmetric else _Kernel(sparse.csr_array(csr.T), dtype, device)

    def __matmul__(self, dense: Tensor) -> Tensor:
        """M W for W of shape (m, d), differentiable in W."""
        product: Tensor = _Product.apply(dense, self)  # type: ignore[no-untyped-call]
        return product

    def transpose_product(self, dense: Tensor) -> Tensor:
        """Mᵀ P for P of shape (n, d), without gradient."""
        return self._backward(dense)


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

    def __init__(self, csr: sparse.csr_array, dtype: torch.dtype, device: torch.device | str) -> None:
        self.device = torch.device(device)
        self.native = self.device.type != "cpu" or torch.backends.mkl.is_available()
        self.scipy = csr.astype(torch.empty(0, dtype=dtype).numpy().dtype)
        if self.native:
            # 32-bit indices move fewer bytes; they reach as far as 2^31 stored entries.
            index = np.int32 if max(csr.nnz, *csr.shape) < 2**31 else np.int64
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta", UserWarning)
                self.torch = torch.sparse_csr_tensor(
                    torch.from_numpy(self.scipy.indptr.astype(index, copy=False)),
                    torch.from_numpy(self.scipy.indices.astype(index, copy=False)),
                    torch.from_numpy(self.scipy.data),
                    size=csr.shape,
                    check_invariants=False,
                ).to(self.device)

    def __call__(self, dense: Tensor) -> Tensor:
        if self.native:
            return self.torch @ dense.contiguous()
        return torch.from_numpy(self.scipy @ dense.detach().numpy())
