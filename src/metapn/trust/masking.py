"""How well a method does on one's own labels: they are hidden in turn, and nothing that is fitted sees them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from metapn.errors import InputError
from metapn.graph import Graph, IntArray
from metapn.model.estimator import GraphClassifier
from metapn.trust.calibration import calibrate
from metapn.trust.folds import label_folds
from metapn.trust.intervals import wilson_interval
from metapn.trust.reliability import scores

Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Round:
    """Every label hidden once, and what was made of its node.

    Parameters
    ----------
    repeat : int
        Its number.
    nodes, labels : int array, shape (h,)
        The hidden nodes, in order, and their classes.
    before : array, shape (h, c)
        Probabilities by a model that had all labels but those of the node's fold.
    after : array, shape (h, c), or None
        The same, calibrated by those labels.
    seconds : float
        Mean time of a fold.
    """

    repeat: int
    nodes: IntArray
    labels: IntArray
    before: Floats
    after: Floats | None
    seconds: float


def masked_round(
    model: GraphClassifier,
    X: Any,
    codes: IntArray,
    graph: Graph,
    *,
    repeat: int = 0,
    n_folds: int = 5,
    calibrated: bool = True,
) -> Round:
    """Deal the labels into folds, and fit without each of them.

    Features are scaled, and columns encoded, without any label; all else is fitted by `hidden_probabilities`,
    which is given the labels that are left and no others.

    Parameters
    ----------
    model : GraphClassifier
        Only its settings are used; the seed is ``repeat``.
    X : array or sparse array, shape (n, f)
    codes : int array, shape (n,)
        Class indices, -1 where there is no label.
    graph : Graph
    repeat : int
        Number of the round: another one deals other folds.
    n_folds : int
    calibrated : bool
        Whether to calibrate as well, which fits again for each fold of the labels that are left.
    """
    folds = label_folds(codes, n_folds, seed=repeat)
    if not folds:
        raise InputError(
            "no class has two labels, and the only label of a class cannot be hidden; label a second node of one"
        )
    seeded: GraphClassifier = clone(model).set_params(random_state=repeat)
    start, before, after = time.perf_counter(), [], []
    for fold in folds:
        shown = codes.copy()
        shown[fold] = -1
        plain, adjusted = hidden_probabilities(seeded, X, shown, graph, fold, calibrated=calibrated)
        before.append(plain)
        after.append(adjusted)
    nodes = np.concatenate(folds)
    order = np.argsort(nodes)
    return Round(
        repeat,
        nodes[order],
        codes[nodes[order]],
        np.concatenate(before)[order],
        np.concatenate(after)[order] if calibrated else None,
        (time.perf_counter() - start) / len(folds),
    )


def hidden_probabilities(
    model: GraphClassifier,
    X: Any,
    shown: IntArray,
    graph: Graph,
    nodes: IntArray,
    *,
    calibrated: bool,
) -> tuple[Floats, Floats]:
    """Probabilities of some nodes, shape (h, c), as a model has them that knows ``shown``, and calibrated.

    ``shown`` has no label at these nodes. Without ``calibrated`` both are the same.
    """
    fitted: GraphClassifier = clone(model).fit(X, shown, graph=graph)
    P = fitted.label_distributions_[nodes]
    if not calibrated:
        return P, P
    calibration = calibrate(fitted, X, shown, graph)
    return P, calibration.transduction.apply(P)


@dataclass(frozen=True)
class MaskedEvaluation:
    """What several rounds of hiding labels say of a method.

    Parameters
    ----------
    method : str
    n_labels : int
        Labels that were hidden, each once a round.
    rounds : int
    accuracy, low, high : float
        Share of them that was found, over all rounds; 95 % interval (Wilson's) by the number of labels:
        more rounds make the folds matter less, and no more labels.
    per_class : dict
        ``labels`` and ``accuracy`` of each class, by its name.
    before, after : dict
        Mean confidence, ``ece`` and ``brier`` score of the probabilities, as the model has them and calibrated;
        ``after`` is None where nothing was calibrated.
    hits : tuple of float
        Share of the rounds in which each label was found, in the order of the nodes.
    seconds : float
        Mean time of a fold.
    """

    method: str
    n_labels: int
    rounds: int
    accuracy: float
    low: float
    high: float
    per_class: dict[str, dict[str, float]]
    before: dict[str, float]
    after: dict[str, float] | None
    hits: tuple[float, ...]
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary."""
        return asdict(self) | {"hits": list(self.hits)}


def summed_up(method: str, rounds: Sequence[Round], class_names: Sequence[str]) -> MaskedEvaluation:
    """Sum up rounds of one method on the same labels.

    Parameters
    ----------
    method : str
    rounds : sequence of Round
    class_names : sequence of str
        In the order of the class indices.
    """
    rounds = sorted(rounds, key=lambda each: each.repeat)  # sums are then the same, whichever ended first
    labels = rounds[0].labels
    by_round = np.array([each.before.argmax(axis=1) == labels for each in rounds])
    hits = by_round.mean(axis=0)
    low, high = wilson_interval(float(hits.mean()), len(labels))
    per_class = {
        class_names[c]: {"labels": int((labels == c).sum()), "accuracy": float(hits[labels == c].mean())}
        for c in np.unique(labels)
    }
    every = np.tile(labels, len(rounds))
    calibrated = [each.after for each in rounds if each.after is not None]
    return MaskedEvaluation(
        method=method,
        n_labels=len(labels),
        rounds=len(rounds),
        accuracy=float(hits.mean()),
        low=low,
        high=high,
        per_class=per_class,
        before=scores(np.concatenate([each.before for each in rounds]), every),
        after=scores(np.concatenate(calibrated), every) if calibrated else None,
        hits=tuple(hits.tolist()),
        seconds=float(np.mean([each.seconds for each in rounds])),
    )
