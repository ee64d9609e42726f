"""`metapn evaluate`: how well a method does on a data set, over several splits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metapn.cli import own_data
from metapn.cli.console import console, progress
from metapn.cli.options import (
    Calibrate,
    Engine,
    Final,
    Folds,
    Jobs,
    Json,
    MaybeDataset,
    MaybeProtocol,
    MaybeShot,
    Protocol,
    Quiet,
    WhichEngine,
)

if TYPE_CHECKING:
    from metapn.experiments.cell import Cell
    from metapn.experiments.run import Outcome


@dataclass(frozen=True)
class Evaluation:
    """Outcomes of all seeds of a cell, summed up."""

    cell: Cell
    outcomes: list[Outcome]

    def as_dict(self) -> dict[str, Any]:
        """Return the object that ``--json`` prints; ``seconds`` is the mean time of one fit."""
        from metapn.experiments.statistics import bootstrap_interval

        accuracies = [outcome.accuracy for outcome in self.outcomes]
        return {
            "method": self.cell.method,
            "dataset": self.cell.dataset,
            "shot": int(self.cell.shot) if self.cell.shot >= 1 else self.cell.shot,
            "protocol": self.cell.protocol,
            "final": self.outcomes[0].final,
            "accuracies": accuracies,
            "mean": sum(accuracies) / len(accuracies),
            "ci95": list(bootstrap_interval(accuracies)),
            "seconds": sum(outcome.seconds for outcome in self.outcomes) / len(self.outcomes),
            "seeds": [outcome.seed for outcome in self.outcomes],
            **({"settings": self.cell.settings} if set(self.cell.settings) - {"final"} else {}),
            **({"calibration": self.calibration()} if "after" in self.outcomes[0].observations else {}),
        }

    def calibration(self) -> dict[str, dict[str, float]]:
        """Mean scores of the probabilities over the seeds, ``before`` and ``after`` they were calibrated."""
        found = [outcome.observations for outcome in self.outcomes]
        return {
            when: {name: sum(each[when][name] for each in found) / len(found) for name in found[0][when]}
            for when in ("before", "after")
        }

    def ece(self) -> float:
        """Mean expected calibration error over the seeds, of the probabilities as the method has them."""
        from metapn.trust.reliability import bins_error

        bins = [outcome.observations["calibration"] for outcome in self.outcomes]
        return sum(bins_error(each) for each in bins) / len(bins)


def evaluate(
    dataset: MaybeDataset = None,
    shot: MaybeShot = None,
    method: Annotated[str, typer.Option(help="Method to evaluate.")] = "metapn",
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="Number of splits, seeds 0, 1, ..., or of rounds.", show_default="10 or 3"),
    ] = None,
    jobs: Jobs = 1,
    final: Annotated[Final | None, typer.Option(help="Final prediction of Meta-PN (default: propagated).")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the method, such as n_hops=20; may be repeated.")
    ] = None,
    protocol: MaybeProtocol = None,
    engine: WhichEngine = None,
    calibrate: Calibrate = None,
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
    """Evaluate a method: mean accuracy with its 95 % interval, and whether its probabilities can be believed.

    On a data set over several splits; on your own graph by hiding its labels in turn: whatever is fitted sees only
    those that are left.

    Example: [bold]metapn evaluate --dataset cora_ml --shot 5 --runs 10 --jobs 2[/bold]

    Example: [bold]metapn evaluate --edges edges.csv --nodes nodes.csv[/bold]
    """
    from metapn.cli import masked

    own = masked.OwnGraph(edges, nodes, id, label, features, source, target, weight)
    masked.check_form(dataset, own, shot=shot, protocol=protocol, own_folds=folds)
    settings = _settings(method, final, engine, set_ or [])
    if dataset is None:
        plan = masked.Plan(runs or 3, folds, calibrate is not False, jobs, as_json, quiet)
        masked.evaluate(own, method, settings, plan)
        return
    from metapn.experiments.cell import Cell

    cell = Cell(dataset, method, 5 if shot is None else shot, (protocol or Protocol.PAPER).value, settings)
    result = _evaluation(cell, runs or 10, jobs, calibrate is True, quiet)
    typer.echo(json.dumps(result.as_dict())) if as_json else _show(result)


def _evaluation(cell: Cell, runs: int, jobs: int, calibrated: bool, quiet: bool) -> Evaluation:
    from metapn.experiments.runner import run_all

    _warn_of_memory(cell, runs, jobs)
    outcomes = []
    with progress(f"{cell.method} on {cell.dataset}", quiet=quiet) as advance:
        advance(0, runs)
        for _, outcome in run_all([cell], range(runs), jobs=jobs, calibrated=calibrated):
            outcomes.append(outcome)
            advance(len(outcomes), runs)
    return Evaluation(cell, sorted(outcomes, key=lambda outcome: outcome.seed))


def _warn_of_memory(cell: Cell, runs: int, jobs: int) -> None:
    """Say on standard error that the runs will need more memory than there is, before they start."""
    from metapn.experiments.memory import estimated_memory
    from metapn.experiments.run import block_size, load
    from metapn.propagation.engines.available import available_memory

    block = min(runs, block_size(cell.method))
    processes = min(jobs, -(-runs // block))
    each, free = estimated_memory(cell, load(cell.dataset), runs=block), available_memory()
    if cell.settings.get("engine", "memory") == "memory" and each is not None and processes * each > free:
        remedy = "give fewer --jobs" if processes > 1 else "give --engine disk"
        typer.echo(
            f"Warning: about {processes * each / 1e9:.1f} GB of memory will be needed, and {free / 1e9:.1f} GB are "
            f"free, so the system may end this; {remedy}",
            err=True,
        )


def _settings(name: str, final: Final | None, engine: Engine | None, assignments: list[str]) -> dict[str, Any]:
    """Settings of the method as the command line gives them; numbers, true and false are read as JSON."""
    from metapn.baselines import method
    from metapn.errors import InputError
    from metapn.model.settings import check_settings

    estimator = method(name)()
    known = estimator.get_params()
    if final is not None and "final" not in known:
        raise InputError(f"{name} has one prediction only; leave out --final, which chooses among Meta-PN's")
    if engine is not None and "engine" not in known:
        raise InputError(f"{name} propagates in memory only; leave out --engine, which is Meta-PN's")
    chosen = {"final": final, "engine": engine}
    settings: dict[str, Any] = {key: choice.value for key, choice in chosen.items() if choice is not None}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals or key not in known:
            raise InputError(
                f"--set {assignment} is no setting of {name}; give one of {', '.join(known)} as name=value"
            )
        try:
            settings[key] = json.loads(value)
        except json.JSONDecodeError:
            settings[key] = value
    check_settings(estimator.set_params(**settings))
    return settings


def _show(evaluation: Evaluation) -> None:
    result = evaluation.as_dict()
    low, high = result["ci95"]
    out = console()
    out.print(
        f"{result['method']} on {result['dataset']}, {result['shot']}-shot, protocol {result['protocol']}, "
        f"final prediction {result['final']}"
    )
    out.print(
        f"accuracy [bold]{result['mean']:.2%}[/bold], 95 % interval {low:.2%} to {high:.2%} (bootstrap over "
        f"{len(result['seeds'])} splits), {result['seconds']:.2f} s a fit"
    )
    out.print(
        "by seed  " + "  ".join(f"{s}: {a:.2%}" for s, a in zip(result["seeds"], result["accuracies"], strict=True))
    )
    if "calibration" in result:
        before, after = result["calibration"]["before"], result["calibration"]["after"]
        out.print(
            f"expected calibration error {before['ece']:.2%} as the method has it, {after['ece']:.2%} calibrated "
            f"(Brier score {before['brier']:.3f}, {after['brier']:.3f})"
        )
    else:
        out.print(
            f"expected calibration error {evaluation.ece():.2%}; --calibrate tells what calibration makes of it"
        )
