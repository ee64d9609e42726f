"""`metapn predict`: label nodes, seen or unseen, with a model that `metapn fit` kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metapn.cli.console import console, progress
from metapn.cli.options import Quiet
from metapn.cli.own_data import Edges, File, Id, Nodes, Source, Target, Weight, read


def predict(
    run: Annotated[Path, typer.Argument(help="Folder that 'metapn fit' wrote.")],
    out: Annotated[Path, typer.Option(help="File to write, .parquet or .csv.")],
    file: File = None,
    nodes: Nodes = None,
    edges: Edges = None,
    id: Id = None,
    source: Source = None,
    target: Target = None,
    weight: Weight = None,
    no_graph: Annotated[bool, typer.Option("--no-graph", help="Judge each node by its features alone.")] = False,
    quiet: Quiet = False,
) -> None:
    """Label nodes never seen, with or without their edges.

    Without edges rows are read, judged and written a few at a time, so the table may be of any length. With
    edges, which are those among these nodes, labels are spread along them as in fit.

    Example: [bold]metapn predict run --nodes new.csv --out labels.parquet[/bold]
    """
    from metapn.deploy.pipeline import Pipeline
    from metapn.deploy.predicting import predict_graph, predict_rows
    from metapn.deploy.predictions import format_of

    format_of(out)
    pipeline = Pipeline.load(run)
    if nodes is not None and file is None and (edges is None or no_graph):
        with progress("labelling", quiet=quiet) as advance:
            labelled = predict_rows(pipeline, nodes, out, id=id, on_rows=lambda done: advance(done, 0))
    else:
        tables = read(edges, nodes, file=file, id=id, source=source, target=target, weight=weight)
        labelled = predict_graph(pipeline, tables, out, alone=no_graph)
    console().print(f"{labelled}; written to {out}", markup=False)
