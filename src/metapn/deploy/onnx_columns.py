"""The part of a column encoder that an ONNX graph can hold: columns of numbers and of truth values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from metapn.data.columns import ColumnEncoder
from metapn.deploy.onnx_graph import OnnxGraph


class NumericColumn(NamedTuple):
    """x ↦ (x - mean) / scale, the median where x is missing, and a mark if ``marked``."""

    name: str
    median: float
    mean: float
    scale: float
    marked: bool


def numeric_columns(encoder: ColumnEncoder) -> list[NumericColumn] | None:
    """Columns of an encoder in the order of its features; None if it knows others than numbers."""
    described, arrays = encoder.to_parts()
    found = []
    for place, column in enumerate(described["columns"]):
        if "class" not in column:
            continue  # dropped
        if column["class"] != "Numbers" or column["settings"]["kind"] not in ("numeric", "count", "boolean"):
            return None
        median, mean, scale, marked = (
            arrays[f"{place}.{part}"].item() for part in ("median", "mean", "scale", "marked")
        )
        found.append(NumericColumn(column["plan"]["name"], median, mean, scale, bool(marked)))
    return found


def encoded(graph: OnnxGraph, columns: str, known: list[NumericColumn]) -> str:
    """Features, shape (rows, f), from columns, shape (rows, k), NaN where one is missing."""
    median, mean, scale = (np.array([getattr(each, part) for each in known]) for part in ("median", "mean", "scale"))
    missing = graph.apply("IsNaN", columns)
    filled = graph.apply("Where", missing, median, columns)
    values = graph.apply("Div", graph.apply("Sub", filled, mean), scale)
    both = graph.apply("Concat", values, graph.cast(missing, np.float64), axis=1)
    # A mark stands behind its own column.
    order = [place for k, each in enumerate(known) for place in ((k, len(known) + k) if each.marked else (k,))]
    features = graph.apply("Gather", both, np.array(order), axis=1)
    return graph.cast(graph.cast(features, np.float32), np.float64)
