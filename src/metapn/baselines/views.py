"""What a network sees of the graph while it trains, and when it predicts all nodes: less is faster."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from metapn.model.features import FeatureMatrix
from metapn.model.task import Task
from metapn.propagation.operator import SparseMatrix


class View(NamedTuple):
    """Features, graph (None: nodes without edges), and the rows of the gold nodes, shape (g,)."""

    X: FeatureMatrix
    T: SparseMatrix | None
    gold: Tensor


def alone(task: Task) -> tuple[View, View]:
    """Views for a network that looks at no neighbours: to train on, the gold nodes; to predict, all nodes."""
    return _of_gold(task.X.rows(task.gold.cpu().numpy())), View(task.X, None, task.gold)


def smoothed_first(task: Task, smooth: Callable[[Tensor], Tensor]) -> tuple[View, View]:
    """Views for a network that smooths the features first, by a symmetric S, and then looks at no neighbours.

    Of S X the gold rows are enough to train on: Xᵀ (S E) for the columns E of the gold nodes, transposed. To
    predict, S X is formed where X is dense and so as large; where X is sparse the network is given X and T
    and has to smooth X W instead.

    Parameters
    ----------
    task : Task
    smooth : callable
        S H for H of shape (n, d).
    """
    with torch.no_grad():
        if task.X.dense is not None:
            smoothed = FeatureMatrix(smooth(task.X.dense).cpu().numpy(), dtype=task.X.dtype, device=task.device)
            return alone(dataclasses.replace(task, X=smoothed))
        columns = torch.zeros(task.n_nodes, len(task.gold), device=task.device)
        columns[task.gold, torch.arange(len(task.gold), device=task.device)] = 1
        rows = task.X.transpose_product(smooth(columns)).T.cpu().numpy()
    return _of_gold(FeatureMatrix(rows, dtype=task.X.dtype, device=task.device)), View(task.X, task.T, task.gold)


def _of_gold(X: FeatureMatrix) -> View:
    return View(X, None, torch.arange(X.shape[0], device=X.device))
