"""The transformer of r runs at once: its forward pass, and the closed forms of its derivatives.

The runs share nothing but the shape of their data; every array has the run first. Classes come before nodes,
(r, c, b): a softmax or a sum over a short last axis takes several times as long.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Head(NamedTuple):
    """What follows the product X W₁, or its gradient: b₁ (r, 1, h), W₂ᵀ (r, c, h), b₂ (r, c, 1)."""

    b1: Tensor
    W2t: Tensor
    b2: Tensor

    def moved(self, direction: Head, step: float | Tensor) -> Head:
        """Head after a step along a direction; the step is a number, or one for each run, shape (r, 1, 1)."""
        pairs = zip(self, direction, strict=True)
        if isinstance(step, Tensor):
            return Head(*(torch.addcmul(value, step, d) for value, d in pairs))
        return Head(*(torch.add(value, d, alpha=step) for value, d in pairs))


class Activation(NamedTuple):
    """One forward pass: hidden layer (r, b, h), dropout mask (r, b, h), logits and probabilities (r, c, b)."""

    hidden: Tensor
    mask: Tensor | float
    logits: Tensor
    p: Tensor

    @property
    def log_p(self) -> Tensor:
        """Log probabilities, shape (r, c, b)."""
        return torch.log_softmax(self.logits, dim=1)

    def gate(self, gradient: Tensor) -> Tensor:
        """What of a gradient (r, b, h) passes back through the hidden layer: ∘ [pre > 0], ∘ mask; in place."""
        gate(gradient, self.hidden, out=gradient)
        return gradient.mul_(self.mask) if isinstance(self.mask, Tensor) else gradient


def gate(gradient: Tensor, unit: Tensor, out: Tensor | None = None) -> Tensor:
    """Gradient ∘ [unit > 0], the backward pass of ReLU, in one pass over memory; into ``out`` where it is given."""
    backward = torch.ops.aten.threshold_backward
    passed: Tensor = (
        backward(gradient, unit, 0) if out is None else backward.grad_input(gradient, unit, 0, grad_input=out)
    )
    return passed


class Gradient(NamedTuple):
    """A gradient of θ that never forms the (f, h) matrix.

    The first layer's part is Xᵀ Z with Z of shape (r, b, h): kept as Z, since all that is asked of it are
    products with other rows of X.
    """

    Z: Tensor
    head: Head


def activate(Z: Tensor, head: Head, mask: Tensor | float = 1.0) -> Activation:
    """Forward pass from the pre-activation Z = X W₁ of shape (r, b, h), which becomes the hidden layer in place."""
    hidden = Z.add_(head.b1).relu_()
    if isinstance(mask, Tensor):
        hidden.mul_(mask)
    logits = torch.baddbmm(head.b2, head.W2t, hidden.mT)
    return Activation(hidden, mask, logits, torch.softmax(logits, dim=1))


def cross_entropy_gradient(at: Activation, head: Head, Y: Tensor, scale: float) -> Gradient:
    """Gradient of J = -(1/s) Σᵢ Σ_c y_ic log p_ic with respect to θ, for Y of shape (r, c, b).

    With m_i = Σ_c y_ic (pseudo labels are not normalised: their mass weighs the node)::

        G = (m p - Y) / s            (r, c, b)
        dW₂ᵀ = G H,  db₂ = Σ G,  Z = (Gᵀ W₂ᵀ) ∘ [pre > 0],  db₁ = Σ Z,  dW₁ = Xᵀ Z
    """
    G = torch.addcmul(Y, Y.sum(dim=1, keepdim=True), at.p, value=-1).mul_(-1 / scale)
    Z = at.gate(torch.bmm(G.mT, head.W2t))
    return Gradient(Z, Head(Z.sum(dim=1, keepdim=True), torch.bmm(G, at.hidden), G.sum(dim=2, keepdim=True)))


def log_probability_derivative(at: Activation, head: Head, Z: Tensor, direction: Head) -> Tensor:
    """Directional derivative of log p (r, c, b) along a direction whose first layer moves X W₁ by Z (r, b, h).

    Z is used up.
    """
    hidden = at.gate(Z.add_(direction.b1))
    logits = torch.baddbmm(direction.b2, head.W2t, hidden.mT).baddbmm_(direction.W2t, at.hidden.mT)
    return logits.sub_((at.p * logits).sum(dim=1, keepdim=True))
