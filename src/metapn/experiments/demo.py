"""The demo's experiment: digits, three labels a class, Meta-PN beside two classifiers everybody has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading

from metapn import datasets
from metapn.graph import Graph, IntArray
from metapn.model.metapn import MetaPN

SHOT = 3


@dataclass(frozen=True)
class Draw:
    """One draw of the labelled nodes: who they are, each method's accuracy on the others, and the model."""

    labelled: IntArray
    accuracies: dict[str, float]
    model: MetaPN


def draws(graph: Graph, n_draws: int) -> Iterator[Draw]:
    """Label three nodes of each class at random, fit all methods on the same labels, and score the rest.

    LabelSpreading gets its nearest-neighbour kernel, the better of its two here, with as many neighbours as
    the graph has. No method is given a validation set.
    """
    assert graph.features is not None and graph.labels is not None
    X, labels = graph.features, graph.labels
    for seed in range(n_draws):
        known = _labelled(labels, seed)
        y = np.full(graph.n_nodes, -1)
        y[known] = labels[known]
        regression = LogisticRegression(max_iter=1000).fit(X[known], y[known])
        spreading = LabelSpreading(kernel="knn", n_neighbors=10).fit(X, y)
        model = MetaPN(random_state=seed).fit(X, y, graph=graph)
        predictions = {
            "logistic regression": regression.predict(X),
            "LabelSpreading": spreading.transduction_,
            "Meta-PN": model.transduction_,
        }
        right = {name: (predicted == labels)[y == -1] for name, predicted in predictions.items()}
        yield Draw(known, {name: float(hits.mean()) for name, hits in right.items()}, model)


def demo_graph() -> Graph:
    """Return the graph of the demo, which needs no network."""
    return datasets.load("digits")


def _labelled(labels: IntArray, seed: int) -> IntArray:
    random = np.random.default_rng(seed)
    classes = range(int(labels.max()) + 1)
    return np.concatenate([random.choice(np.flatnonzero(labels == c), SHOT, replace=False) for c in classes])
