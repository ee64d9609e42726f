"""A small problem that is fitted in a blink."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from metapn.data.synthetic import contextual_sbm
from metapn.graph import Graph
from metapn.model.features import FeatureMatrix
from metapn.model.task import Task
from metapn.propagation.hops import transition


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


@pytest.fixture(scope="session")
def task_of(small):
    """Make the task of a run on the small problem: its gold nodes are other ones with another seed."""
    T = transition(small.graph)

    def make(seed=0, X=None, validation=None):
        shuffled = np.random.default_rng(seed).permutation(60) if seed else np.arange(60)
        gold = np.concatenate([shuffled[small.truth[shuffled] == label][:3] for label in range(3)])
        gold = torch.from_numpy(np.sort(gold))
        truth = torch.from_numpy(small.truth)
        return Task(
            T=T,
            X=FeatureMatrix(small.X if X is None else X),
            gold=gold,
            gold_labels=truth[gold],
            n_classes=3,
            generator=torch.Generator().manual_seed(seed),
            validation=validation,
            validation_labels=None if validation is None else truth[validation],
        )

    return make
