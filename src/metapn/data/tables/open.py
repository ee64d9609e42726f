"""Which reader a file needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from metapn.data.tables.delimited import Delimited
from metapn.data.tables.frames import Frame
from metapn.data.tables.parquet import Parquet
from metapn.data.tables.source import Source
from metapn.errors import InputError

_TEXT = {".csv": None, ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")


def open_table(given: Any, what: str) -> Source:
    """Open a table by the suffix of its file (before ``.gz``), or take a data frame as it is.

    Parameters
    ----------
    given : path or data frame
    what : str
        What messages call a data frame.
    """
    if not isinstance(given, str | Path):
        return Frame.of(given, what)
    path = Path(given)
    suffix = kind_of(path)
    if suffix in _TEXT:
        return Delimited.open(path, _TEXT[suffix])
    if suffix in _PARQUET:
        return Parquet.open(path)
    raise InputError(
        f"{path}: a table of type {suffix or 'unknown'} cannot be read; give .csv, .tsv or .parquet (each may be "
        "gzipped), or a graph in one file, .npz or .graphml"
    )


def kind_of(path: Path) -> str:
    """Suffix of a file in lower case, without that of gzip.

    Examples
    --------
    >>> kind_of(Path("edges.CSV.gz"))
    '.csv'
    """
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()
