"""What all readers have in common: named columns, a block of rows at a time or all of them at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from metapn.errors import InputError

Types = Mapping[str, Any]


class Source(Protocol):
    """A table that can be read column by column.

    Parameters
    ----------
    name : str
        What messages call it: the path, as it was given.
    columns : tuple of str
        All names in the order of the table, each of them once.
    notes : tuple of str
        What had to be guessed to read it.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def columns(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def notes(self) -> tuple[str, ...]: ...  # noqa: D102

    def blocks(self, columns: Sequence[str], types: Types) -> Iterator[Any]:
        """Yield pyarrow record batches of some columns, as the table streams by.

        Columns that `types` names are of these pyarrow types (a text file is read as such, other tables keep
        their own).
        """

    def table(self, columns: Sequence[str], types: Types) -> Any:
        """Read some columns of all rows as one pyarrow table."""


def arrow(name: str = "pyarrow") -> Any:
    """Import pyarrow or a module of it, or say how to get it."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise InputError(
            "tables are read with pyarrow, which is not installed; pip install 'metapn[tables]'"
        ) from None


def check_columns(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns, each of which must occur once."""
    for place, column in enumerate(columns):
        if column in columns[:place]:
            raise InputError(f"{name} has two columns called {column!r}; rename one of them")
    return tuple(columns)


def check_known(source: Source, column: str, option: str) -> str:
    """Return the name of a column that was asked for, or list those that there are."""
    if column in source.columns:
        return column
    near = difflib.get_close_matches(column, source.columns, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(
        f"{source.name} has no column {column!r} ({hint}it has {listed(source.columns)}); "
        f"name one of them with {option}"
    )


def counted(number: int, noun: str) -> str:
    """Put a number before a noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str], most: int = 12) -> str:
    """Join names for a message; of many, the first.

    Examples
    --------
    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
