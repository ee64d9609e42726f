"""A small problem that is fitted in a blink."""

from types import SimpleNamespace

import numpy as np
import pytest

from metapn.data.synthetic import contextual_sbm
from metapn.graph import Graph


@pytest.fixture(scope="session")
def small():
    """120 nodes of three classes, three labels of each: A, X, y, graph without labels, and the truth."""
    known = contextual_sbm(120, n_classes=3, n_features=8, mean_degree=6, separation=2.0, seed=4)
    y = np.full(120, -1)
    for label in range(3):
        y[np.flatnonzero(known.labels == label)[:3]] = label
    return SimpleNamespace(
        A=known.adjacency, X=known.features, y=y, graph=Graph(known.adjacency), truth=known.labels, n=120
    )
