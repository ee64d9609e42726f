"""The feature matrix X behind one interface, sparse or dense, and the scaling that makes step sizes comparable."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse
from torch import Tensor

from metapn.graph import Features, FloatArray
from metapn.propagation.operator import SparseMatrix


class FeatureMatrix:
    """X of shape (n, f), kept as it came: CSR with its transpose, or a dense tensor.

    Parameters
    ----------
    X : sparse or dense array, shape (n, f)
    dtype : torch.dtype
    device : torch.device or str
    """

    def __init__(
        self, X: Features, *, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
    ) -> None:
        self.dtype, self.device = dtype, device
        self.source = X
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])
        self.sparse = SparseMatrix(X, dtype=dtype, device=device) if sparse.issparse(X) else None
        self.dense = None if sparse.issparse(X) else torch.as_tensor(X, dtype=dtype, device=device)

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""
        return self.sparse.nnz if self.sparse is not None else self.shape[0] * self.shape[1]

    def __matmul__(self, W: Tensor) -> Tensor:
        """X W, shape (n, d), differentiable in W of shape (f, d)."""
        if self.sparse is not None:
            return self.sparse @ W
        assert self.dense is not None
        return self.dense @ W

    def transpose_product(self, P: Tensor) -> Tensor:
        """Xᵀ P, shape (f, d), for P of shape (n, d), without gradient."""
        if self.sparse is not None:
            return self.sparse.transpose_product(P)
        assert self.dense is not None
        return self.dense.T @ P

    def products(self, W: Tensor) -> Tensor:
        """X W of several runs, shape (r, n, d), without gradient, for W of shape (r, f, d)."""
        if self.dense is not None:
            return self.dense @ W
        assert self.sparse is not None
        # Run by run: a W of r d columns would no longer fit into the cache.
        return _stacked([self.sparse.product(w) for w in W])

    def transpose_products(self, P: Tensor) -> list[Tensor]:
        """Xᵀ P of several runs, each of shape (f, d), without gradient, for P of shape (r, n, d)."""
        return [self.transpose_product(p) for p in P]

    def row_blocks(self, rows: int = 8192) -> Iterator[FeatureMatrix]:
        """Blocks of consecutive rows, as views; a sparse matrix is one block, for it is small beside its product."""
        if self.dense is None or self.shape[0] <= rows:
            yield self
            return
        for start in range(0, self.shape[0], rows):
            block = copy.copy(self)
            block.source, block.dense = self.source[start : start + rows], self.dense[start : start + rows]
            block.shape = (block.dense.shape[0], self.shape[1])
            yield block

    def rows(self, nodes: npt.NDArray[np.int64]) -> FeatureMatrix:
        """Return the rows of these nodes as a matrix of their own, shape (len(nodes), f)."""
        return FeatureMatrix(self.source[nodes], dtype=self.dtype, device=self.device)

    def gram(self, other: FeatureMatrix) -> Tensor:
        """X Zᵀ, shape (n, m), dense: meant for a ``other`` with few rows, such as the gold nodes."""
        product = self.source @ other.source.T
        return torch.as_tensor(
            product.toarray() if sparse.issparse(product) else product, dtype=self.dtype, device=self.device
        )

    def dropout(self, p: float, generator: torch.Generator) -> FeatureMatrix:
        """Return a copy in which each entry is zero with probability p, the others scaled by 1 / (1 - p)."""
        if p == 0:
            return self
        result = copy.copy(self)
        kept = torch.rand(self.n_stored, generator=generator) >= p
        factors = kept.to(self.dtype) / (1 - p)
        if self.sparse is not None:
            result.sparse = self.sparse.scaled(factors)
            result.source = result.sparse.stored
        else:
            assert self.dense is not None
            result.dense = self.dense * factors.view(self.shape).to(self.dense.device)
            result.source = result.dense.cpu().numpy()
        return result


def _stacked(parts: list[Tensor]) -> Tensor:
    return torch.stack(parts) if len(parts) > 1 else parts[0][None]


@dataclass(frozen=True)
class FeatureScaling:
    """x ↦ (x - offset) · factor, then optionally divided by its own L1 norm.

    Adam moves every weight of the first layer by about the learning rate, hence the pre-activation of a
    node by the learning rate times ‖x‖₁. With rows of L1 norm one (exactly, or on average) the same
    learning rate suits bags of words and sensor readings.

    - ``rows``: each row is divided by its L1 norm, as the paper does with bags of words.
    - ``columns``: each column gets mean 0 and variance 1, then all are divided by the mean L1 norm of a row.
    """

    by_row: bool
    offset: npt.NDArray[np.float64]
    factor: npt.NDArray[np.float64]

    @classmethod
    def fit(cls, X: Features, kind: str) -> FeatureScaling:
        """Learn the scaling from X; ``kind`` is rows, columns, none or auto (rows if X is sparse)."""
        n_features = X.shape[1]
        identity = np.zeros(n_features), np.ones(n_features)
        if kind == "auto":
            kind = "rows" if sparse.issparse(X) else "columns"
        if kind != "columns":
            return cls(kind == "rows", *identity)
        dense = X.toarray() if sparse.issparse(X) else X
        offset = dense.mean(axis=0, dtype=np.float64)
        # Row by row of blocks: in double precision a copy of X would be twice its size.
        spread = np.sqrt(sum(np.square(block - offset).sum(axis=0) for block in _blocks(dense)) / len(dense))
        # A column whose spread is rounding noise carries nothing, however large its values.
        constant = spread <= 10 * np.finfo(dense.dtype).eps * np.abs(offset)
        factor = np.where(constant, 0.0, 1 / np.where(constant, 1.0, spread))
        mean_norm = sum(np.abs((block - offset) * factor).sum() for block in _blocks(dense)) / len(dense)
        factor /= mean_norm if mean_norm > 0 else 1.0
        return cls(False, offset, factor)

    def transform(self, X: Features) -> Features:
        """Scale the rows of X, sparse if X is and no column is shifted."""
        if self.by_row:
            norms = np.asarray(abs(X).sum(axis=1), dtype=np.float64).ravel()
            inverse = (1 / np.where(norms > 0, norms, 1)).astype(np.float32)
            if sparse.issparse(X):
                return sparse.csr_array(sparse.dia_array((inverse[None], 0), shape=(len(norms),) * 2) @ X)
            scaled: FloatArray = X * inverse[:, None]
            return scaled
        if sparse.issparse(X) and not self.offset.any():
            return sparse.csr_array(X * self.factor.astype(X.dtype)) if (self.factor != 1).any() else X
        # In the precision of X: in float32 a large X is not copied at twice its size, and in float64 a small
        # spread around a large mean (a time in seconds, say) is not lost.
        dense = X.toarray() if sparse.issparse(X) else X
        shifted = dense - self.offset.astype(dense.dtype)
        shifted *= self.factor.astype(dense.dtype)
        result: FloatArray = shifted.astype(np.float32, copy=False)
        return result


def _blocks(X: npt.NDArray[Any], rows: int = 8192) -> Iterator[npt.NDArray[Any]]:
    return (X[start : start + rows] for start in range(0, len(X), rows))
