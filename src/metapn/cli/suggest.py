"""`metapn suggest`: which nodes to label next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metapn.cli import own_data
from metapn.cli.console import console, progress
from metapn.cli.options import Json, Quiet

if TYPE_CHECKING:
    from metapn.data.tables import Tables
    from metapn.graph import Graph, IntArray


def suggest(
    run: Annotated[
        Path | None,
        typer.Argument(help="Folder that 'metapn fit' wrote, whose model is asked; fitted anew without it."),
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="How many nodes to name.")] = 20,
    edges: own_data.Edges = None,
    nodes: own_data.Nodes = None,
    id: own_data.Id = None,
    label: own_data.Label = None,
    features: own_data.Features = None,
    source: own_data.Source = None,
    target: own_data.Target = None,
    weight: own_data.Weight = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Name the nodes whose labels would help most: those with the most doubt within their reach.

    Label them, put the labels into the table, and fit again.

    Example: [bold]metapn suggest -n 20 --edges edges.csv --nodes nodes.csv[/bold]

    Example: [bold]metapn suggest run -n 20 --edges edges.csv --nodes nodes.csv[/bold]
    """
    import numpy as np

    from metapn.trust.suggestion import suggest as choose

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
    labelled = np.flatnonzero([label is not None for label in tables.known_labels()])
    graph, P, classes = _fitted(tables, quiet) if run is None else _asked(run, tables)
    degrees = np.diff(graph.adjacency.indptr)
    rows = _rows(choose(P, graph, labelled, n), tables.ids, P, classes, degrees)
    if as_json:
        typer.echo(json.dumps({"nodes": rows}))
    else:
        _show(rows, len(labelled))


def _fitted(tables: Tables, quiet: bool) -> tuple[Graph, Any, Any]:
    """Graph, calibrated probabilities (n, c) and classes, by a model that is fitted to the tables."""
    from metapn.data.prepared import prepared
    from metapn.deploy.run import fit_run
    from metapn.model.metapn import MetaPN

    data = prepared(tables)
    with progress("fitting", quiet=quiet) as advance:
        pipeline = fit_run(MetaPN(random_state=0), tables, data, on_epoch=advance, on_fit=advance).pipeline
    return data.graph, pipeline.transduction(), pipeline.classes


def _asked(run: Path, tables: Tables) -> tuple[Graph, Any, Any]:
    """Graph, calibrated probabilities (n, c) and classes, by the model of a run folder."""
    from metapn.data.prepared import prepared
    from metapn.deploy.pipeline import Pipeline

    pipeline = Pipeline.load(run)
    data = prepared(tables, pipeline.encoder)
    return data.graph, pipeline.judged(data.X, data.graph), pipeline.classes


def _rows(nodes: IntArray, ids: Any, P: Any, classes: Any, degrees: Any) -> list[dict[str, Any]]:
    """What there is to say of each node: its id, what it is taken for and how surely, and its neighbours."""
    return [
        {
            "id": ids[int(node)].as_py(),
            "label": str(classes[P[node].argmax()]),
            "probability": float(P[node].max()),
            "neighbours": int(degrees[node]),
        }
        for node in nodes
    ]


def _show(rows: list[dict[str, Any]], n_labelled: int) -> None:
    from rich.table import Table

    out = console()
    if not rows:
        out.print("every node has a label; there is none to suggest")
        return
    out.print(f"{n_labelled:,} nodes have a label; these would help most, the first before the others:")
    table = Table(box=None, header_style="bold")
    for column in ("", "id", "taken for", "probability", "neighbours"):
        table.add_column(column, justify="left" if column in ("id", "taken for") else "right")
    for number, row in enumerate(rows, 1):
        cells = (str(row["id"]), row["label"], f"{row['probability']:.1%}", f"{row['neighbours']:,}")
        table.add_row(str(number), *cells)
    out.print(table)
