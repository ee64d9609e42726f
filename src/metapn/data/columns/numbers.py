"""Columns of numbers: one pass in the precision they come in, and float32 from there on.

    x ↦ (x - mean) / scale,  missing ↦ (median - mean) / scale,  and a mark, 1 where it was missing

Mean, scale and median are those that scikit-learn's StandardScaler and SimpleImputer have learnt; applied in one
pass over a column they give what the two give one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from metapn.errors import InputError
from metapn.graph import FloatArray

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Numbers:
    """One or several columns of numbers, standardised.

    Parameters
    ----------
    names : list of str
        Of the features.
    median, mean, scale : float64 array, shape (k,)
    marked : bool array, shape (k,)
        Whether a missing value of this column is marked by a feature of its own.
    """

    names: list[str]
    median: Doubles
    mean: Doubles
    scale: Doubles
    marked: npt.NDArray[np.bool_]

    @classmethod
    def fit(cls, values: npt.NDArray[Any], names: list[str], *, standardised: bool = True) -> Self:
        """Learn from values of shape (n, k), NaN where one is missing."""
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import StandardScaler

        known = values.astype(np.float64)
        strategy = "median" if standardised else "most_frequent"
        imputer = SimpleImputer(strategy=strategy, keep_empty_features=True).fit(known)
        n_features = known.shape[1]
        mean, scale = np.zeros(n_features), np.ones(n_features)
        if standardised:
            scaler = StandardScaler().fit(imputer.transform(known))
            mean, scale = scaler.mean_, scaler.scale_
        marked: npt.NDArray[np.bool_] = np.asarray(np.isnan(known).any(axis=0))
        marks = [f"{name} missing" for name, mark in zip(names, marked, strict=True) if mark]
        return cls([*names, *marks], imputer.statistics_, mean, scale, marked)

    @classmethod
    def unchanged(cls, names: list[str]) -> Self:
        """Leave values as they are; a missing one is zero."""
        zero, one = np.zeros(len(names)), np.ones(len(names))
        return cls(names, zero, zero, one, np.zeros(len(names), dtype=bool))

    def encode(self, values: npt.NDArray[Any], out: FloatArray) -> None:
        """Write the features of values of shape (n, k) into an array of shape (n, k + marks)."""
        n_values = len(self.mean)
        mark = n_values
        for place in range(n_values):
            column = values[:, place]
            shifted = column - self.mean[place]
            shifted /= self.scale[place]
            missing = np.isnan(column)
            if missing.any():
                shifted[missing] = (self.median[place] - self.mean[place]) / self.scale[place]
            with np.errstate(over="ignore"):
                out[:, place] = shifted
            if self.marked[place]:
                out[:, mark] = missing
                mark += 1

    def parts(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Names as JSON, the rest as arrays."""
        arrays = {"median": self.median, "mean": self.mean, "scale": self.scale, "marked": self.marked}
        return {"names": self.names}, arrays

    @classmethod
    def from_parts(cls, described: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Self:
        """Rebuild what `parts` gave."""
        four = (np.asarray(arrays[name]) for name in ("median", "mean", "scale", "marked"))
        return cls(list(described["names"]), *four)


def numbers_of(column: Any, name: str) -> npt.NDArray[Any]:
    """Values of a pyarrow array as floating point, shape (n, 1), NaN where one is missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if not (pa.types.is_float64(column.type) or pa.types.is_float32(column.type)):
        try:
            column = column.cast(pa.float64(), safe=False)
        except pa.ArrowException as error:
            raise InputError(
                f"column {name!r} holds {column.type} where numbers are needed ({str(error).splitlines()[0]}); "
                "correct it, or take the column as another kind"
            ) from None
    # In double precision: a small spread around a large mean (a time in seconds, say) is not to be lost.
    values: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values.astype(np.float64, copy=False)[:, None]


def vectors_of(column: Any, name: str, length: int | None) -> npt.NDArray[Any]:
    """Lists of a pyarrow array as the rows of a matrix, shape (n, k), NaN where one is missing."""
    import pyarrow as pa
    import pyarrow.compute as compute

    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        if not pa.types.is_fixed_size_list(column.type):
            raise InputError(f"column {name!r} holds {column.type} where lists of numbers are needed; correct it")
        column = column.cast(pa.list_(column.type.value_type))
    lengths = compute.list_value_length(column).to_numpy(zero_copy_only=False)
    known = ~np.isnan(lengths.astype(np.float64))
    length = int(lengths[known][0]) if length is None else length
    if (lengths[known] != length).any():
        row = int(np.flatnonzero(known)[(lengths[known] != length).argmax()])
        raise InputError(
            f"column {name!r}, row {row + 1}: the list has {int(lengths[row])} numbers where {length} are needed; "
            "give lists of one length"
        )
    flat = compute.list_flatten(column)
    matrix = np.full((len(column), length), np.nan)
    matrix[known] = numbers_of(flat, name).reshape(-1, length)
    return matrix
