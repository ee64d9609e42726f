"""A page as Markdown: its text and its tables, for documents; figures stay in the HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from metapn.report.blocks import (
    Block,
    Cell,
    Command,
    Facts,
    Figure,
    Fold,
    Heading,
    Items,
    Page,
    Section,
    Table,
    Text,
    Tiles,
)


def markdown(page: Page) -> str:
    r"""Write a page as Markdown; a section that has nothing but figures is left out.

    Examples
    --------
    >>> print(markdown(Page("A page", "about a | b", [Section("One", [Table("t", ("", "x"), [("a", "1")])])])))
    # A page
    <BLANKLINE>
    about a \| b
    <BLANKLINE>
    ## One
    <BLANKLINE>
    t
    <BLANKLINE>
    |  | x |
    |:--|--:|
    | a | 1 |
    <BLANKLINE>
    """
    parts = [f"# {_plain(page.title)}", _plain(page.subtitle)]
    for section in page.sections:
        inside = list(_section(section))
        if inside:
            parts.extend([f"## {_plain(section.title)}", *inside])
    if page.footer:
        parts.append(_plain(page.footer))
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(section: Section) -> Iterator[str]:
    for block in section.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Text(text):
            yield _plain(text)
        case Heading(text):
            yield f"### {_plain(text)}"
        case Items(items):
            yield "\n".join(f"- {_plain(item)}" for item in items)
        case Facts(facts):
            yield "\n".join(f"- {_plain(name)}: {_plain(value)}" for name, value in facts)
        case Command(text):
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            yield f"{fence}\n{text}\n{fence}"
        case Tiles(tiles):
            yield "\n".join(f"- {_plain(tile.value)} {_plain(tile.label)}" for tile in tiles)
        case Table():
            yield _plain(block.caption)
            yield "\n".join(_table(block))
        case Fold(title, blocks):
            inside = [part for each in blocks for part in _block(each)]
            if inside:
                yield f"### {_plain(title)}"
                yield from inside
        case Figure():
            pass


def _table(table: Table) -> Iterator[str]:
    heads = table.heads()
    yield _row([_plain(f"{head.group}: {head.title}" if head.group else head.title) for head in heads])
    yield f"|{'|'.join(':--' if head.left else '--:' for head in heads)}|"
    for row in table.body():
        yield _row([_cell(cell) for cell in row])


def _row(entries: Sequence[str]) -> str:
    return f"| {' | '.join(entries)} |"


def _cell(cell: Cell) -> str:
    text = _plain(cell.text)
    marked = {"best": f"**{text}**", "second": f"<u>{text}</u>"}.get(cell.mark, text)
    return f"{marked} ({_plain(cell.note)})" if cell.note else marked


def _plain(text: str) -> str:
    """Escape what Markdown would read as something else, and keep it on one line."""
    escaped = re.sub(r"([\\`*_{}\[\]<>|])", r"\\\1", text)
    return re.sub(r"\s*\n\s*", " ", escaped)
