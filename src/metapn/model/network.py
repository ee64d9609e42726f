"""What a method leaves behind: a module that turns features, and a graph where there is one, into labels."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn

from metapn.model.features import FeatureMatrix
from metapn.propagation.operator import SparseMatrix


class Network(nn.Module):
    """Base of all learned modules.

    Everything that a prediction needs is in ``state_dict()``, so that saving and loading is the same for
    all methods.
    """

    @abstractmethod
    def probabilities(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Return the probability of each class, shape (n, c); T is None for nodes without a graph."""

    @abstractmethod
    def embed(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Hidden representation, shape (n, h)."""


def normalised(scores: Tensor) -> Tensor:
    """Rows divided by their sum; a row of zeros becomes the uniform distribution, shape (n, c)."""
    mass = scores.sum(dim=-1, keepdim=True)
    uniform = torch.full_like(scores, 1 / scores.shape[-1])
    return torch.where(mass > 0, scores / mass.clamp(min=torch.finfo(scores.dtype).tiny), uniform)
