"""CSV and TSV, gzipped or not: parsed by pyarrow as they stream by, refused with the row that is wrong."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metapn.data.tables.source import Types, arrow, check_columns
from metapn.errors import InputError

#: Bytes that pyarrow parses at a time of few columns and of many, and how much is looked at to find the header.
BLOCK, WIDE_BLOCK, HEAD = 2**22, 2**24, 2**20
#: From so many columns on a small block would hold too few rows to be worth a step.
_WIDE = 16
#: What stands for a missing value. In ids only the empty field does: NA may well be Namibia.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "<NA>", "#N/A", "?")
_SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"PK\x03\x04": "a zip or a spreadsheet", b"PAR1": "Parquet"}
_CUT = "it is cut short or damaged; fetch or write it again"


@dataclass(frozen=True)
class Delimited:
    """A table of text.

    Parameters
    ----------
    path : path
    name : str
    columns : tuple of str
    separator : str
    headed : bool
        Whether the first row holds the names; otherwise they are ``column 1``, ``column 2``, ...
    notes : tuple of str
    """

    path: Path
    name: str
    columns: tuple[str, ...]
    separator: str
    headed: bool
    notes: tuple[str, ...]

    @classmethod
    def open(cls, path: Path, separator: str | None = None) -> Delimited:
        """Look at the first row: what separates the fields, and whether it holds names or already numbers."""
        line = _first_line(path)
        found = separator or max(_SEPARATORS, key=line.count)
        fields = next(csv.reader([line], delimiter=found))
        headed = not all(_is_number(field) for field in fields)
        names = fields if headed else [f"column {place + 1}" for place in range(len(fields))]
        notes = []
        if found != (separator or ","):
            notes.append(f"{path}: fields are separated by {_SEPARATORS[found]}")
        if not headed:
            notes.append(f"{path}: the first row holds numbers only and is read as data, not as a header")
        return cls(path, str(path), check_columns(str(path), names), found, headed, tuple(notes))

    def blocks(self, columns: Sequence[str], types: Types) -> Iterator[Any]:
        """Yield record batches; a row that cannot be read is looked for once more, to name it."""
        try:
            yield from self._streamed(columns, types, threads=True)
        except _errors() as error:
            raise self._told(error, columns, types) from None

    def table(self, columns: Sequence[str], types: Types) -> Any:
        """Read all rows; the type of a column is that which suits them all."""
        pa = arrow()
        try:
            with _bytes(self.path) as stream:
                options = self._options(columns, types, threads=True)
                content = arrow("pyarrow.csv").read_csv(stream, **options).select(list(columns))
            if any(pa.types.is_binary(field.type) for field in content.schema):
                # What is not UTF-8 is bytes to pyarrow, and would be a column of which nothing can be made.
                raise pa.ArrowInvalid("CSV conversion error: invalid UTF8 data")
            return content
        except _errors() as error:
            raise self._told(error, columns, types) from None

    def _streamed(self, columns: Sequence[str], types: Types, *, threads: bool) -> Iterator[Any]:
        with _bytes(self.path) as stream:
            reader = arrow("pyarrow.csv").open_csv(stream, **self._options(columns, types, threads=threads))
            for batch in reader:
                yield batch.select(list(columns))

    def _options(self, columns: Sequence[str], types: Types, *, threads: bool) -> dict[str, Any]:
        module = arrow("pyarrow.csv")
        return {
            "read_options": module.ReadOptions(
                use_threads=threads,
                block_size=BLOCK if len(columns) < _WIDE else WIDE_BLOCK,
                column_names=None if self.headed else list(self.columns),
            ),
            "parse_options": module.ParseOptions(delimiter=self.separator, newlines_in_values=True),
            "convert_options": module.ConvertOptions(
                include_columns=list(columns), column_types=dict(types), null_values=list(MISSING)
            ),
        }

    def _told(self, error: Exception, columns: Sequence[str], types: Types) -> InputError:
        """Say in one sentence what pyarrow has stumbled over."""
        words = str(error)
        if "Row #" not in words and ("CSV parse" in words or "CSV conversion" in words):
            # Only one thread knows the number of the row. What was not said to be anything is read as text.
            try:
                text = dict.fromkeys(columns, arrow().string())
                for _ in self._streamed(columns, text | dict(types), threads=False):
                    pass
            except _errors() as again:
                words = str(again)
        number = re.search(r"Row #(\d+)", words)
        where = f"{self.name}, row {int(number[1]) - self.headed}" if number else self.name
        if fields := re.search(r"Expected (\d+) columns, got (\d+)", words):
            return InputError(
                f"{where}: it has {fields[2]} fields where the first row has {fields[1]}; "
                "quote a field that holds the separator, and leave none out"
            )
        if "UTF8" in words or isinstance(error, UnicodeDecodeError):
            return InputError(f"{where}: the text is not UTF-8; save the file in that encoding")
        if value := re.search(r"column #(\d+):.*conversion error to (.*): invalid value '(.*)'", words):
            return InputError(
                f"{where}: column {self.columns[int(value[1])]!r} holds {value[3]!r} where a number is needed; "
                "correct it, or leave it empty"
            )
        if "straddl" in words:
            return InputError(
                f"{where}: a row does not end within {BLOCK:,} bytes; close the quotation mark of a field"
            )
        if isinstance(error, OSError | EOFError | zlib.error):
            return InputError(f"{where}: {_CUT}")
        return InputError(f"{where}: it cannot be read as a table ({words.splitlines()[0]}); correct it")


def _bytes(path: Path) -> Any:
    """Open a file for pyarrow, unpacked as it streams by if it begins as gzip does."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return arrow().input_stream(str(path), compression="gzip" if packed else None)


def _first_line(path: Path) -> str:
    """Text of the first row that is not empty."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check the path") from None
    except (IsADirectoryError, PermissionError) as error:
        raise InputError(f"{path}: the file cannot be read ({error.strerror}); check the path") from None
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{path}: {_CUT}") from None
    for mark, kind in _MARKS.items():
        if head.startswith(mark):
            raise InputError(f"{path}: this is {kind}, not a table in UTF-8; save it as CSV in that encoding")
    if b"\0" in head:
        raise InputError(f"{path}: this is no text, for it holds bytes of zero; save the table as CSV in UTF-8")
    line = next((line for line in head.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip()), b"")
    if not line:
        raise InputError(f"{path}: the file is empty; give a table with a header and at least one row")
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise InputError(f"{path}: the names of the columns are not UTF-8; save the file in that encoding") from None


def _is_number(field: str) -> bool:
    return re.fullmatch(r"\s*[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?\s*", field) is not None


def _errors() -> tuple[type[Exception], ...]:
    return (arrow().ArrowException, OSError, EOFError, UnicodeDecodeError, MemoryError)
