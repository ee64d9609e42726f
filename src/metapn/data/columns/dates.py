"""Dates and times: when, and where in the year, the week and the day."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.errors import InputError

_DAY = 86400.0
#: Periods in seconds; the year is the mean one.
CYCLES = {"year": 365.2425 * _DAY, "week": 7 * _DAY, "day": _DAY}


def cycles_of(values: npt.NDArray[Any]) -> list[str]:
    """Cycles that times in seconds, shape (n, 1), go through at least once, and are not always at one place of."""
    known = values[~np.isnan(values)]
    span = known.max() - known.min()
    return [name for name, period in CYCLES.items() if span >= period and np.ptp(known % period) > 0]


def feature_names(name: str, cycles: list[str]) -> list[str]:
    """Names of the features that `times_of` gives."""
    return [f"{name} time", *(f"{name} {wave} of {cycle}" for cycle in cycles for wave in ("sine", "cosine"))]


def spread_out(values: npt.NDArray[Any], cycles: list[str]) -> npt.NDArray[np.float64]:
    """Time in seconds, then sin(2πt/p) and cos(2πt/p) for each period p, shape (n, 1 + 2 cycles)."""
    angles = [2 * np.pi * values / CYCLES[cycle] for cycle in cycles]
    return np.hstack([values, *(wave(angle) for angle in angles for wave in (np.sin, np.cos))])


def seconds_of(column: Any, name: str) -> npt.NDArray[np.float64]:
    """Seconds since 1970, or since midnight, shape (n, 1), NaN where a value is missing."""
    import pyarrow as pa
    import pyarrow.compute as compute

    try:
        if pa.types.is_time(column.type):
            numbers = column.cast(pa.time64("us")).cast(pa.int64())
        else:
            times = compute.cast(column, pa.timestamp("us", tz=getattr(column.type, "tz", None)), safe=False)
            numbers = times.cast(pa.int64())
    except pa.ArrowException:
        raise InputError(
            f"column {name!r} holds {column.type} where dates are needed; write them as 2024-12-31"
        ) from None
    seconds: npt.NDArray[np.float64] = numbers.to_numpy(zero_copy_only=False).astype(np.float64)[:, None] / 1e6
    return seconds
