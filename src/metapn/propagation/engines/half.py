"""Label matrices in half the bytes: float16 with a power of two beside it, since label mass thins out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.graph import FloatArray


def halved(values: FloatArray, axis: int = 0) -> tuple[npt.NDArray[np.float16], FloatArray]:
    """Round to float16 after dividing by powers of two that bring the largest value along an axis to about 2^15.

    The error is at most 2^-11 of a value; for values below 2^-29 of the largest, 2^-39 of the largest.

    Examples
    --------
    >>> halves, powers = halved(np.array([[3e-9], [1e-9]], dtype=np.float32))
    >>> bool(np.allclose(halves * powers, [[3e-9], [1e-9]], rtol=2**-11))
    True
    """
    powers = powers_of_two(np.abs(values).max(axis=axis, keepdims=True, initial=0))
    return (values / powers).astype(np.float16), powers


def powers_of_two(largest: npt.NDArray[Any]) -> FloatArray:
    """Powers of two that divide these values to something from 2^14 to 2^15."""
    exponents = np.frexp(largest)[1] - 15
    powers: FloatArray = np.ldexp(np.float32(1), np.maximum(exponents, -120)).astype(np.float32)
    return powers
