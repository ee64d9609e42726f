"""The numbers that a column stands for, by its kind and by what was learnt of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.data.columns.dates import cycles_of, feature_names, seconds_of, spread_out
from metapn.data.columns.numbers import numbers_of, vectors_of


def learnt_settings(kind: str, name: str, column: Any) -> dict[str, Any]:
    """What must be known of a column to read another one alike: its kind, type, length of lists, cycles of dates."""
    settings: dict[str, Any] = {"kind": kind, "read_as": _read_as(kind, column)}
    if kind == "vector":
        settings["length"] = vectors_of(column, name, None).shape[1]
    if kind == "date":
        settings["cycles"] = cycles_of(seconds_of(column, name))
    return settings


def values_of(name: str, column: Any, settings: dict[str, Any]) -> npt.NDArray[np.float64]:
    """Numbers that a column stands for, shape (n, k), NaN where one is missing."""
    if settings["kind"] == "vector":
        return vectors_of(column, name, settings["length"])
    if settings["kind"] == "date":
        return spread_out(seconds_of(column, name), settings["cycles"])
    return numbers_of(column, name)


def value_names(name: str, settings: dict[str, Any]) -> list[str]:
    """Names of what `values_of` gives, one for each of its columns."""
    if settings["kind"] == "vector":
        return [f"{name} {place}" for place in range(settings["length"])]
    return feature_names(name, settings["cycles"]) if settings["kind"] == "date" else [name]


def _read_as(kind: str, column: Any) -> str:
    """What a text file is to be read as, by pyarrow's own names."""
    import pyarrow as pa

    if kind == "date":
        return "time64[us]" if pa.types.is_time(column.type) else "timestamp[us]"
    if kind == "boolean" and pa.types.is_boolean(column.type):
        return "bool"
    return "double" if kind in ("numeric", "count", "boolean") else "string"
