"""Tables that are in memory already: of pyarrow, pandas or polars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from metapn.data.tables.source import Types, arrow, check_columns
from metapn.errors import InputError


@dataclass(frozen=True)
class Frame:
    """A pyarrow table as a source.

    Parameters
    ----------
    content : pyarrow table
    name : str
    columns : tuple of str
    notes : tuple of str
    """

    content: Any
    name: str
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, frame: Any, name: str, notes: tuple[str, ...] = ()) -> Frame:
        """Accept a data frame; the index of one of pandas is a column too, unless it only counts rows."""
        module = type(frame).__module__.partition(".")[0]
        pyarrow = arrow()
        try:
            if module == "pandas":
                if type(frame.index).__name__ != "RangeIndex" or frame.index.name is not None:
                    frame = frame.reset_index()
                frame = frame.rename(columns=str)
                check_columns(name, list(frame.columns))
                content = pyarrow.Table.from_pandas(frame, preserve_index=False)
            elif module == "polars":
                content = frame.to_arrow()
            elif isinstance(frame, pyarrow.Table):
                content = frame
            else:
                raise InputError(
                    f"{name} is a {type(frame).__name__}; give a path, or a table of pandas, polars or pyarrow"
                )
        except (pyarrow.ArrowException, ValueError) as error:
            words = str(error).splitlines()[0]
            raise InputError(f"{name} cannot be read as a table ({words}); give columns of one type each") from None
        return cls(content, name, check_columns(name, content.column_names), notes)

    def blocks(self, columns: Sequence[str], types: Types) -> Iterator[Any]:
        """Yield the batches that the table is made of."""
        yield from self.content.select(list(columns)).to_batches()

    def table(self, columns: Sequence[str], types: Types) -> Any:
        """Return some columns."""
        return self.content.select(list(columns))
