"""What a method makes of nodes whose labels it was not shown: fitted anew without each fold of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from metapn.graph import IntArray
from metapn.model.estimator import GraphClassifier
from metapn.model.training import OnEpoch

Floats = npt.NDArray[np.floating[Any]]


#: Unlabelled nodes on which the refitted models are compared.
COMMON = 2000


@dataclass(frozen=True, eq=False)
class View:
    """Probabilities by the refitted models in one situation: on the graph, or by the features alone.

    Parameters
    ----------
    hidden : array, shape (h, c)
        Of the hidden nodes, each by the model that did not have its label.
    common : array, shape (k, s, c)
        Of the same unlabelled nodes by each of k models.
    """

    hidden: Floats
    common: Floats


@dataclass(frozen=True, eq=False)
class CrossFit:
    """What models that were fitted without some labels make of these nodes, and of nodes that have none.

    Parameters
    ----------
    nodes, labels : int array, shape (h,)
        The hidden nodes, fold after fold, and their classes.
    transduction, unseen : View
        On the graph, and by the features alone.
    """

    nodes: IntArray
    labels: IntArray
    transduction: View
    unseen: View


def cross_fitted(
    model: GraphClassifier,
    X: Any,
    codes: IntArray,
    graph: Any,
    folds: Sequence[IntArray],
    *,
    validation: Any = None,
    on_fit: OnEpoch | None = None,
) -> CrossFit:
    """Fit a copy of the model without the labels of each fold in turn.

    Parameters
    ----------
    model : GraphClassifier
        Only its settings are used.
    X, graph, validation
        As in its `fit`; of validation nodes the labels are class indices.
    codes : int array, shape (n,)
        Class indices, -1 where there is no label.
    folds : sequence of int array
        Labelled nodes, at least one fold; every class keeps a label outside of each.
    on_fit : callable, optional
        Called with (fits done, fits in all).
    """
    unlabelled = np.flatnonzero(codes < 0)
    common = np.sort(np.random.default_rng(0).permutation(unlabelled)[:COMMON])
    on_graph: list[tuple[Floats, Floats]] = []
    by_features: list[tuple[Floats, Floats]] = []
    for done, fold in enumerate(folds, 1):
        shown = codes.copy()
        shown[fold] = -1
        other: GraphClassifier = clone(model).fit(X, shown, graph=graph, validation=validation)
        for kept, P in ((on_graph, other.label_distributions_), (by_features, other.predict_proba(X))):
            kept.append((P[fold], P[common]))
        if on_fit is not None:
            on_fit(done, len(folds))
    nodes = np.concatenate(folds)
    return CrossFit(nodes, codes[nodes], _view(on_graph), _view(by_features))


def _view(parts: list[tuple[Floats, Floats]]) -> View:
    return View(np.concatenate([hidden for hidden, _ in parts]), np.stack([common for _, common in parts]))
