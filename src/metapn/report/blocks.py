"""What a page is made of: sections of paragraphs, tables and figures, whatever it is written out as.

`metapn.report.page` writes them as HTML, `metapn.report.markdown` as Markdown. All text is plain text, which these
two escape.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Heading:
    """The title of what follows in a section."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """Names and what they stand for: (name, value) pairs."""

    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Command:
    """Something to be typed, or kept to the letter."""

    text: str


@dataclass(frozen=True)
class Tile:
    """A number that is to be seen first.

    Parameters
    ----------
    value, label : str
    word : str
        See `Cell`.
    """

    value: str
    label: str
    word: str = ""


@dataclass(frozen=True)
class Tiles:
    """Numbers beside each other."""

    tiles: Sequence[Tile]


@dataclass(frozen=True)
class Column:
    """The head of a column.

    Parameters
    ----------
    title : str
    group : str
        What it has in common with its neighbours; printed once, over all of them.
    left : bool
        Words go to the left, numbers to the right.
    """

    title: str
    group: str = ""
    left: bool = False


@dataclass(frozen=True)
class Cell:
    """An entry of a table.

    Parameters
    ----------
    text : str
    mark : {"", "best", "second"}
        Bold or underlined, as in the paper.
    word : {"", "reproduced", "above", "below", "good", "bad", ...}
        Adds a sign and a colour to the note, or to the text if there is no note; these say the same in words.
    note : str
        Small, under the text.
    """

    text: str
    mark: str = ""
    word: str = ""
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table whose first column says what each row is about.

    Parameters
    ----------
    caption : str
    columns : sequence of Column or str
        A string is a column of numbers.
    rows : sequence of sequences of Cell or str
    highlight : sequence of int
        Rows that the reader looks for.
    """

    caption: str
    columns: Sequence[Column | str]
    rows: Sequence[Sequence[Cell | str]]
    highlight: Sequence[int] = ()

    def heads(self) -> list[Column]:
        """Return all columns as such."""
        first, *others = self.columns
        head = Column(first, left=True) if isinstance(first, str) else first
        return [head, *(Column(column) if isinstance(column, str) else column for column in others)]

    def groups(self) -> list[tuple[str, int]]:
        """Return the groups of columns from left to right, each with its width; none if no column has one."""
        found: list[tuple[str, int]] = []
        for column in self.heads():
            if found and found[-1][0] == column.group:
                found[-1] = (column.group, found[-1][1] + 1)
            else:
                found.append((column.group, 1))
        return found if any(name for name, _ in found) else []

    def body(self) -> list[list[Cell]]:
        """Return all rows, each entry as a Cell."""
        return [[Cell(entry) if isinstance(entry, str) else entry for entry in row] for row in self.rows]


@dataclass(frozen=True)
class Panel:
    """One picture of a figure.

    Parameters
    ----------
    title : str
    svg : str
        An <svg> element, goes into the page as it is: made by `metapn.report.drawing`, which escapes all text.
    description : str
        What it shows, for those who do not see it.
    """

    title: str
    svg: str
    description: str


@dataclass(frozen=True)
class Figure:
    """Pictures with one caption."""

    caption: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Fold:
    """Blocks that are shown on demand."""

    title: str
    blocks: Sequence[Block]


Block: TypeAlias = "Text | Heading | Items | Facts | Command | Tiles | Table | Figure | Fold"


@dataclass(frozen=True)
class Section:
    """A part of a page that the table of contents names."""

    title: str
    blocks: Sequence[Block]

    @property
    def anchor(self) -> str:
        """The name under which the section is linked to.

        Examples
        --------
        >>> Section("Table 1: the data sets", []).anchor
        'table-1-the-data-sets'
        """
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


@dataclass(frozen=True)
class Page:
    """A page.

    Parameters
    ----------
    title, subtitle : str
    sections : sequence of Section
        With different titles.
    footer : str
    """

    title: str
    subtitle: str
    sections: Sequence[Section] = field(default_factory=list)
    footer: str = ""
