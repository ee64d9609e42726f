"""The feature-label transformer f_θ: an MLP from a node's features to its label."""

from __future__ import annotations

import math
from typing import NamedTuple

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

    @property
    def head(self) -> Head:
        """All but the first layer's weights, as plain tensors."""
        return Head(self.b1.detach(), self.W2.detach(), self.b2.detach())


class Head(NamedTuple):
    """What follows the product X W₁, or its gradient: b₁ (h,), W₂ (h, c), b₂ (c,)."""

    b1: Tensor
    W2: Tensor
    b2: Tensor

    def moved(self, direction: Head, step: float | Tensor) -> Head:
        """Head after a step along a direction."""
        return Head(*(value + step * d for value, d in zip(self, direction, strict=True)))


class Activation(NamedTuple):
    """One forward pass: hidden layer (b, h), its ReLU mask (b, h) and log probabilities (b, c)."""

    hidden: Tensor
    active: Tensor
    log_p: Tensor


class Gradient(NamedTuple):
    """A gradient of θ that never forms the (f, h) matrix.

    The first layer's part is Xᵀ Z with Z of shape (b, h): kept as Z, since all that is asked of it are
    products with other rows of X.
    """

    Z: Tensor
    head: Head


def activate(Z: Tensor, head: Head, mask: Tensor | float = 1.0) -> Activation:
    """Forward pass from the pre-activation Z = X W₁ of shape (b, h); ``mask`` is a dropout mask."""
    pre = Z + head.b1
    active = (pre > 0) * mask
    hidden = pre * active
    return Activation(hidden, active, torch.log_softmax(hidden @ head.W2 + head.b2, dim=-1))


def cross_entropy_gradient(at: Activation, head: Head, Y: Tensor, scale: float) -> Gradient:
    """Gradient of J = -(1/s) Σᵢ Σ_c y_ic log p_ic with respect to θ.

    With m_i = Σ_c y_ic (pseudo labels are not normalised: their mass weighs the node)::

        G = (m p - Y) / s            (b, c)
        dW₂ = Hᵀ G,  db₂ = Σ G,  Z = (G W₂ᵀ) ∘ [pre > 0],  db₁ = Σ Z,  dW₁ = Xᵀ Z
    """
    G = (Y.sum(dim=-1, keepdim=True) * at.log_p.exp() - Y) / scale
    Z = (G @ head.W2.mT) * at.active
    return Gradient(Z, Head(Z.sum(dim=-2), at.hidden.mT @ G, G.sum(dim=-2)))


def log_probability_derivative(at: Activation, head: Head, Z: Tensor, direction: Head) -> Tensor:
    """Directional derivative of log p (b, c) along a direction whose first layer moves X W₁ by Z (b, h)."""
    logits = ((Z + direction.b1) * at.active) @ head.W2 + at.hidden @ direction.W2 + direction.b2
    return logits - (at.log_p.exp() * logits).sum(dim=-1, keepdim=True)


def uniform(shape: tuple[int, ...], bound: float, generator: torch.Generator) -> nn.Parameter:
    """Return a parameter drawn uniformly from [-bound, bound]."""
    return nn.Parameter(torch.rand(shape, generator=generator) * (2 * bound) - bound)


def dropout_mask(like: Tensor, p: float, generator: torch.Generator) -> Tensor | float:
    """1 / (1 - p) with probability 1 - p, else 0: multiply by it; exactly 1 for p = 0."""
    if p == 0:
        return 1.0
    return (torch.rand(like.shape, generator=generator).to(like) >= p) / (1 - p)
