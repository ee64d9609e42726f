"""The adaptive label propagator g_φ: attention over hops, evaluated for the batch alone."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from metapn.model.closed_forms import gated
from metapn.model.transformer import uniform

#: How the weights of the hops are formed, see `Propagator`.
PROPAGATORS = ("anchored", "paper", "static")


class Propagator(nn.Module):
    """Ŷ_i = Σ_k γ_ik Y_i(k) (eq. 2), γ_i = softmax_k(aᵀ ReLU(W Y_i(k) + b)) (eq. 3).

    - ``anchored`` (default): softmax over the hops 1..K, and Y(0) added with weight one, as in the
      published code. A gold node keeps its own label whatever the attention learns.
    - ``paper``: softmax over the hops 0..K and no bias, to the letter of eq. 3. It scores lower (see
      docs/results.md), which is why it is not the default.
    - ``static``: γ_k = α (1 - α)^k for k < K and (1 - α)^K for K, the weights of K steps of personalised
      PageRank: nothing is learned (the paper's Static-LP).

    Parameters
    ----------
    n_classes : int
    kind : {"anchored", "paper", "static"}
    alpha : float
        Teleport probability of ``static``.
    generator : torch.Generator
    """

    def __init__(self, n_classes: int, *, kind: str, alpha: float, generator: torch.Generator) -> None:
        super().__init__()
        self.kind, self.alpha = kind, alpha
        if self.adaptive:
            bound = 1 / math.sqrt(n_classes)
            self.W = uniform((n_classes, n_classes), bound, generator)
            self.a = uniform((n_classes,), bound, generator)
            if kind == "anchored":
                self.b = uniform((n_classes,), bound, generator)

    @property
    def adaptive(self) -> bool:
        """Whether there is anything to learn."""
        return self.kind != "static"

    def hop_weights(self, stack: Tensor) -> Tensor:
        """γ of every node of the batch.

        Parameters
        ----------
        stack : tensor, shape (c, K + 1, b)
            Columns of the hop stack.

        Returns
        -------
        tensor, shape (K + 1, b)
            Sums to one over the hops, but for ``anchored``, where hop 0 has weight one besides.
        """
        if not self.adaptive:
            return static_weights(self.alpha, stack)
        weights = attend(stacked([self]), stack[None]).weights[0]
        return weights if self.kind == "paper" else torch.cat((torch.ones_like(weights[:1]), weights))

    def forward(self, stack: Tensor) -> Tensor:
        """Pseudo labels Ŷ of the batch, shape (c, b), from its columns of the hop stack (c, K + 1, b)."""
        return (self.hop_weights(stack) * stack).sum(dim=1)


class Phi(NamedTuple):
    """The propagators of r runs: W (r, c, c), aᵀ (r, 1, c), and b (r, c, 1), which is None without a bias."""

    W: Tensor
    a: Tensor
    b: Tensor | None


class Attention(NamedTuple):
    """The attention of r runs over the hops of a batch.

    ``hops`` (r, c, K b) are those attended to, ``units`` (r, c, K b) are ReLU(W Y + b), and ``weights``
    (r, K, b) their softmax.
    """

    hops: Tensor
    units: Tensor
    weights: Tensor


def stacked(propagators: list[Propagator]) -> Phi:
    """The parameters of several propagators as one Φ."""
    W = torch.stack([each.W for each in propagators])
    a = torch.stack([each.a for each in propagators])[:, None]
    return Phi(
        W, a, torch.stack([each.b for each in propagators])[..., None] if hasattr(propagators[0], "b") else None
    )


def attend(phi: Phi, stack: Tensor) -> Attention:
    """γ_i = softmax_k(aᵀ ReLU(W Y_i(k) + b)) from the hop stack of a batch, shape (r, c, K + 1, b)."""
    attended = stack if phi.b is None else stack[:, :, 1:]
    n_runs, n_classes, n_hops, n_nodes = attended.shape
    hops = attended.reshape(n_runs, n_classes, n_hops * n_nodes)
    units = (torch.bmm(phi.W, hops) if phi.b is None else torch.baddbmm(phi.b, phi.W, hops)).relu_()
    scores = torch.bmm(phi.a, units).view(n_runs, n_hops, n_nodes)
    return Attention(hops, units, torch.softmax(scores, dim=1))


def pseudo_labels(attention: Attention, phi: Phi, stack: Tensor) -> Tensor:
    """Ŷ = Σ_k γ_k Y(k), and Y(0) besides where there is a bias (``anchored``), shape (r, c, b)."""
    n_runs, n_hops, n_nodes = attention.weights.shape
    hops = attention.hops.view(n_runs, attention.hops.shape[1], n_hops, n_nodes)
    labels = (attention.weights[:, None] * hops).sum(dim=2)
    return labels if phi.b is None else labels.add_(stack[:, :, 0])


def propagator_gradient(attention: Attention, phi: Phi, G: Tensor) -> list[Tensor]:
    """Gradient of φ from G = dJ/dŶ, shape (r, c, b).

    ::

        dγ_k = Σ_c g_c Y_c(k),  ds = γ ∘ (dγ - Σ_k γ_k dγ_k)          (r, K, b)
        da = Σ ds U,  dU = aᵀ ds ∘ [U > 0],  dW = dU Yᵀ,  db = Σ dU

    Returns
    -------
    list of tensor
        In the shapes of `Phi`.
    """
    n_runs, n_hops, n_nodes = attention.weights.shape
    hops = attention.hops.view(n_runs, attention.hops.shape[1], n_hops, n_nodes)
    along = (G[:, :, None] * hops).sum(dim=1).mul_(attention.weights)
    scores = along.addcmul_(attention.weights, along.sum(dim=1, keepdim=True), value=-1).view(
        n_runs, 1, n_hops * n_nodes
    )
    units = gated(torch.bmm(phi.a.mT, scores), attention.units)
    gradient = [torch.bmm(units, attention.hops.mT), torch.bmm(scores, attention.units.mT)]
    return gradient if phi.b is None else [*gradient, units.sum(dim=2, keepdim=True)]


def static_weights(alpha: float, stack: Tensor) -> Tensor:
    """γ of personalised PageRank for every node of a hop stack (c, K + 1, b), shape (K + 1, b)."""
    n_hops = stack.shape[1] - 1
    weights = (1 - alpha) ** torch.arange(n_hops + 1, dtype=stack.dtype, device=stack.device)
    weights[:-1] *= alpha
    return weights[:, None].expand(stack.shape[1:])
