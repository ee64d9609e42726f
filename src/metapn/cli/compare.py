"""`metapn compare`: all methods on the same splits, ranked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metapn.cli import own_data
from metapn.cli.console import console, progress
from metapn.cli.options import Folds, Jobs, Json, MaybeDataset, MaybeProtocol, MaybeShot, Protocol, Quiet

if TYPE_CHECKING:
    from metapn.experiments.comparison import Row


def compare(
    dataset: MaybeDataset = None,
    shot: MaybeShot = None,
    methods: Annotated[str, typer.Option(help="Comma-separated; all by default.")] = "all",
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="Number of splits, seeds 0, 1, ..., or of rounds.", show_default="20 or 3"),
    ] = None,
    jobs: Jobs = 1,
    protocol: MaybeProtocol = None,
    calibrate: Annotated[
        bool | None,
        typer.Option("--calibrate/--no-calibrate", help="On your own graph: also calibrate.", show_default="on"),
    ] = None,
    edges: own_data.Edges = None,
    nodes: own_data.Nodes = None,
    id: own_data.Id = None,
    label: own_data.Label = None,
    features: own_data.Features = None,
    source: own_data.Source = None,
    target: own_data.Target = None,
    weight: own_data.Weight = None,
    folds: Folds = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods on the same splits, or on the same hidden labels: ranked, each tested against the best.

    Example: [bold]metapn compare --dataset cora_ml --shot 5 --runs 20 --jobs 2[/bold]

    Example: [bold]metapn compare --edges edges.csv --nodes nodes.csv --methods metapn,mlp,appnp[/bold]
    """
    from metapn import baselines
    from metapn.cli import masked

    own = masked.OwnGraph(edges, nodes, id, label, features, source, target, weight)
    masked.check_form(dataset, own, shot=shot, protocol=protocol, own_folds=folds, own_calibrate=calibrate)
    names = baselines.methods() if methods == "all" else [baselines.canonical(name) for name in methods.split(",")]
    if dataset is None:
        masked.compare(own, names, masked.Plan(runs or 3, folds, calibrate is not False, jobs, as_json, quiet))
    else:
        _compare(
            dataset, names, 5 if shot is None else shot, protocol or Protocol.PAPER, runs or 20, jobs, as_json, quiet
        )


def _compare(
    dataset: str,
    names: list[str],
    shot: float,
    protocol: Protocol,
    runs: int,
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> None:
    from metapn.experiments.cell import Cell
    from metapn.experiments.comparison import compare as rank
    from metapn.experiments.run import Outcome
    from metapn.experiments.runner import run_all

    cells = [Cell(dataset, name, shot, protocol.value) for name in names]
    outcomes: dict[str, list[Outcome]] = {name: [] for name in names}
    with progress(f"{len(names)} methods on {dataset}", quiet=quiet) as advance:
        advance(0, runs * len(cells))
        for cell, outcome in run_all(cells, range(runs), jobs=jobs):
            outcomes[cell.method].append(outcome)
            advance(sum(map(len, outcomes.values())), runs * len(cells))
    rows = rank(outcomes)
    seeds = list(range(runs))
    setting: dict[str, Any] = {"dataset": dataset, "shot": shot, "protocol": protocol.value, "seeds": seeds}
    if as_json:
        typer.echo(json.dumps(setting | {"rows": [row.as_dict() for row in rows]}))
    else:
        _show(setting, rows)


def _show(setting: dict[str, Any], rows: list[Row]) -> None:
    from rich.table import Table

    out = console()
    out.print(
        f"{setting['dataset']}, {setting['shot']:g}-shot, protocol {setting['protocol']}, "
        f"{len(setting['seeds'])} splits; 95 % bootstrap interval; paired t-test against the best, p after Holm"
    )
    table = Table(box=None, header_style="bold")
    for column in ("", "method", "accuracy", "95 % interval", "p", "s a fit", "peak MB"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for rank, row in enumerate(rows, 1):
        p = "best" if row.p_corrected is None else f"{row.p_corrected:.2g}"
        interval = f"{row.low:.2%} to {row.high:.2%}"
        cells = (f"{row.mean:.2%}", interval, p, f"{row.seconds:.2f}", f"{row.megabytes:,.0f}")
        table.add_row(str(rank), row.method, *cells)
    out.print(table)
