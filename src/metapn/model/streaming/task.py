"""What Meta-PN is given to learn from where an engine propagates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from metapn.model.features import FeatureMatrix
from metapn.model.streaming.features import FeatureSource, HeldFeatures
from metapn.model.streaming.predictions import Predictions, TransformedRows
from metapn.model.task import Task
from metapn.propagation.engines.contract import Engine, OnHop
from metapn.propagation.operator import SparseMatrix


@dataclass(frozen=True)
class StreamedTask:
    """One problem, as in `metapn.model.task.Task`, with an engine in the place of T.

    Parameters
    ----------
    engine : Engine
    X : FeatureSource, shape (n, f)
    gold, gold_labels : tensor, shape (g,)
    n_classes : int
    generator : torch.Generator
    validation, validation_labels : tensor, shape (v,), or None
    dtype : {torch.float32, torch.float16}
        How the hop stack is kept.
    on_hop : callable, optional
        Called with (hops done, hops in all).
    """

    engine: Engine
    X: FeatureSource
    gold: Tensor
    gold_labels: Tensor
    n_classes: int
    generator: torch.Generator
    validation: Tensor | None = None
    validation_labels: Tensor | None = None
    dtype: torch.dtype = torch.float32
    on_hop: OnHop | None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return self.engine.n_nodes

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.gold.device

    def predict(self, network: Any, *, spread: bool = True, on_hop: OnHop | None = None) -> Predictions:
        """Probabilities of all nodes by a network, with the graph or by features alone, shape (n, c)."""
        net = network.transformer
        theta = [part.detach() for part in (net.W1[None], net.b1[None, None], net.W2.T[None], net.b2[None, :, None])]
        P = TransformedRows(self.X, theta)
        return Predictions(
            self.engine.pagerank(P, network.alpha, network.spread_hops if spread else 0, on_hop=on_hop), slice(None)
        )


def task_of(propagation: SparseMatrix | Engine, X: FeatureMatrix, **labels: Any) -> Task | StreamedTask:
    """Put a task together: with T in memory, or with the engine that stands for it."""
    if isinstance(propagation, SparseMatrix):
        return Task(T=propagation, X=X, **labels)
    return StreamedTask(engine=propagation, X=HeldFeatures(X), **labels)
