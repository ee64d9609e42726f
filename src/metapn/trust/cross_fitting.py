"""What a method makes of labels that it was not shown: fitted anew without each fold of them."""

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


@dataclass(frozen=True, eq=False)
class Hidden:
    """Probabilities of nodes whose labels the model did not have, and those labels.

    Parameters
    ----------
    nodes : int array, shape (h,)
    labels : int array, shape (h,)
        Their classes.
    transduction, unseen : array, shape (h, c)
        What was made of them on the graph, and by their features alone.
    """

    nodes: IntArray
    labels: IntArray
    transduction: Floats
    unseen: Floats


def cross_fitted(
    model: GraphClassifier,
    X: Any,
    codes: IntArray,
    graph: Any,
    folds: Sequence[IntArray],
    *,
    validation: Any = None,
    on_fit: OnEpoch | None = None,
) -> Hidden:
    """Fit a copy of the model without the labels of each fold in turn, and collect what it makes of them.

    Parameters
    ----------
    model : GraphClassifier
        Only its settings are used.
    X, graph, validation
        As in its `fit`; of validation nodes the labels are class indices.
    codes : int array, shape (n,)
        Class indices, -1 where there is no label.
    folds : sequence of int array
        Labelled nodes; every class keeps a label outside of each.
    on_fit : callable, optional
        Called with (fits done, fits in all).
    """
    n_classes = int(codes.max()) + 1
    nobody = np.zeros((0, n_classes), dtype=np.float32)
    transduction, unseen = [nobody], [nobody]
    for done, fold in enumerate(folds, 1):
        shown = codes.copy()
        shown[fold] = -1
        other: GraphClassifier = clone(model).fit(X, shown, graph=graph, validation=validation)
        transduction.append(other.label_distributions_[fold])
        unseen.append(other.predict_proba(X)[fold])
        if on_fit is not None:
            on_fit(done, len(folds))
    nodes = np.concatenate([np.zeros(0, dtype=np.int64), *folds])
    return Hidden(nodes, codes[nodes], np.concatenate(transduction), np.concatenate(unseen))
