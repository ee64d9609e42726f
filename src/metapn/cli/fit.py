"""`metapn fit`: label every node of one's own graph, and keep the model."""

from __future__ import annotations

import enum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from metapn.cli.console import console, progress
from metapn.cli.inspect import show
from metapn.cli.options import Engine, Final, Quiet, WhichEngine
from metapn.cli.own_data import Edges, Features, File, Id, Label, Nodes, Source, Target, Weight, read
from metapn.errors import InputError


class Format(enum.StrEnum):
    """What the predictions are written as."""

    PARQUET = "parquet"
    CSV = "csv"


def fit(
    out: Annotated[Path, typer.Option(help="Folder for the model, the predictions and the model card.")],
    file: File = None,
    edges: Edges = None,
    nodes: Nodes = None,
    id: Id = None,
    label: Label = None,
    features: Features = None,
    source: Source = None,
    target: Target = None,
    weight: Weight = None,
    classes: Annotated[
        str | None, typer.Option(help="Comma-separated, all classes there are: any other label is an error.")
    ] = None,
    class_prior: Annotated[
        str | None, typer.Option(help="Shares of the classes among all nodes, such as spam=0.1,ham=0.9.")
    ] = None,
    calibrate: Annotated[
        bool, typer.Option(help="Fit again with a fifth of the labels hidden in turn, to calibrate probabilities.")
    ] = True,
    final: Annotated[Final, typer.Option(help="Which prediction to write.")] = Final.PROPAGATED,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is random.")] = 0,
    formats: Annotated[
        list[Format] | None,
        typer.Option("--format", help="Of the predictions; may be repeated.", show_default="parquet"),
    ] = None,
    page: Annotated[bool, typer.Option(help="Draw report.html, the page for people.")] = True,
    engine: WhichEngine = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a run that is in the folder.")] = False,
    quiet: Quiet = False,
) -> None:
    """Label every node of a graph from the few labels it has.

    The folder appears once everything is in it: predictions, model, README.md, which describes
    both, and report.html, which shows whom to doubt and whom to label next.

    With --engine disk, Parquet files of both edges and nodes are never in memory as a whole: nodes are then
    numbered 0, 1, ..., and the folder holds the model and predictions.parquet. See docs/scale.md.

    Example: [bold]metapn fit --edges edges.csv --nodes nodes.parquet --out run[/bold]
    """
    from metapn.cli.stored import fit_files, is_parquet, propose_engine, refuse
    from metapn.data.prepared import prepared
    from metapn.deploy.run import check_classes, fit_run
    from metapn.deploy.run_folder import whole_folder
    from metapn.model.metapn import MetaPN
    from metapn.trust.inspection import inspect

    shares = _shares(class_prior)
    model = MetaPN(final=final.value, random_state=seed, engine=(engine or Engine.MEMORY).value)
    if engine is Engine.DISK and edges is not None and nodes is not None and is_parquet(edges) and is_parquet(nodes):
        refuse({"--classes": classes, "--class-prior": class_prior, "--format csv": Format.CSV in (formats or [])})
        columns = {"id": id, "label": label, "source": source, "target": target, "weight": weight}
        fit_files(model, edges, nodes, out, features=features, **columns, overwrite=overwrite, quiet=quiet)
        return
    if page and find_spec("jinja2") is None:
        raise InputError("report.html needs Jinja2; pip install 'metapn[report]', or give --no-page")
    with whole_folder(out, overwrite=overwrite) as folder:
        tables = read(
            edges,
            nodes,
            file=file,
            id=id,
            label=label,
            features=features,
            source=source,
            target=target,
            weight=weight,
        )
        labels = tables.known_labels()
        if classes is not None:
            check_classes(tables, [name.strip() for name in classes.split(",")])
        data = prepared(tables, n_neighbors=model.n_neighbors)
        if engine is None:
            propose_engine(model, data, labels)
        show(inspect(data.graph, labels, data.X, model=model), data.notes, rest=str(out / "README.md"))
        with progress("fitting", quiet=quiet) as advance:
            run = fit_run(
                model,
                tables,
                data,
                class_prior=shares,
                calibrated=calibrate,
                on_epoch=advance,
                on_fit=lambda done, fits: advance(done, fits, "calibrating"),
            )
        run.write(folder, [each.value for each in formats or [Format.PARQUET]], page=page)
    for line in (
        model.report_,
        run.pipeline.calibration,
        f"all of it is in {out}; start with {out / 'report.html' if page else out / 'README.md'}",
    ):
        console().print(str(line), markup=False)


def _shares(given: str | None) -> dict[str, float] | None:
    """Shares of the classes by name, as the command line gives them."""
    if given is None:
        return None
    try:
        pairs = [pair.rsplit("=", 1) for pair in given.split(",")]
        return {name.strip(): float(share) for name, share in pairs}
    except ValueError:
        raise InputError(
            f"--class-prior {given} cannot be read; give the share of each class, such as spam=0.1,ham=0.9"
        ) from None
