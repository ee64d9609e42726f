"""`metapn suggest`: which nodes to label next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metapn.cli import own_data
from metapn.cli.console import console, progress
from metapn.cli.options import Json, Quiet

if TYPE_CHECKING:
    from metapn.graph import IntArray


def suggest(
    n: Annotated[int, typer.Option("-n", min=1, help="How many nodes to name.")] = 20,
    edges: own_data.Edges = None,
    nodes: own_data.Nodes = None,
    id: own_data.Id = None,
    label: own_data.Label = None,
    features: own_data.Features = None,
    source: own_data.Source = None,
    target: own_data.Target = None,
    weight: own_data.Weight = None,
    calibrate: Annotated[
        bool, typer.Option(help="Weigh doubt by calibrated probabilities, which fits up to five times more.")
    ] = True,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the fit.")] = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Name the nodes whose labels would help most: those with the most doubt within their reach.

    Label them, put the labels into the table, and fit again.

    Example: [bold]metapn suggest -n 20 --edges edges.csv --nodes nodes.csv[/bold]
    """
    import numpy as np

    from metapn.data.prepared import prepared
    from metapn.model.metapn import MetaPN
    from metapn.trust.calibration import Calibration
    from metapn.trust.calibration import calibrate as calibrated
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
    labels = tables.known_labels()
    data = prepared(tables)
    model, calibration = MetaPN(random_state=seed), Calibration()
    with progress("fitting", quiet=quiet) as advance:
        model.fit(data.X, labels, graph=data.graph, on_epoch=advance)
        if calibrate:
            calibration = calibrated(model, data.X, labels, data.graph, on_fit=advance)
    P = calibration.transduction.apply(model.label_distributions_)
    labelled = np.flatnonzero([label is not None for label in labels])
    rows = _rows(
        choose(P, data.graph, labelled, n), tables.ids, P, model.classes_, np.diff(data.graph.adjacency.indptr)
    )
    if as_json:
        typer.echo(json.dumps({"nodes": rows}))
    else:
        _show(rows, len(labelled))


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
