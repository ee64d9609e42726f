"""Algorithm 1 by several workers: each has some nodes of every batch, and all take the same steps."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, distributed

from metapn.model.streaming.learner import StreamedLearner


class ParallelLearner(StreamedLearner):
    """A `StreamedLearner` that has a part of each batch; the sums over a batch are added up over all workers.

    J_pseudo is a sum over the nodes of a batch, and so are all gradients that are taken of it: ∇J_pseudo itself,
    which the virtual step follows too, and the gradient of the propagator. J_gold, of few nodes, is
    computed by every worker. So all hold the same weights after each step, and they are those that one worker
    with the whole batch would have, to rounding; only dropout draws other masks.
    """

    def total(self, parts: Sequence[Tensor]) -> None:
        """Add up over all workers, in place and in one message."""
        total(parts)

    def epoch(self) -> list[float]:
        """Take a step on each batch; every worker draws its own dropout masks and the same order of batches."""
        if self.settings.dropout > 0:
            seed = int(torch.randint(2**31, (1,), generator=self.task.generator))
            self.noise = torch.Generator().manual_seed(seed + distributed.get_rank())
        return super().epoch()


def total(parts: Sequence[Tensor]) -> None:
    """Add up tensors over all workers, in place and in one message."""
    flat = torch.cat([part.reshape(-1) for part in parts])
    distributed.all_reduce(flat)
    for part, sums in zip(parts, flat.split([part.numel() for part in parts]), strict=True):
        part.copy_(sums.view(part.shape))
