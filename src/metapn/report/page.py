"""A page as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from metapn.errors import InputError
from metapn.report.blocks import Page

if TYPE_CHECKING:
    from jinja2 import Template

#: The sign of a word in a table: seen by those who do not see its colour.
SIGNS = {"reproduced": "●", "above": "▲", "below": "▼", "good": "✓", "bad": "✗"}


def html(page: Page) -> str:
    """Write a page as HTML.

    Examples
    --------
    >>> from metapn.report.blocks import Section, Text
    >>> text = html(Page("A page", "of one <section>", [Section("One", [Text("a < b")])]))
    >>> "of one &lt;section&gt;" in text, "a &lt; b" in text
    (True, True)
    """
    return _template().render(page=page, signs=SIGNS)


@lru_cache(maxsize=1)
def _template() -> Template:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise InputError("a page needs Jinja2; pip install 'metapn[report]'") from None
    environment = Environment(
        loader=PackageLoader("metapn.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment.get_template("page.html")
