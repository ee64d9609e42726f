"""A small problem that is fitted in a blink, and a method that is quick about it."""

from types import SimpleNamespace

import numpy as np
import pytest

from metapn.data.synthetic import contextual_sbm
from metapn.graph import Graph
from metapn.model.metapn import MetaPN


@pytest.fixture(scope="session")
def small():
    """120 nodes of three classes, four labels of each: X, y, graph without labels, and the truth."""
    known = contextual_sbm(120, n_classes=3, n_features=8, mean_degree=6, separation=1.5, seed=4)
    y = np.full(120, -1)
    for label in range(3):
        y[np.flatnonzero(known.labels == label)[:4]] = label
    return SimpleNamespace(X=known.features, y=y, graph=Graph(known.adjacency), truth=known.labels)


@pytest.fixture
def quick():
    """Meta-PN with few epochs."""
    return MetaPN(random_state=0, max_epochs=15, hidden=8)
