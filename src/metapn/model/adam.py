"""Adam by torch's fused kernel alone, on arrays whose first axis is the run."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """m ← β₁ m + (1 - β₁) g,  v ← β₂ v + (1 - β₂) g²,  θ ← θ - η m̂ / (√v̂ + ε), with g = ∇J + λ θ.

    ``torch.optim.Adam(fused=True)`` takes the same step by the same kernel. On arrays of this size it spends more
    time on its way there than in it, and it has no way to let some of the runs go.

    Parameters
    ----------
    arrays : sequence of tensor, shape (r, ...)
        Changed in place.
    learning_rate, l2 : float
        η and λ.
    run_by_run : bool
        Whether the gradient of an array is given as r tensors: then nobody has to copy them into one.
    """

    def __init__(
        self, arrays: Sequence[Tensor], *, learning_rate: float, l2: float = 0.0, run_by_run: bool = False
    ) -> None:
        self.learning_rate, self.l2, self.run_by_run = learning_rate, l2, run_by_run
        self.arrays = list(arrays)
        self.means = [torch.zeros_like(each) for each in self.arrays]
        self.squares = [torch.zeros_like(each) for each in self.arrays]
        self.steps = torch.zeros((), device=self.arrays[0].device)
        #: Those of the last step.
        self.gradients: list[Tensor] = []
        self._split()

    def _split(self) -> None:
        states = self.arrays, self.means, self.squares
        self._parts = [[row for each in state for row in each] if self.run_by_run else state for state in states]
        self._all_steps = [self.steps] * len(self._parts[0])

    def step(self, gradients: Sequence[Tensor]) -> None:
        """Move the arrays; the gradients are in their order."""
        # The kernel reads memory as it lies, and not by its strides.
        self.gradients = [gradient.contiguous() for gradient in gradients]
        self.steps += 1
        arrays, means, squares = self._parts
        torch._fused_adam_(
            arrays,
            self.gradients,
            means,
            squares,
            [],
            self._all_steps,
            lr=self.learning_rate,
            beta1=BETA1,
            beta2=BETA2,
            weight_decay=self.l2,
            eps=EPSILON,
            amsgrad=False,
            maximize=False,
        )

    def state(self) -> list[Tensor]:
        """All that it remembers, to be stored."""
        return [*self.means, *self.squares, self.steps]

    def restore(self, state: Sequence[Tensor]) -> None:
        """Remember what another has stored."""
        for own, stored in zip(self.state(), state, strict=True):
            own.copy_(stored)

    def keep(self, places: Sequence[int]) -> list[Tensor]:
        """Go on with some of the runs; return their arrays."""
        self.arrays, self.means, self.squares = (
            [each[list(places)] for each in state] for state in (self.arrays, self.means, self.squares)
        )
        self._split()
        return self.arrays
