"""What `metapn evaluate` and `metapn compare` do with one's own graph: its labels are hidden in turn."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from metapn.cli.console import console, progress

if TYPE_CHECKING:
    from metapn.experiments.masked_runs import Rank
    from metapn.trust.masking import MaskedEvaluation


@dataclass(frozen=True)
class OwnGraph:
    """The options that name one's own graph, as they were given."""

    edges: Path | None
    nodes: Path | None
    id: str | None
    label: str | None
    features: str | None
    source: str | None
    target: str | None
    weight: str | None


@dataclass(frozen=True)
class Plan:
    """How often labels are hidden, in how many parts, and how the results are printed."""

    runs: int
    folds: int | None
    calibrated: bool
    jobs: int
    as_json: bool
    quiet: bool


def check_form(dataset: str | None, own: OwnGraph, **others: Any) -> None:
    """Refuse both a data set and a graph of one's own, neither, and options that belong to the other form.

    ``others`` are options by name, with a leading ``own_`` for those that belong to one's own graph.
    """
    from metapn.errors import InputError

    mine = any(value is not None for value in astuple(own))
    if dataset is None and own.edges is None and own.nodes is None:
        raise InputError("there is nothing to evaluate on; give --dataset, or your own tables by --edges and --nodes")
    if dataset is not None and mine:
        raise InputError(
            f"--dataset {dataset} comes with its own edges and labels; leave it out, or all that names tables"
        )
    for name, value in others.items():
        if value is not None and name.startswith("own_") == (dataset is not None):
            option = "--" + name.removeprefix("own_").replace("_", "-")
            where = "your own tables" if dataset is not None else "--dataset"
            raise InputError(f"{option} goes with {where} only; leave it out")


def evaluate(own: OwnGraph, method: str, settings: dict[str, Any], plan: Plan) -> None:
    """Evaluate one method."""
    (result,), notes = _evaluations(own, {method: settings}, plan)
    if plan.as_json:
        typer.echo(json.dumps(result.as_dict() | {"notes": notes}))
    else:
        _show(result)


def compare(own: OwnGraph, methods: list[str], plan: Plan) -> None:
    """Rank several methods."""
    from metapn.experiments.masked_runs import ranked

    results, notes = _evaluations(own, {name: {} for name in methods}, plan)
    ranks = ranked(results)
    if plan.as_json:
        typer.echo(json.dumps({"rows": [rank.as_dict() for rank in ranks], "notes": notes}))
    else:
        _show_ranks(ranks)


def _evaluations(
    own: OwnGraph, methods: dict[str, dict[str, Any]], plan: Plan
) -> tuple[list[MaskedEvaluation], list[str]]:
    """Run all rounds of all methods and sum them up; and what was done to the tables."""
    from metapn.baselines import method
    from metapn.cli import own_data
    from metapn.data.prepared import prepared
    from metapn.experiments.masked_runs import Problem, masked_runs
    from metapn.model.labels import encode_labels
    from metapn.trust.masking import Round, summed_up

    tables = own_data.read(
        own.edges,
        own.nodes,
        id=own.id,
        label=own.label,
        features=own.features,
        source=own.source,
        target=own.target,
        weight=own.weight,
    )
    codes, classes = encode_labels(tables.known_labels())
    data = prepared(tables)
    models = {name: method(name)(**settings) for name, settings in methods.items()}
    problem = Problem(data.X, codes, data.graph, plan.folds or 5, plan.calibrated)
    rounds: dict[str, list[Round]] = {name: [] for name in models}
    total = plan.runs * len(models)
    with progress("hiding labels in turn", quiet=plan.quiet) as advance:
        advance(0, total)
        for name, each in masked_runs(models, problem, range(plan.runs), jobs=plan.jobs):
            rounds[name].append(each)
            advance(sum(map(len, rounds.values())), total)
    names = [str(name) for name in classes.tolist()]
    return [summed_up(name, some, names) for name, some in rounds.items()], list(data.notes)


def _show(result: MaskedEvaluation) -> None:
    out = console()
    out.print(
        f"{result.method}: {result.n_labels:,} labels, each hidden once in each of {result.rounds} rounds, "
        f"{result.seconds:.2f} s a fold"
    )
    out.print(
        f"accuracy [bold]{result.accuracy:.2%}[/bold], 95 % interval {result.low:.2%} to {result.high:.2%} "
        f"(Wilson, {result.n_labels:,} labels)"
    )
    for name, each in result.per_class.items():
        out.print(f"  {name}: {each['accuracy']:.1%} of {each['labels']} labels", markup=False)
    out.print(_calibration(result))


def _calibration(result: MaskedEvaluation) -> str:
    before, after = result.before, result.after
    text = f"expected calibration error {before['ece']:.2%} as the model has it (mean probability "
    text += f"{before['confidence']:.1%}, Brier score {before['brier']:.3f})"
    if after is None:
        return text
    return text + f", {after['ece']:.2%} calibrated ({after['confidence']:.1%}, {after['brier']:.3f})"


def _show_ranks(ranks: list[Rank]) -> None:
    from rich.table import Table

    out, first = console(), ranks[0].evaluation
    out.print(
        f"{first.n_labels:,} labels, each hidden once in each of {first.rounds} rounds; 95 % interval (Wilson); "
        "paired t-test over the labels against the best, p after Holm; ECE as the method has it and calibrated"
    )
    table = Table(box=None, header_style="bold")
    for column in ("", "method", "accuracy", "95 % interval", "p", "ECE", "calibrated", "s a fold"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for number, rank in enumerate(ranks, 1):
        each = rank.evaluation
        table.add_row(
            str(number),
            each.method,
            f"{each.accuracy:.2%}",
            f"{each.low:.2%} to {each.high:.2%}",
            "best" if rank.p_corrected is None else f"{rank.p_corrected:.2g}",
            f"{each.before['ece']:.2%}",
            "" if each.after is None else f"{each.after['ece']:.2%}",
            f"{each.seconds:.2f}",
        )
    out.print(table)
