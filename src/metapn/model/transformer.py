"""The feature-label transformer f_θ: an MLP from a node's features to its label."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from metapn.model.features import FeatureMatrix


class Transformer(nn.Module):
    """P = softmax(ReLU(X W₁ + b₁) W₂ + b₂): the target model of the paper (eq. 4).

    Parameters
    ----------
    n_features, hidden, n_classes : int
        X has shape (n, f), W₁ (f, h), W₂ (h, c).
    dropout : float
        Applied to X and to the hidden layer while training.
    generator : torch.Generator
        Source of the initial weights and of the dropout masks.
    """

    def __init__(
        self, n_features: int, hidden: int, n_classes: int, *, dropout: float, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.generator = generator
        self.W1 = uniform((n_features, hidden), 1 / math.sqrt(n_features), generator)
        self.b1 = uniform((hidden,), 1 / math.sqrt(hidden), generator)
        self.W2 = uniform((hidden, n_classes), 1 / math.sqrt(hidden), generator)
        self.b2 = uniform((n_classes,), 1 / math.sqrt(n_classes), generator)

    def forward(self, X: FeatureMatrix) -> Tensor:
        """Logits of every row of X, shape (n, c)."""
        if self.training:
            X = X.dropout(self.dropout, self.generator)
        hidden = self.embed(X)
        if self.training:
            hidden = hidden * dropout_mask(hidden, self.dropout, self.generator)
        return hidden @ self.W2 + self.b2

    def embed(self, X: FeatureMatrix) -> Tensor:
        """Hidden representation ReLU(X W₁ + b₁), shape (n, h)."""
        return torch.relu(X @ self.W1 + self.b1)


def uniform(shape: tuple[int, ...], bound: float, generator: torch.Generator) -> nn.Parameter:
    """Return a parameter drawn uniformly from [-bound, bound]."""
    return nn.Parameter(torch.rand(shape, generator=generator) * (2 * bound) - bound)


def dropout_mask(like: Tensor, p: float, generator: torch.Generator) -> Tensor | float:
    """1 / (1 - p) with probability 1 - p, else 0: multiply by it; exactly 1 for p = 0."""
    if p == 0:
        return 1.0
    return (torch.rand(like.shape, generator=generator).to(like) >= p) / (1 - p)
