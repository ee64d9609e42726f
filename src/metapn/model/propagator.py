"""The adaptive label propagator g_φ: attention over hops, evaluated for the batch alone."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

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
        stack : tensor, shape (b, K + 1, c)
            Rows of the hop stack.

        Returns
        -------
        tensor, shape (b, K + 1)
            Sums to one over the hops, but for ``anchored``, where hop 0 has weight one besides.
        """
        if not self.adaptive:
            return self._static_weights(stack)
        if self.kind == "paper":
            return torch.softmax(torch.relu(stack @ self.W.mT) @ self.a, dim=-1)
        attention = torch.softmax(torch.relu(stack[..., 1:, :] @ self.W.mT + self.b) @ self.a, dim=-1)
        return torch.cat((attention.new_ones(*attention.shape[:-1], 1), attention), dim=-1)

    def forward(self, stack: Tensor) -> Tensor:
        """Pseudo labels Ŷ of the batch, shape (b, c), from its rows of the hop stack (b, K + 1, c)."""
        return (self.hop_weights(stack).unsqueeze(-2) @ stack).squeeze(-2)

    def _static_weights(self, stack: Tensor) -> Tensor:
        n_hops = stack.shape[-2] - 1
        weights = (1 - self.alpha) ** torch.arange(n_hops + 1, dtype=stack.dtype, device=stack.device)
        weights[:-1] *= self.alpha
        return weights.expand(stack.shape[:-1])
