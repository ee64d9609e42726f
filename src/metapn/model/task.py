"""What a method is given to learn from: graph, features and the few labels, as tensors."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from metapn.model.features import FeatureMatrix
from metapn.propagation.operator import SparseMatrix


@dataclass(frozen=True)
class Task:
    """One problem: label n nodes with c classes from g gold labels.

    Parameters
    ----------
    T : SparseMatrix, shape (n, n)
        Symmetric normalised adjacency with self-loops.
    X : FeatureMatrix, shape (n, f)
    gold, gold_labels : tensor, shape (g,)
        The labelled nodes and their classes. No other label is in a task, but the validation nodes'.
    validation, validation_labels : tensor, shape (v,), or None
    n_classes : int
    generator : torch.Generator
        The one source of randomness.
    """

    T: SparseMatrix
    X: FeatureMatrix
    gold: Tensor
    gold_labels: Tensor
    n_classes: int
    generator: torch.Generator
    validation: Tensor | None = None
    validation_labels: Tensor | None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return self.T.shape[0]

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.gold.device
