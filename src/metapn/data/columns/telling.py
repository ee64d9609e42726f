"""What is told of a column that has become features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.data.columns.words import Categories, Words


def told_of_text(coder: Categories | Words, column: Any) -> str:
    """Say which values or words have a feature."""
    if isinstance(coder, Words):
        return f"tf-idf of {len(coder.vocabulary):,} words"
    different = column.drop_null().unique()
    kept = len([value for value in coder.values if value is not None])
    others = f", others are zeros (there are {len(different):,})" if len(different) > kept else ""
    missing = f", and one for {column.null_count:,} missing" if column.null_count else ""
    return f"one for each of {kept} values{missing}{others}"


def told_of_numbers(values: npt.NDArray[np.float64], kind: str, settings: dict[str, Any]) -> str:
    """Say how the numbers, shape (n, k), are scaled, and what becomes of the missing ones."""
    told = {
        "numeric": "standardised",
        "count": "as it is, for it is one of many that are mostly zero",
        "boolean": "0 or 1",
        "vector": "each place standardised",
        "date": f"time{''.join(f', and place in the {cycle}' for cycle in settings.get('cycles', []))}, standardised",
    }[kind]
    missing = int(np.isnan(values).any(axis=1).sum())
    if not missing:
        return told
    missing_are = f"{missing:,} missing {'value is' if missing == 1 else 'values are'}"
    if kind == "count":
        return f"{told}; {missing_are} taken as zero"
    return (
        f"{told}; {missing_are} filled with the {'most frequent one' if kind == 'boolean' else 'median'} and marked"
    )
