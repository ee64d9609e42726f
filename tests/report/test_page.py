import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from metapn.report import blocks
from metapn.report.page import html

EVIL = "<script>alert(1)</script>\"'&"


def every_block(text):
    """One of each kind, with the same text wherever there is text."""
    table = blocks.Table(
        text,
        (text, blocks.Column(text, group=text), blocks.Column(text, left=True)),
        [
            (text, blocks.Cell(text, note=text), blocks.Cell(text, word="above")),
            (text, blocks.Cell(text, "best"), text),
        ],
        highlight=[1],
    )
    picture = blocks.Panel(text, '<svg viewBox="0 0 1 1"></svg>', text)
    plain = [
        blocks.Text(text),
        blocks.Heading(text),
        blocks.Items([text]),
        blocks.Facts([(text, text)]),
        blocks.Command(text),
        blocks.Tiles([blocks.Tile(text, text, "below")]),
        table,
        blocks.Figure(text, [picture]),
    ]
    return [*plain, blocks.Fold(text, plain)]


class Elements(HTMLParser):
    """Every element of a page, and whether all that is opened is closed in order."""

    VOID = ("meta", "link")

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_every_text_is_escaped():
    written = html(blocks.Page(EVIL, EVIL, [blocks.Section(EVIL, every_block(EVIL))], footer=EVIL))
    names = {tag for tag, _ in Elements(written).found}
    assert "script" not in names and {"table", "figure", "details", "pre", "dl", "svg"} <= names
    assert written.count("&lt;script&gt;") > 30


def test_a_page_asks_for_nothing():
    elements = Elements(html(blocks.Page("A page", "", [blocks.Section("One", every_block("text"))]))).found
    policy = next(found["content"] for tag, found in elements if found.get("http-equiv"))
    assert "default-src 'none'" in policy
    for _, attributes in elements:
        for name in ("src", "href", "xlink:href"):
            assert not re.match("(https?:)?//", attributes.get(name) or "")
    assert "@import" not in html(blocks.Page("A page", "")) and "url(" not in html(blocks.Page("A page", ""))


def test_what_a_screen_reader_needs_is_there():
    elements = Elements(html(blocks.Page("A page", "", [blocks.Section("One", every_block("text"))]))).found
    assert ("html", {"lang": "en"}) in elements
    assert all(found.get("scope") for tag, found in elements if tag == "th")
    pictures = [found for tag, found in elements if found.get("role") == "img"]
    assert pictures and all(found["aria-label"] for found in pictures)
    links = {found["href"][1:] for tag, found in elements if tag == "a"}
    assert links <= {found.get("id") for _, found in elements}


def test_best_and_second_best_are_marked_as_in_the_paper():
    rows = [("a", blocks.Cell("3", "best")), ("b", blocks.Cell("2", "second")), ("c", "1")]
    written = html(blocks.Page("A page", "", [blocks.Section("One", [blocks.Table("t", ("", "x"), rows)])]))
    assert "<td><strong>3</strong>" in written
    assert "<td><u>2</u>" in written
    assert "<td>1" in written


@pytest.mark.parametrize("word", ["reproduced", "above", "below", "good", "bad"])
def test_a_word_has_a_sign_besides_its_colour(word):
    row = ("a", blocks.Cell("what it says", word=word))
    written = html(blocks.Page("A page", "", [blocks.Section("One", [blocks.Table("t", ("", "x"), [row])])]))
    cell = ET.fromstring(re.search(r"<td>.*?</td>", written, re.DOTALL)[0])
    assert re.match(r"[●▲▼✓✗] what it says", "".join(cell.itertext()).strip())


def test_groups_of_columns_span_what_they_have_in_common():
    columns = ("", blocks.Column("x", "one"), blocks.Column("y", "one"), blocks.Column("z", "two"))
    table = blocks.Table("t", columns, [("a", "1", "2", "3")])
    assert table.groups() == [("", 1), ("one", 2), ("two", 1)]
    assert blocks.Table("t", ("", "x"), []).groups() == []
