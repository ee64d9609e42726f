"""The adaptive label propagator g_φ: attention over hops, evaluated for the batch alone."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from metapn.model.closed_forms import gate
from metapn.model.transformer import uniform

softmax_backward = torch.ops.aten._softmax_backward_data

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
    """The propagators of r runs: W (r, u, c), aᵀ (r, 1, u), and b (r, u, 1), which is None without a bias.

    There are u ≥ c units. Those beyond c are there for speed alone, see `stacked`: all their weights are zero, so
    that they are never on, have no gradient, and stay zero.
    """

    W: Tensor
    a: Tensor
    b: Tensor | None

    def write_back(self, run: int, propagator: Propagator) -> None:
        """Give one of the runs its weights."""
        n_classes = self.W.shape[2]
        propagator.W.copy_(self.W[run, :n_classes])
        propagator.a.copy_(self.a[run, 0, :n_classes])
        if self.b is not None:
            propagator.b.copy_(self.b[run, :n_classes, 0])


class Attention(NamedTuple):
    """The attention of r runs over the hops of a batch.

    ``hops`` (r, c, K b) are those attended to, ``units`` (r, u, K b) are ReLU(W Y + b), and ``weights``
    (r, K, b) their softmax.
    """

    hops: Tensor
    units: Tensor
    weights: Tensor


def stacked(propagators: list[Propagator]) -> Phi:
    """The parameters of several propagators as one Φ.

    Beyond a dozen classes the units are filled up to a multiple of four: MKL takes three times as long for the
    product of 15 and 15 long rows as for that of 16 and 15.
    """
    n_classes = len(propagators[0].a)
    idle = -n_classes % 4 if n_classes > 12 else 0
    W = pad(torch.stack([each.W for each in propagators]), (0, 0, 0, idle))
    a = pad(torch.stack([each.a for each in propagators])[:, None], (0, idle))
    if not hasattr(propagators[0], "b"):
        return Phi(W, a, None)
    return Phi(W, a, pad(torch.stack([each.b for each in propagators])[..., None], (0, 0, 0, idle)))


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
        da = Σ ds U,  dW = aᵀ ∘ (ds ∘ [U > 0]) Yᵀ,  db = aᵀ ∘ Σ ds ∘ [U > 0]

    Returns
    -------
    list of tensor
        In the shapes of `Phi`.
    """
    n_runs, n_hops, n_nodes = attention.weights.shape
    hops = attention.hops.view(n_runs, attention.hops.shape[1], n_hops, n_nodes)
    along = (G[:, :, None] * hops).sum(dim=1)
    scores = softmax_backward(along, attention.weights, 1, along.dtype).view(n_runs, 1, n_hops * n_nodes)
    open_units = gate(scores.expand_as(attention.units), attention.units)
    # The rows of the units come second, where an uneven number of the others does no harm.
    gradient = [phi.a.mT * torch.bmm(attention.hops, open_units.mT).mT, torch.bmm(scores, attention.units.mT)]
    return gradient if phi.b is None else [*gradient, phi.a.mT * open_units.sum(dim=2, keepdim=True)]


def static_weights(alpha: float, stack: Tensor) -> Tensor:
    """γ of personalised PageRank for every node of a hop stack (c, K + 1, b), shape (K + 1, b)."""
    n_hops = stack.shape[1] - 1
    weights = (1 - alpha) ** torch.arange(n_hops + 1, dtype=stack.dtype, device=stack.device)
    weights[:-1] *= alpha
    return weights[:, None].expand(stack.shape[1:])
