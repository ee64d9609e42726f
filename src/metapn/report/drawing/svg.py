"""SVG as text: elements, escaped and to the tenth of a unit."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

#: Width of every drawing: that of a phone, so that its text can be read there.
WIDTH = 380


def element(name: str, *children: str, **attributes: str | float) -> str:
    """Write an element.

    Parameters
    ----------
    name : str
    *children : str
        Elements, or text that `text` has escaped.
    **attributes : str or number
        Underscores stand for hyphens, one at the end for nothing.

    Examples
    --------
    >>> element("path", element("title", text("a < b")), d="M0 0", stroke_width=1.25, class_="line")
    '<path d="M0 0" stroke-width="1.2" class="line"><title>a &lt; b</title></path>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value if isinstance(value, str) else number(value))}"'
        for key, value in attributes.items()
    )
    inside = "".join(children)
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


def text(content: str) -> str:
    """Escape text."""
    return escape(content, quote=False)


def number(value: float) -> str:
    """Write a number to the tenth.

    Examples
    --------
    >>> number(3.14), number(-0.01), number(12.0)
    ('3.1', '0', '12')
    """
    rounded = round(float(value), 1) + 0.0
    return f"{rounded:g}" if abs(rounded) < 1e5 else f"{rounded:.1f}"


def label(x: float, y: float, content: str, *, anchor: str = "middle", class_: str = "", **more: str) -> str:
    """Write text at a place."""
    return element(
        "text", text(content), x=x, y=y, text_anchor=anchor, **({"class_": class_} if class_ else {}), **more
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str, **more: str) -> str:
    """Draw a straight line."""
    return element("path", d=path([(x1, y1), (x2, y2)]), class_=class_, **more)


def path(points: Iterable[tuple[float, float]]) -> str:
    """Write the outline of straight lines from point to point."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def drawing(height: float, parts: Iterable[str]) -> str:
    """Put parts together; hidden from screen readers, for whom the page has words."""
    return element(
        "svg", *parts, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {number(height)}", class_="drawing",
        aria_hidden="true",
    )  # fmt: skip
