"""One's own graph on the command line: the options of every command that reads one, and what reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from metapn.data.tables import Tables

_PANEL = "Your own graph"

File = Annotated[
    Path | None,
    typer.Argument(help="A graph in one file (.npz, .graphml), the same as --edges.", show_default=False),
]
Edges = Annotated[
    Path | None,
    typer.Option(
        help="Edge table (.csv, .tsv, .parquet, also .gz), or a graph in one file (.npz, .graphml).",
        rich_help_panel=_PANEL,
    ),
]
Nodes = Annotated[
    Path | None, typer.Option(help="Node table; a few of its rows have a label.", rich_help_panel=_PANEL)
]
Id = Annotated[
    str | None, typer.Option(help="Column of the node table with the ids that edges name.", rich_help_panel=_PANEL)
]
Label = Annotated[str | None, typer.Option(help="Column of the node table with the labels.", rich_help_panel=_PANEL)]
Features = Annotated[
    str | None,
    typer.Option(
        help="Comma-separated columns of the node table to learn from; all others by default.",
        rich_help_panel=_PANEL,
    ),
]
Source = Annotated[
    str | None, typer.Option(help="Column of the edge table with the first end.", rich_help_panel=_PANEL)
]
Target = Annotated[
    str | None, typer.Option(help="Column of the edge table with the other end.", rich_help_panel=_PANEL)
]
Weight = Annotated[
    str | None, typer.Option(help="Column of the edge table with the weights.", rich_help_panel=_PANEL)
]


def read(
    edges: Path | None,
    nodes: Path | None,
    *,
    file: Path | None = None,
    id: str | None = None,
    label: str | None = None,
    features: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
) -> Tables:
    """Read the tables that the options name; ``file`` stands for ``edges``, names of features are comma-separated."""
    from metapn.data.tables import read_tables
    from metapn.errors import InputError

    if file is not None and edges is not None:
        raise InputError(f"{file} and --edges {edges} both give the edges; leave one of them out")

    chosen = None if features is None else [name.strip() for name in features.split(",") if name.strip()]
    given = edges if file is None else file
    return read_tables(given, nodes, id=id, label=label, features=chosen, source=source, target=target, weight=weight)
