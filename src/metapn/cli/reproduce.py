"""`metapn reproduce`: the paper's tables and figures, computed anew and set beside the paper's own."""

from __future__ import annotations

import enum
import shlex
from pathlib import Path
from typing import Annotated

import typer

from metapn.cli.console import console, progress
from metapn.cli.options import Engine, Jobs, Quiet, WhichEngine
from metapn.cli.verdicts import show_accuracies, show_statistics


class What(enum.StrEnum):
    """A table or a figure of the paper, or all of them."""

    TABLE1 = "table1"
    TABLE2 = "table2"
    TABLE3 = "table3"
    TABLE4 = "table4"
    FIGURE2 = "figure2"
    FIGURE3 = "figure3"
    FIGURE4 = "figure4"
    ALL = "all"


class Protocols(enum.StrEnum):
    """The paper's protocol, that without early-stopping nodes, or both."""

    PAPER = "paper"
    NO_VALIDATION = "no-validation"
    BOTH = "both"


def reproduce(
    out: Annotated[Path, typer.Option(help="Folder of the results; run again to go on where it stopped.")],
    what: Annotated[What, typer.Argument(help="Table or figure of the paper.")] = What.ALL,
    datasets: Annotated[str | None, typer.Option(help="Comma-separated; those of the paper by default.")] = None,
    methods: Annotated[str | None, typer.Option(help="Comma-separated; those of the paper by default.")] = None,
    protocol: Annotated[
        Protocols, typer.Option(help="paper: 500 more labelled nodes stop training.")
    ] = Protocols.BOTH,
    runs: Annotated[int, typer.Option(min=1, help="Splits of each cell, seeds 0, 1, ...")] = 100,
    jobs: Jobs = 1,
    threads: Annotated[int, typer.Option(min=1, help="Threads of each process; with more the last bits vary.")] = 1,
    engine: WhichEngine = None,
    quiet: Quiet = False,
) -> None:
    """Compute the tables and figures of the paper, and tell which of its numbers are reproduced.

    Each result is written to the folder as it is there: stopped by Ctrl-C or worse, the same command goes on.
    Show them with [bold]metapn report[/bold].

    Example: [bold]metapn reproduce table2 --datasets cora_ml --methods metapn,appnp --runs 20 --out results[/bold]
    """
    from metapn.experiments.cell import PROTOCOLS
    from metapn.experiments.plan import ARTEFACTS
    from metapn.experiments.reproduce import reproduce
    from metapn.experiments.request import Request, look_up

    request = Request(
        artefacts=tuple(ARTEFACTS) if what is What.ALL else (what.value,),
        datasets=_names(datasets),
        methods=_names(methods),
        protocols=PROTOCOLS if protocol is Protocols.BOTH else (protocol.value,),
        n_runs=runs,
        engine=(engine or Engine.MEMORY).value,
    )
    narrowed = {"--datasets": datasets, "--methods": methods, "--protocol": protocol.value, "--runs": runs}
    machine = {"--engine": engine and engine.value, "--jobs": jobs, "--threads": threads, "--out": out.resolve().name}
    options = [word for name, value in (narrowed | machine).items() if value for word in (name, str(value))]
    counts, errors = look_up(request)
    for name, error in errors.items():
        typer.echo(f"{', '.join(request.data_sets()[name])}: without {name}, since {error}", err=True)
    with progress(f"reproduce {what.value}", quiet=quiet) as advance:
        result = reproduce(
            request,
            counts,
            out,
            jobs=jobs,
            threads=threads,
            command=shlex.join(["metapn", "reproduce", what.value, *options]),
            on_progress=lambda done: advance(done.runs, done.all_runs, f"{done.cells} of {done.all_cells} cells"),
        )
    if "table1" in request.artefacts:
        show_statistics(counts)
    for artefact, cells in result.cells.items():
        if cells:
            show_accuracies(artefact, cells, result.records)
    console().print(f"\nThe results are in {out}; for a page of them: metapn report {out}")


def _names(given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",")]
