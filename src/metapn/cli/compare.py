"""`metapn compare`: all methods on the same splits, ranked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metapn.cli.console import console, progress
from metapn.cli.options import Dataset, Jobs, Json, Protocol, Quiet, Shot, WhichProtocol

if TYPE_CHECKING:
    from metapn.experiments.comparison import Row


def compare(
    dataset: Dataset,
    shot: Shot = 5,
    methods: Annotated[str, typer.Option(help="Comma-separated; all by default.")] = "all",
    runs: Annotated[int, typer.Option(min=2, help="Number of splits, seeds 0, 1, ...")] = 20,
    jobs: Jobs = 1,
    protocol: WhichProtocol = Protocol.PAPER,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods on the same splits: a ranked table, with a paired t-test of each against the best.

    Example: [bold]metapn compare --dataset cora_ml --shot 5 --runs 20 --jobs 2[/bold]
    """
    from metapn import baselines
    from metapn.experiments.cell import Cell
    from metapn.experiments.comparison import compare as rank
    from metapn.experiments.run import Outcome
    from metapn.experiments.runner import run_all

    names = baselines.methods() if methods == "all" else [baselines.canonical(name) for name in methods.split(",")]
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
