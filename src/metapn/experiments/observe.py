"""What is kept of a run besides its accuracy: how sure it was, how it learned, how far labels travelled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.graph import Graph, IntArray
from metapn.model.estimator import GraphClassifier
from metapn.model.training import History
from metapn.trust.reliability import reliability

POINTS = 40

Floats = npt.NDArray[np.floating[Any]]


def observe(model: GraphClassifier, graph: Graph, test: IntArray) -> dict[str, Any]:
    """Observe a fitted method, in numbers that JSON can hold.

    Parameters
    ----------
    model : GraphClassifier
        Fitted on the graph.
    graph : Graph
        With labels.
    test : int array, shape (t,)
        The test nodes.

    Returns
    -------
    dict
        ``calibration`` (see `metapn.trust.reliability`), ``curve`` (see `curve`) and ``hops`` (see `hops`); the
        latter two are None where there is nothing to see.
    """
    assert graph.labels is not None
    confidence = model.label_distributions_[test].max(axis=1)
    right = model.transduction_[test] == graph.labels[test]
    weights = getattr(model, "hop_weights_", None)
    return {
        "calibration": reliability(confidence, right),
        "curve": curve(model.history_),
        "hops": None if weights is None else hops(weights, np.diff(graph.adjacency.indptr)),
    }


def curve(history: History) -> dict[str, list[Any]] | None:
    """At most 40 epochs of a training; None where nothing was trained.

    Parameters
    ----------
    history : History

    Returns
    -------
    dict
        ``epoch``, counted from 1; ``training_loss`` at each of them; where there were validation nodes also
        ``accuracy`` and ``loss`` on these.

    Examples
    --------
    >>> curve(History(loss=[3.0, 2.0]))
    {'epoch': [1, 2], 'training_loss': [3.0, 2.0]}
    """
    n_epochs = len(history.loss)
    if n_epochs == 0:
        return None
    places = np.unique(np.linspace(0, n_epochs - 1, min(n_epochs, POINTS)).round().astype(int))
    series = {
        "training_loss": history.loss,
        "accuracy": history.validation_accuracy,
        "loss": history.validation_loss,
    }
    found = {name: np.array(values)[places].round(4).tolist() for name, values in series.items() if values}
    return {"epoch": (places + 1).tolist(), **found}


def hops(weights: Floats, degrees: IntArray) -> dict[str, Any]:
    """Mean weight of each hop, over all nodes and by degree.

    Parameters
    ----------
    weights : array, shape (n, K + 1)
        γ of every node.
    degrees : int array, shape (n,)

    Returns
    -------
    dict
        ``mean``, K + 1 weights; ``by_degree``, a list of bins 0-1, 2-3, 4-7, 8-15, ... as far as there are
        nodes in them, each with ``low``, ``high``, ``nodes`` and ``weights``.

    Examples
    --------
    >>> hops(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([1, 6, 4]))["by_degree"][1]
    {'low': 4, 'high': 7, 'nodes': 2, 'weights': [0.0, 1.0]}
    """
    bins = np.log2(np.maximum(degrees, 1)).astype(int)
    by_degree = []
    for i in np.unique(bins).tolist():
        low, high, inside = 2**i if i else 0, 2 ** (i + 1) - 1, bins == i
        by_degree.append({"low": low, "high": high, "nodes": int(inside.sum()), "weights": _mean(weights[inside])})
    return {"mean": _mean(weights), "by_degree": by_degree}


def _mean(weights: Floats) -> list[float]:
    mean: list[float] = weights.mean(axis=0, dtype=np.float64).round(5).tolist()
    return mean
