"""GraphML: nodes and edges with their attributes, as two tables.

The columns are ``id`` and the attributes of nodes, and ``source``, ``target`` and the attributes of edges. What a
file says of entities and document types is not followed but refused: a graph needs neither, and an attack does.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from metapn.data.tables.frames import Frame
from metapn.data.tables.source import arrow
from metapn.errors import InputError

_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_PARSE: dict[str, Callable[[str], Any]] = {
    "boolean": lambda text: _TRUTH[text.lower()],
    "int": int,
    "integer": int,
    "long": int,
    "float": float,
    "double": float,
    "string": str,
}
_AGAIN = "write the file anew, with networkx.write_graphml for instance"


def read_graphml(path: Path) -> tuple[Frame, Frame]:
    """Read the edges and the nodes of a GraphML file, gzipped or not, each as a table."""
    reader = _Reader()
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            reader.parser.ParseFile(file)
        reader.check()
        name = str(path)
        notes = ("edges are directed in the file, and count in both directions",) if reader.directed else ()
        edges = Frame.of(_table(reader.edges, reader.keys, "edge", ("source", "target")), name, notes)
        return edges, Frame.of(_table(reader.nodes, reader.keys, "node", ("id",)), name)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check the path") from None
    except (IsADirectoryError, PermissionError) as error:
        raise InputError(f"{path}: the file cannot be read ({error.strerror}); check the path") from None
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{path}: it is cut short or damaged; fetch or write it again") from None
    except expat.ExpatError as error:
        words = expat.errors.messages[error.code]
        raise InputError(f"{path}, line {error.lineno}: this is no whole XML ({words}); {_AGAIN}") from None
    except InputError as error:
        raise InputError(f"{path}, line {reader.parser.CurrentLineNumber}: {error}") from None


@dataclass
class _Key:
    """One attribute: what has it, its name (None: a drawing program's own), its type, and its default."""

    domain: str
    name: str | None
    kind: str
    default: str | None = None


@dataclass
class _Reader:
    """Collects nodes and edges as expat meets them."""

    keys: dict[str, _Key] = field(default_factory=dict)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    edges: list[dict[str, Any]] = field(default_factory=list)
    directed: bool = False

    def __post_init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse
        self._open: list[tuple[str, dict[str, Any]]] = []
        self._key = ""
        self._text: list[str] | None = None

    def check(self) -> None:
        if not self.nodes and not self.edges:
            raise InputError(f"there are no nodes in it; {_AGAIN}")

    def _refuse(self, name: str, *_: Any) -> None:
        raise InputError(f"it declares a document type or the entity {name!r}, which no graph needs; remove it")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        if tag == "key":
            kind = attributes.get("attr.type", "string")
            if kind not in _PARSE:
                raise InputError(f"an attribute has the type {kind!r}; use one of {', '.join(_PARSE)}")
            key = _Key(attributes.get("for", "all"), attributes.get("attr.name"), kind)
            self.keys[_needed(attributes, "id", tag)] = key
            self._key = attributes["id"]
        elif tag == "graph":
            self.directed |= attributes.get("edgedefault") == "directed"
        elif tag == "node":
            self._open.append((tag, {"id": _needed(attributes, "id", tag)}))
            self.nodes.append(self._open[-1][1])
        elif tag == "edge":
            ends = {end: _needed(attributes, end, tag) for end in ("source", "target")}
            self._open.append((tag, ends))
            self.edges.append(ends)
        elif tag == "hyperedge":
            raise InputError("it joins more than two nodes by a hyperedge; replace it by edges of two nodes each")
        elif tag == "data" and self._open:
            self._key = _needed(attributes, "key", tag)
            if self._key not in self.keys:
                raise InputError(f"data has the key {self._key!r}, which is not declared; add a <key> for it")
            self._text = []
        elif tag == "default" and self._key:
            self._text = []

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        if tag in ("node", "edge"):
            self._open.pop()
        elif tag in ("data", "default") and self._text is not None:
            text, self._text = "".join(self._text), None
            key = self.keys[self._key]
            if key.name is None:
                return
            if tag == "default":
                key.default = text
            else:
                self._open[-1][1][f"key {self._key}"] = _value(text, key)


def _needed(attributes: dict[str, str], name: str, tag: str) -> str:
    if name not in attributes:
        raise InputError(f"a <{tag}> has no {name!r}; {_AGAIN}")
    return attributes[name]


def _value(text: str, key: _Key) -> Any:
    if key.kind != "string" and not text.strip():
        return None
    try:
        return _PARSE[key.kind](text if key.kind == "string" else text.strip())
    except (ValueError, KeyError):
        raise InputError(f"attribute {key.name!r} is {text.strip()!r}, which is no {key.kind}; correct it") from None


def _table(rows: list[dict[str, Any]], keys: dict[str, _Key], domain: str, first: tuple[str, ...]) -> Any:
    """Columns of the ids, and of every attribute with a name that nodes or edges can have.

    A program may declare one attribute several times, each with another type: they are one column.
    """
    pa = arrow()
    named: dict[str, list[str]] = {}
    for key_id, key in keys.items():
        if key.name is not None and key.domain in (domain, "all"):
            named.setdefault(f"{key.name} (attribute)" if key.name in first else key.name, []).append(key_id)
    columns = {name: pa.array([row[name] for row in rows], pa.string()) for name in first}
    for name, key_ids in named.items():
        kind = _common_type({keys[key_id].kind for key_id in key_ids})
        values: list[Any] = [None] * len(rows)
        for key_id in key_ids:
            default = keys[key_id].default
            standing = None if default is None else _value(default, keys[key_id])
            for place, row in enumerate(rows):
                value = row.get(f"key {key_id}", standing if values[place] is None else None)
                values[place] = values[place] if value is None else value
        if kind == pa.string():
            values = [None if value is None else str(value) for value in values]
        try:
            columns[name] = pa.array(values, kind)
        except (pa.ArrowException, OverflowError):
            raise InputError(f"attribute {name!r} holds a number beyond 64 bits; write it as text") from None
    return pa.table(columns)


def _common_type(kinds: set[str]) -> Any:
    """Type of pyarrow that holds values of all these types of GraphML."""
    pa = arrow()
    whole, broken = {"int", "integer", "long"}, {"float", "double"}
    if kinds <= whole:
        return pa.int64()
    if kinds <= whole | broken:
        return pa.float64()
    return pa.bool_() if kinds == {"boolean"} else pa.string()
