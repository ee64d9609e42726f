"""Columns of text: categories and free text, as sparse columns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metapn.errors import InputError

MOST_CATEGORIES, MOST_WORDS = 50, 1000


@dataclass(frozen=True, eq=False)
class Categories:
    """The most frequent values of a column, a feature each.

    Parameters
    ----------
    names : list of str
        Of the features.
    values : list of str or None
        None last, if a missing value is a category.
    """

    names: list[str]
    values: list[str | None]

    def __post_init__(self) -> None:
        from sklearn.preprocessing import OneHotEncoder

        row = np.empty((1, 1), dtype=object)
        row[0, 0] = self.values[0]
        encoder = OneHotEncoder(
            categories=[np.array(self.values, dtype=object)], handle_unknown="ignore", dtype=np.float32
        )
        object.__setattr__(self, "_encoder", encoder.fit(row))

    @classmethod
    def fit(cls, values: npt.NDArray[np.object_], name: str) -> Self:
        """Keep the most frequent values of an array of shape (n,), None where one is missing."""
        counts = Counter(values.tolist())
        missing = counts.pop(None, 0)
        # Of values that are as frequent the first of the alphabet, so that the order of the rows is of no account.
        frequent = sorted(counts, key=lambda value: (-counts[value], value))[:MOST_CATEGORIES]
        kept: list[str | None] = [*sorted(frequent), *([None] if missing else [])]
        return cls([f"{name} {'missing' if value is None else f'= {value}'}" for value in kept], kept)

    def encode(self, values: npt.NDArray[np.object_]) -> sparse.csr_array:
        """One 1 in each row of a known value, shape (n, c)."""
        matrix = self._encoder.transform(values[:, None])  # type: ignore[attr-defined]
        return sparse.csr_array(matrix)

    def parts(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """All of it as JSON."""
        return {"names": self.names, "values": self.values}, {}

    @classmethod
    def from_parts(cls, described: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Self:
        """Rebuild what `parts` gave."""
        return cls(list(described["names"]), list(described["values"]))


@dataclass(frozen=True, eq=False)
class Words:
    """Words of a column of text, weighted by how rare they are: tf-idf with 1 + log tf, rows of length one.

    Parameters
    ----------
    names : list of str
        Of the features.
    vocabulary : list of str
    idf : float array, shape (v,)
    """

    names: list[str]
    vocabulary: list[str]
    idf: npt.NDArray[Any]

    def __post_init__(self) -> None:
        vectoriser = _vectoriser(vocabulary={word: place for place, word in enumerate(self.vocabulary)})
        vectoriser.idf_ = self.idf
        object.__setattr__(self, "_vectoriser", vectoriser)

    @classmethod
    def fit(cls, values: npt.NDArray[np.object_], name: str) -> Self | None:
        """Learn the words of an array of shape (n,); None if there are none that two rows share."""
        try:
            learnt = _vectoriser(min_df=2, max_features=MOST_WORDS).fit(_texts(values))
        except ValueError:  # of an empty vocabulary; there is no other way to ask
            return None
        vocabulary = learnt.get_feature_names_out().tolist()
        return cls([f"{name}: {word}" for word in vocabulary], vocabulary, learnt.idf_)

    def encode(self, values: npt.NDArray[np.object_]) -> sparse.csr_array:
        """Weights of the words, shape (n, v)."""
        return sparse.csr_array(self._vectoriser.transform(_texts(values)))  # type: ignore[attr-defined]

    def parts(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Words as JSON, their weights as an array."""
        return {"names": self.names, "vocabulary": self.vocabulary}, {"idf": self.idf}

    @classmethod
    def from_parts(cls, described: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Self:
        """Rebuild what `parts` gave."""
        return cls(list(described["names"]), list(described["vocabulary"]), np.asarray(arrays["idf"]))


def text_of(column: Any, name: str) -> npt.NDArray[np.object_]:
    """Values of a pyarrow array as text, shape (n,), None where one is missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        values = column.cast(pa.string()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        raise InputError(f"column {name!r} holds {column.type} where text is needed; correct it") from None
    return np.asarray(values, dtype=object)


def _vectoriser(**more: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, dtype=np.float32, **more)


def _texts(values: npt.NDArray[np.object_]) -> list[str]:
    return ["" if value is None else value for value in values]
