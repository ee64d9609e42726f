"""A table of columns in, the feature matrix X out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metapn.data.columns.kinds import check_kinds, counts_among, recognise
from metapn.data.columns.numbers import Numbers
from metapn.data.columns.plan import ColumnPlan
from metapn.data.columns.telling import told_of_numbers, told_of_text
from metapn.data.columns.values import learnt_settings, value_names, values_of
from metapn.data.columns.words import Categories, Words, text_of
from metapn.errors import InputError
from metapn.graph import Features, FloatArray

VERSION = 1

#: X is sparse if it has as many columns, some of text or counts, and at most this share of its entries is not zero.
_SPARSE_WIDTH, _SPARSE_SHARE = 100, 0.25
_Arrays = dict[str, npt.NDArray[Any]]


class ColumnEncoder:
    """Turns the columns of a table into features, each by its kind (see `metapn.data.columns`).

    Attributes
    ----------
    plan_ : list of ColumnPlan
        What became of each column.
    names_ : list of str
        Names of the features, shape (f,): those of numbers first.
    types_ : dict of str to pyarrow type
        The columns that `transform` needs, and what a text file is to be read as.
    sparse_ : bool
        Whether X is sparse.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"size": [1.0, 3.0, None, 2.0], "town": ["Ulm", "Jena", "Ulm", "Ulm"]})
    >>> encoder = ColumnEncoder().fit(table)
    >>> for plan in encoder.plan_:
    ...     print(plan)
    size: numeric, 2 features: standardised; 1 missing value is filled with the median and marked
    town: category, 2 features: one for each of 2 values
    >>> encoder.transform(table)[:, 1:]
    array([[0., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.],
           [0., 0., 1.]], dtype=float32)
    """

    plan_: list[ColumnPlan]
    sparse_: bool
    _numeric: dict[str, Numbers]
    _textual: dict[str, Categories | Words]
    _settings: dict[str, dict[str, Any]]

    def fit(self, columns: Any, kinds: Mapping[str, str] | None = None) -> Self:
        """Learn what to make of each column.

        Parameters
        ----------
        columns : pyarrow table, n rows
        kinds : mapping of str to str, optional
            Kinds of columns that are known better than they would be recognised.
        """
        given = dict(kinds or {})
        check_kinds(given, columns.column_names)
        self.plan_, self._numeric, self._textual, self._settings = [], {}, {}, {}
        given |= dict.fromkeys(
            counts_among(columns, [name for name in columns.column_names if name not in given]), "count"
        )
        for name in columns.column_names:
            column = _whole(columns, name)
            kind, reason = (given[name], "as asked for") if name in given else recognise(column)
            self.plan_.append(self._fit_column(name, column, kind, reason))
        if not self._settings:
            raise InputError(
                "no column can be made a feature: "
                + ", ".join(f"{plan.name!r} was dropped because {plan.told}" for plan in self.plan_)
                + "; add one with values that differ"
            )
        # Many 0 and 1, and a bag of words in columns, are mostly zeros as well.
        thin = bool(self._textual) or any(plan.kind in ("boolean", "count") for plan in self.plan_)
        self.sparse_ = thin and len(self.names_) >= _SPARSE_WIDTH
        if self.sparse_:
            X = self.transform(columns)
            self.sparse_ = bool(X.nnz <= _SPARSE_SHARE * X.shape[0] * X.shape[1])
        return self

    @property
    def names_(self) -> list[str]:
        """Names of the features."""
        return [name for coder in (*self._numeric.values(), *self._textual.values()) for name in coder.names]

    @property
    def types_(self) -> dict[str, Any]:
        """Columns that are needed, with the pyarrow type to read them as."""
        import pyarrow as pa

        return {name: pa.type_for_alias(settings["read_as"]) for name, settings in self._settings.items()}

    def transform(self, columns: Any) -> Features:
        """Features of a table with the columns of fit, in any order; others are not looked at.

        Returns
        -------
        float32 array or csr_array, shape (n, f)
        """
        missing = [name for name in self._settings if name not in columns.column_names]
        if missing:
            raise InputError(
                f"the columns {', '.join(missing)} are missing, from which the features are made; add them"
            )
        dense = self._numbers(columns)
        thin = [coder.encode(text_of(_whole(columns, name), name)) for name, coder in self._textual.items()]
        if self.sparse_:
            return sparse.csr_array(sparse.hstack([sparse.csr_array(dense), *thin], dtype=np.float32))
        return np.hstack([dense, *(matrix.toarray() for matrix in thin)]) if thin else dense

    def unknown(self, X: Features) -> dict[str, int]:
        """Count the rows of X whose value has no feature of its own, by column of categories, where there are any."""
        found = {}
        end = sum(len(coder.names) for coder in self._numeric.values())
        for name, coder in self._textual.items():
            start, end = end, end + len(coder.names)
            if isinstance(coder, Categories):
                found[name] = int((X[:, start:end].sum(axis=1) == 0).sum())
        return {name: count for name, count in found.items() if count}

    def to_parts(self) -> tuple[dict[str, Any], _Arrays]:
        """Take the encoder apart into what JSON holds, and arrays by name."""
        columns: list[dict[str, Any]] = []
        arrays: _Arrays = {}
        for place, plan in enumerate(self.plan_):
            described: dict[str, Any] = {"plan": asdict(plan)}
            coder = self._numeric.get(plan.name) or self._textual.get(plan.name)
            if coder is not None:
                described["coder"], own = coder.parts()
                described |= {"class": type(coder).__name__, "settings": self._settings[plan.name]}
                arrays |= {f"{place}.{name}": array for name, array in own.items()}
            columns.append(described)
        return {"version": VERSION, "sparse": self.sparse_, "columns": columns}, arrays

    @classmethod
    def from_parts(cls, described: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild an encoder from what `to_parts` gave; it gives the same features, bit for bit."""
        if not isinstance(described.get("version"), int) or described["version"] > VERSION:
            raise InputError(
                f"the columns were saved in format version {described.get('version')}, this metapn reads up to "
                f"{VERSION}; update"
            )
        encoder = cls()
        encoder.plan_, encoder._numeric, encoder._textual, encoder._settings = [], {}, {}, {}
        encoder.sparse_ = bool(described["sparse"])
        for place, column in enumerate(described["columns"]):
            plan = ColumnPlan(**column["plan"])
            encoder.plan_.append(plan)
            if "class" in column:
                own = {
                    name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{place}.")
                }
                encoder._settings[plan.name] = dict(column["settings"])
                if column["class"] == "Numbers":
                    encoder._numeric[plan.name] = Numbers.from_parts(column["coder"], own)
                else:
                    coder = Words if column["class"] == "Words" else Categories
                    encoder._textual[plan.name] = coder.from_parts(column["coder"], own)
        return encoder

    def _fit_column(self, name: str, column: Any, kind: str, reason: str) -> ColumnPlan:
        """Learn one column and keep what was learnt."""
        if kind == "drop":
            return ColumnPlan(name, kind, 0, reason)
        settings = learnt_settings(kind, name, column)
        if kind in ("category", "text"):
            text = text_of(column, name)
            textual = Categories.fit(text, name) if kind == "category" else Words.fit(text, name)
            if textual is None:
                return ColumnPlan(name, "drop", 0, "no two of its rows share a word")
            self._textual[name], self._settings[name] = textual, settings
            return ColumnPlan(name, kind, len(textual.names), told_of_text(textual, column))
        values = values_of(name, column, settings)
        _check_range(name, ~np.isinf(values))
        names = value_names(name, settings)
        numeric = (
            Numbers.unchanged(names)
            if kind == "count"
            else Numbers.fit(values, names, standardised=kind != "boolean")
        )
        self._numeric[name], self._settings[name] = numeric, settings
        return ColumnPlan(name, kind, len(numeric.names), told_of_numbers(values, kind, settings))

    def _numbers(self, columns: Any) -> FloatArray:
        """Features of all columns of numbers, shape (n, d)."""
        ends = np.cumsum([len(coder.names) for coder in self._numeric.values()]).tolist()
        # Column after column is written, so columns lie together until all are there.
        out = np.empty((columns.num_rows, ends[-1] if ends else 0), dtype=np.float32, order="F")
        for (name, coder), end in zip(self._numeric.items(), ends, strict=True):
            part = out[:, end - len(coder.names) : end]
            coder.encode(values_of(name, _whole(columns, name), self._settings[name]), part)
            _check_range(name, np.isfinite(part))
        return np.ascontiguousarray(out)


def _check_range(name: str, good: npt.NDArray[np.bool_]) -> None:
    """Refuse a column that is not good everywhere, shape (n, k)."""
    if not good.all():
        row = int((~good).any(axis=1).argmax())
        raise InputError(
            f"column {name!r}, row {row + 1}: the number is infinite, or too large for single precision; "
            "correct it, or leave it empty"
        )


def _whole(columns: Any, name: str) -> Any:
    """One column as one array: of a table it may be in chunks."""
    import pyarrow as pa

    column = columns[name]
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
