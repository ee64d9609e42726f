"""`metapn predict`: label nodes, seen or unseen, with a model that `metapn fit` kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metapn.cli.console import console
from metapn.cli.fit import features_of, write_predictions
from metapn.cli.options import EitherWay


def predict(
    model: Annotated[Path, typer.Argument(help="Folder that 'metapn fit' wrote.")],
    file: Annotated[Path, typer.Argument(help="npz file with the nodes, as for 'metapn fit'; labels are not used.")],
    out: Annotated[Path, typer.Option(help="npz file to write.")],
    no_graph: Annotated[bool, typer.Option("--no-graph", help="Judge each node by its features alone.")] = False,
    either_way: EitherWay = False,
) -> None:
    """Label the nodes of a file with a fitted model.

    Writes classes, labels and probabilities. Example: [bold]metapn predict run new.npz --out new-labels.npz[/bold]
    """
    from metapn.data.npz import read_npz
    from metapn.model.storage import load

    fitted = load(model)
    graph = read_npz(file, either_way=either_way)
    probabilities = fitted.predict_proba(features_of(graph, file), None if no_graph else graph)
    write_predictions(out, fitted.classes_, probabilities)
    how = "by their features alone" if no_graph else "by features and graph"
    console().print(
        f"{graph.n_nodes:,} nodes labelled {how}; mean probability of the chosen class "
        f"{probabilities.max(axis=1).mean():.1%}; written to {out}"
    )
