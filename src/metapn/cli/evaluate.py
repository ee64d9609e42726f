"""`metapn evaluate`: how well a method does on a data set, over several splits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metapn.cli.console import console, progress
from metapn.cli.options import Dataset, Final, Jobs, Json, Protocol, Quiet, Shot, WhichProtocol

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
        }


def evaluate(
    dataset: Dataset,
    shot: Shot = 5,
    method: Annotated[str, typer.Option(help="Method to evaluate.")] = "metapn",
    runs: Annotated[int, typer.Option(min=1, help="Number of splits, seeds 0, 1, ...")] = 10,
    jobs: Jobs = 1,
    final: Annotated[Final | None, typer.Option(help="Final prediction of Meta-PN (default: propagated).")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the method, such as n_hops=20; may be repeated.")
    ] = None,
    protocol: WhichProtocol = Protocol.PAPER,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate a method over several splits: mean accuracy with its 95 % bootstrap interval.

    Example: [bold]metapn evaluate --dataset cora_ml --shot 5 --runs 10 --jobs 2[/bold]
    """
    from metapn.experiments.cell import Cell
    from metapn.experiments.runner import run_all

    cell = Cell(dataset, method, shot, protocol.value, _settings(method, final, set_ or []))
    outcomes = []
    with progress(f"{method} on {dataset}", quiet=quiet) as advance:
        advance(0, runs)
        for _, outcome in run_all([cell], range(runs), jobs=jobs):
            outcomes.append(outcome)
            advance(len(outcomes), runs)
    result = Evaluation(cell, sorted(outcomes, key=lambda outcome: outcome.seed)).as_dict()
    typer.echo(json.dumps(result)) if as_json else _show(result)


def _settings(name: str, final: Final | None, assignments: list[str]) -> dict[str, Any]:
    """Settings of the method as the command line gives them; numbers, true and false are read as JSON."""
    from metapn.baselines import method
    from metapn.errors import InputError
    from metapn.model.settings import check_settings

    estimator = method(name)()
    known = estimator.get_params()
    if final is not None and "final" not in known:
        raise InputError(f"{name} has one prediction only; leave out --final, which chooses among Meta-PN's")
    settings: dict[str, Any] = {} if final is None else {"final": final.value}
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


def _show(result: dict[str, Any]) -> None:
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
