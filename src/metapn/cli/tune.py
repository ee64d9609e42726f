"""`metapn tune`: search a method's settings on a data set, never by the test nodes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metapn.cli.console import console, progress
from metapn.cli.options import Dataset, Jobs, Quiet

if TYPE_CHECKING:
    from metapn.experiments.tuning import Search, Trial


def tune(
    dataset: Dataset,
    out: Annotated[Path, typer.Option(help="Folder for the search and what it finds; run again to go on.")],
    method: Annotated[str, typer.Option(help="Method whose settings are searched.")] = "metapn",
    shots: Annotated[str, typer.Option(help="Labels a class, comma-separated; a trial is run on each.")] = "3,5",
    trials: Annotated[int, typer.Option(min=1, help="Trials in all, the defaults being the first.")] = 20,
    runs: Annotated[int, typer.Option(min=1, help="Splits of each trial and shot, seeds 0, 1, ...")] = 10,
    grid: Annotated[
        list[str] | None, typer.Option(help="Values of a setting, such as n_hops=10,20, besides the paper's grids.")
    ] = None,
    jobs: Jobs = 1,
    quiet: Quiet = False,
) -> None:
    """Search the paper's grids (learning rates, dropout) by accuracy on the early-stopping nodes.

    Writes METHOD/DATASET.toml, a file as those in metapn's experiments/tuned. The test nodes are not looked at.

    Example: [bold]metapn tune --dataset cora_ml --method gcn --trials 20 --jobs 2 --out tuning[/bold]
    """
    from metapn import baselines, datasets
    from metapn.experiments.ledger import held
    from metapn.experiments.settings_file import write_settings
    from metapn.experiments.tuning import Search, choose, space_of
    from metapn.experiments.tuning import trials as search_for

    name = baselines.canonical(method)
    space = space_of(name, _grids(grid or []))
    search = Search(datasets.canonical(dataset), name, space, _shots(shots), runs)
    given = {"--dataset": search.dataset, "--method": name, "--shots": shots, "--trials": trials, "--runs": runs}
    words = [word for option, value in given.items() for word in (option, str(value))]
    words += [word for each in grid or [] for word in ("--grid", each)]
    with held(out), progress(f"{name} on {search.dataset}", quiet=quiet) as advance:
        advance(0, trials)
        journal = out / f"{name}-{search.dataset}.journal"
        tried = search_for(search, journal, trials, jobs=jobs, on_trial=lambda done: advance(done, trials))
        chosen = choose(search, tried)
        path = write_settings(out, search, tried, chosen, shlex.join(["metapn", "tune", *words]))
    _show(search, tried, chosen, path)


def _grids(given: list[str]) -> dict[str, list[Any]]:
    """Values of each setting; numbers, true and false are read as JSON."""
    from metapn.errors import InputError

    grids = {}
    for each in given:
        name, equals, values = each.partition("=")
        if not equals or not values:
            raise InputError(f"--grid {each} cannot be read; give a setting and its values, such as n_hops=10,20")
        grids[name] = [_read(value) for value in values.split(",")]
    return grids


def _read(value: str) -> Any:
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


def _shots(given: str) -> tuple[float, ...]:
    from metapn.errors import InputError

    try:
        return tuple(float(shot) for shot in given.split(","))
    except ValueError:
        raise InputError(f"--shots {given} cannot be read; give numbers of labels a class, such as 3,5") from None


def _show(search: Search, tried: list[Trial], chosen: Trial, path: Path) -> None:
    from rich.table import Table

    out = console()
    out.print("Mean accuracy on the early-stopping nodes; the test nodes were not looked at.")
    table = Table(box=None, header_style="bold")
    for column in ("accuracy", "runs", *search.space):
        table.add_column(column, justify="right")
    for trial in sorted(tried, key=lambda trial: (trial.complete, trial.mean), reverse=True):
        values = [
            f"{trial.settings[name]:g}" if _is_number(trial.settings[name]) else str(trial.settings[name])
            for name in search.space
        ]
        style = "bold" if trial is chosen else None if trial.complete else "dim"
        table.add_row(f"{trial.mean:.2%}", str(len(trial.accuracies)), *values, style=style)
    out.print(table)
    n_given_up = sum(not trial.complete for trial in tried)
    if n_given_up:
        out.print(f"{n_given_up} of {len(tried)} were given up early as worse than the best (dim).")
    same = chosen.settings == search.defaults
    words = " ".join(f"--set {name}={value}" for name, value in chosen.settings.items())
    out.print("Chosen: the defaults" if same else f"Chosen: {words}")
    out.print(f"Written to {path}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
