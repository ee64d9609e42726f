"""`metapn inspect`: a look at one's own graph before anything is fitted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from metapn.cli import own_data
from metapn.cli.console import console
from metapn.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metapn.trust.inspection import Inspection

#: Notes that are shown; a table may have thousands of columns.
_NOTES = 20


def inspect(
    edges: own_data.Edges = None,
    nodes: own_data.Nodes = None,
    id: own_data.Id = None,
    label: own_data.Label = None,
    features: own_data.Features = None,
    source: own_data.Source = None,
    target: own_data.Target = None,
    weight: own_data.Weight = None,
    as_json: Json = False,
) -> None:
    """Look at a graph and its few labels before a fit: counts, homophily, reach, memory, time, and warnings.

    Example: [bold]metapn inspect --edges edges.csv --nodes nodes.csv[/bold]
    """
    from metapn.data.prepared import prepared
    from metapn.trust.inspection import inspect as look_at

    tables = own_data.read(
        edges,
        nodes,
        id=id,
        label=label,
        features=features,
        source=source,
        target=target,
        weight=weight,
    )
    labels = tables.known_labels()
    ready = prepared(tables)
    look = look_at(ready.graph, labels, ready.X)
    if as_json:
        typer.echo(json.dumps(look.as_dict() | {"notes": list(ready.notes)}))
        return
    show(look, ready.notes, rest="--json")


def show(look: Inspection, notes: Sequence[str], *, rest: str) -> None:
    """Print what was read and what it is like, as the head of every fit does; ``rest`` has the notes left out."""
    out = console()
    for note in notes[:_NOTES]:
        out.print(note, style="dim", markup=False)
    if len(notes) > _NOTES:
        out.print(f"and {len(notes) - _NOTES:,} notes more, which {rest} has", style="dim", markup=False)
    for line in str(look).splitlines():
        out.print(line, style="yellow" if line.startswith("Warning: ") else "", markup=False)
