"""Parquet, a batch of rows at a time."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metapn.data.tables.source import Types, arrow, check_columns
from metapn.errors import InputError

#: Values of a batch, and its rows at most: what is in memory at a time, however wide the table.
VALUES, ROWS = 2**23, 2**20


@dataclass(frozen=True)
class Parquet:
    """A Parquet file, gzipped as a whole or not; its columns keep their own types.

    Parameters
    ----------
    path : path
    name : str
    columns : tuple of str
    notes : tuple of str
    """

    path: Path
    name: str
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def open(cls, path: Path) -> Parquet:
        """Read the names of the columns from the end of the file."""
        try:
            with _file(path) as file:
                names = file.schema_arrow.names
        except _errors() as error:
            raise _told(path, error) from None
        return cls(path, str(path), check_columns(str(path), names))

    def blocks(self, columns: Sequence[str], types: Types) -> Iterator[Any]:
        """Yield record batches, text in them checked to be UTF-8."""
        try:
            with _file(self.path) as file:
                rows = min(ROWS, 1 + VALUES // max(1, len(columns)))
                for batch in file.iter_batches(batch_size=rows, columns=list(columns)):
                    chosen = batch.select(list(columns))
                    chosen.validate(full=True)
                    yield chosen
        except _errors() as error:
            raise _told(self.path, error) from None

    def table(self, columns: Sequence[str], types: Types) -> Any:
        """Read all rows."""
        try:
            with _file(self.path) as file:
                table = file.read(columns=list(columns)).select(list(columns))
                table.validate(full=True)
                return table
        except _errors() as error:
            raise _told(self.path, error) from None


def _file(path: Path) -> Any:
    """Open a Parquet file; one that is gzipped is unpacked into memory, for it is read from its end."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    source = arrow().BufferReader(gzip.decompress(path.read_bytes())) if packed else str(path)
    return arrow("pyarrow.parquet").ParquetFile(source)


def _told(path: Path, error: Exception) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"{path}: there is no such file; check the path")
    if isinstance(error, IsADirectoryError | PermissionError):
        return InputError(f"{path}: the file cannot be read ({error.strerror}); check the path")
    words = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return InputError(
        f"{path}: this is no Parquet file, or one that is cut short or damaged ({words}); fetch or write it again"
    )


def _errors() -> tuple[type[Exception], ...]:
    return (arrow().ArrowException, OSError, EOFError, ValueError, KeyError, MemoryError, zlib.error)
