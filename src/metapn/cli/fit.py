"""`metapn fit`: label every node of one's own graph, and keep the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metapn.cli.console import console, progress
from metapn.cli.options import EitherWay, Final, Quiet

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from metapn.graph import Graph


def fit(
    file: Annotated[Path, typer.Argument(help="npz file: adj_matrix.*, attr_matrix.* and labels (-1: unknown).")],
    out: Annotated[Path, typer.Option(help="Folder for the model and the predictions.")],
    final: Annotated[Final, typer.Option(help="Which prediction to write.")] = Final.PROPAGATED,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is random.")] = 0,
    either_way: EitherWay = False,
    quiet: Quiet = False,
) -> None:
    """Label every node of a graph from the few labels it has.

    Writes model.json, model.safetensors and predictions.npz (classes, labels, probabilities, reached).

    Example: [bold]metapn fit graph.npz --out run[/bold]
    """
    from metapn.data.npz import read_npz
    from metapn.model.metapn import MetaPN
    from metapn.model.storage import save

    graph = read_npz(file, either_way=either_way)
    y = _labels(graph, file)
    model = MetaPN(final=final.value, random_state=seed)
    with progress("fitting", quiet=quiet) as advance:
        model.fit(features_of(graph, file), y, graph=graph, on_epoch=advance)
    save(model, out)
    write_predictions(out / "predictions.npz", model.classes_, model.label_distributions_, reached=model.reached_)
    console().print(f"{model.report_}\nmodel and predictions are in {out}")


def features_of(graph: Graph, file: Path) -> Any:
    """Features of the graph, or the sentence that says there are none."""
    from metapn.errors import InputError

    if graph.features is None:
        raise InputError(f"{file} holds no features; add attr_matrix, with one row for each node")
    return graph.features


def write_predictions(path: Path, classes: Any, probabilities: Any, **more: npt.NDArray[np.bool_]) -> None:
    """Write classes (c,), labels (n,) and probabilities (n, c), and what more there is of each node."""
    import numpy as np

    from metapn.data.files import whole_file

    with whole_file(path) as handle:
        labels = classes[probabilities.argmax(axis=1)]
        np.savez_compressed(
            handle, allow_pickle=False, classes=classes, labels=labels, probabilities=probabilities, **more
        )


def _labels(graph: Graph, file: Path) -> Any:
    """Labels of the file as class names where it has names, None or -1 where a node has no label."""
    import numpy as np

    from metapn.errors import InputError

    if graph.labels is None:
        raise InputError(f"{file} holds no labels; add a member 'labels' with -1 for the unlabelled nodes")
    if not graph.class_names:
        return graph.labels
    for number, name in enumerate(graph.class_names):
        if not (graph.labels == number).any():
            raise InputError(
                f"{file} names the class {name!r} but labels no node with it; label one, or leave the name out"
            )
    names = np.array([*graph.class_names, None], dtype=object)
    return names[graph.labels]
