"""The meta-gradient: how the loss on the gold labels answers to each pseudo label of a batch.

One virtual step of the transformer on a batch, θ' = θ - η ∇J_pseudo(θ, φ) (eq. 6), and the derivative of
J_gold(θ') with respect to the pseudo labels Ŷ of that batch. The rest of the chain, from Ŷ to φ, is one
backward pass through the tiny propagator.

J_pseudo = -(1/s) Σᵢ Σ_c ŷ_ic log p_ic is linear in Ŷ, so with v = ∇J_gold(θ')::

    dJ_gold/dŷ_ic = -η v · ∂∇J_pseudo/∂ŷ_ic = (η/s) (directional derivative of log p_ic along v at θ)

Exactly: one forward-mode derivative, no second-order term. The virtual step moves W₁ by the gradient that the
inner step needs anyway, and J_gold sees of it only its product with the few gold rows. And v's first layer is
X_goldᵀ D for some D of few rows, so that X_batch v = (X_batch X_goldᵀ) D: with that Gram matrix at hand, the
derivative touches neither the feature matrix nor a tensor of the size of W₁.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from metapn.model.closed_forms import (
    Activation,
    Gradient,
    Head,
    activate,
    cross_entropy_gradient,
    log_probability_derivative,
)
from metapn.model.features import FeatureMatrix
from metapn.model.task import FeatureRows

META_GRADIENTS = ("exact", "finite_difference")


class Coupling:
    """X_batch X_goldᵀ of each run, shape (r, b, g): formed as Gram matrices, or applied factor by factor.

    Parameters
    ----------
    batch : FeatureMatrix
        The rows of the batch, the same for all runs.
    gold : list of FeatureMatrix
        The rows of the gold nodes of each run.
    form : bool
        Whether to form the Gram matrices. It pays while there are few gold nodes, see `gram_pays`.
    """

    def __init__(self, batch: FeatureMatrix, gold: list[FeatureMatrix], *, form: bool) -> None:
        self.batch, self.gold = batch, gold
        self.gram = torch.stack([batch.gram(rows) for rows in gold]) if form else None

    def to_batch(self, D: Tensor) -> Tensor:
        """X_batch (X_goldᵀ D), shape (r, b, h), for D of shape (r, g, h)."""
        if self.gram is not None:
            return torch.bmm(self.gram, D)
        return torch.stack([self.batch @ rows.transpose_product(d) for rows, d in zip(self.gold, D, strict=True)])

    def keep(self, runs: list[int]) -> None:
        """Go on with some of the runs."""
        self.gold = [self.gold[run] for run in runs]
        self.gram = None if self.gram is None else self.gram[runs]


def gram_pays(X: FeatureRows, n_gold: int) -> bool:
    """Whether the Gram matrix is cheaper than going through X: it has at most four times X's entries.

    Four, because a dense product does about four times as many operations a second as a sparse one.
    """
    return n_gold * X.shape[0] <= 4 * X.n_stored


class Gold(NamedTuple):
    """The labelled nodes as one batch sees them.

    X_gold W₁ and X_gold ∂J_pseudo/∂W₁, both (r, g, h), targets (r, c, g), and their coupling to the batch.
    """

    Z: Tensor
    slope: Tensor
    targets: Tensor
    coupling: Coupling


def gold_direction(head: Head, inner: Head, gold: Gold, eta: float, scale: float) -> Gradient:
    """V = ∇J_gold at θ' = θ - η ∇J_pseudo, whose part beyond W₁ is ``inner``; its first layer is X_goldᵀ Z."""
    virtual = head.moved(inner, -eta)
    Z = torch.sub(gold.Z, gold.slope, alpha=eta)
    return cross_entropy_gradient(activate(Z, virtual), virtual, gold.targets, scale)


def exact_label_gradient(at: Activation, head: Head, inner: Head, gold: Gold, eta: float, scale: float) -> Tensor:
    """dJ_gold/dŶ, shape (r, c, b), by the exact directional derivative.

    Parameters
    ----------
    at, head, inner
        Activation at θ, θ beyond W₁, and ∇J_pseudo at θ beyond W₁.
    gold : Gold
    eta : float
        Step of the virtual update.
    scale : float
        s.
    """
    if eta == 0:  # no step, no answer
        return torch.zeros_like(at.p)
    # The derivative is linear in v: v is made smaller by η/s, for that is less to multiply.
    v = gold_direction(head, inner, gold, eta, scale * scale / eta)
    return log_probability_derivative(at, head, gold.coupling.to_batch(v.Z), v.head)


def finite_difference_label_gradient(
    Z: Tensor, head: Head, inner: Head, gold: Gold, eta: float, scale: float, epsilon: float = 0.01
) -> Tensor:
    """dJ_gold/dŶ, shape (r, c, b), by eq. 8: (log p(θ + εv) - log p(θ - εv)) / 2ε instead of the derivative.

    Z is X_batch W₁, shape (r, b, h); the rest as in `exact_label_gradient`. ``epsilon`` is the length of the
    step: it is divided by ‖v‖, so that it means the same at every scale. (The paper's eq. 8 multiplies by
    η_φ where its own derivation has η_θ; the latter is meant.)
    """
    v = gold_direction(head, inner, gold, eta, scale)
    first_layers = [rows.transpose_product(z) for rows, z in zip(gold.coupling.gold, v.Z, strict=True)]
    squares = [torch.stack([layer.square().sum() for layer in first_layers])]
    squares += [part.square().sum(dim=(1, 2)) for part in v.head]
    step = (epsilon / torch.stack(squares).sum(dim=0).sqrt().clamp(min=1e-12)).view(-1, 1, 1)
    moved = gold.coupling.to_batch(v.Z)
    plus = activate(Z + step * moved, head.moved(v.head, step))
    minus = activate(Z - step * moved, head.moved(v.head, -step))
    return eta / scale * (plus.log_p - minus.log_p) / (2 * step)
