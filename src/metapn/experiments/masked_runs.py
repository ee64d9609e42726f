"""Label-masking cross-validation of several methods on one's own graph, in processes, and who is best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from metapn.experiments.processes import in_processes
from metapn.experiments.statistics import holm, paired_p_value
from metapn.graph import Features, Graph, IntArray
from metapn.model.estimator import GraphClassifier
from metapn.trust.masking import MaskedEvaluation, Round, masked_round


@dataclass(frozen=True, eq=False)
class Problem:
    """One's own graph and the way it is evaluated.

    Parameters
    ----------
    X : array or sparse array, shape (n, f)
    codes : int array, shape (n,)
        Class indices, -1 where there is no label.
    graph : Graph
    n_folds : int
    calibrated : bool
    """

    X: Features
    codes: IntArray
    graph: Graph
    n_folds: int = 5
    calibrated: bool = True


def masked_runs(
    models: Mapping[str, GraphClassifier], problem: Problem, rounds: Sequence[int], *, jobs: int = 1
) -> Iterator[tuple[str, Round]]:
    """Hide all labels in turn, once for each method and round, and yield what came of it, in any order.

    Parameters
    ----------
    models : mapping of name to method
        Only their settings are used.
    problem : Problem
    rounds : sequence of int
        Numbers of the rounds; all methods meet the same folds.
    jobs : int
        Processes, of one thread each; the results do not depend on it.
    """
    calls = ((name, partial(_round, model, problem, repeat)) for name, model in models.items() for repeat in rounds)
    yield from in_processes(calls, jobs=jobs)


def _round(model: GraphClassifier, problem: Problem, repeat: int) -> Round:
    torch.set_num_threads(1)
    return masked_round(
        model,
        problem.X,
        problem.codes,
        problem.graph,
        repeat=repeat,
        n_folds=problem.n_folds,
        calibrated=problem.calibrated,
    )


@dataclass(frozen=True)
class Rank:
    """A method in a comparison on one's own labels.

    Parameters
    ----------
    evaluation : MaskedEvaluation
    p_value, p_corrected : float or None
        Paired t-test over the labels against the best method, as it is and after Holm's correction; None for
        the best itself.
    """

    evaluation: MaskedEvaluation
    p_value: float | None
    p_corrected: float | None

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary."""
        return self.evaluation.as_dict() | {"p_value": self.p_value, "p_corrected": self.p_corrected}


def ranked(evaluations: Sequence[MaskedEvaluation]) -> list[Rank]:
    """Rank methods by accuracy; the same labels were hidden from all."""
    order = sorted(evaluations, key=lambda each: -each.accuracy)
    p_values = [paired_p_value(order[0].hits, each.hits) for each in order[1:]]
    tested = [(None, None), *zip(p_values, holm(p_values), strict=True)]
    return [Rank(each, p, corrected) for each, (p, corrected) in zip(order, tested, strict=True)]
