"""Algorithm 1 over batches that are read when their turn comes, and one ahead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from metapn.model.batches import Batch, balance_factors, weigh
from metapn.model.bilevel import Coupling, gram_pays
from metapn.model.learner import BilevelLearner, Networks, Settings, fixed_labels
from metapn.model.propagator import Propagator
from metapn.model.streaming.predictions import Predictions, TransformedRows
from metapn.model.streaming.task import StreamedTask
from metapn.propagation.engines.contract import RowBlocks, Seeds
from metapn.propagation.engines.read_ahead import read_ahead


class StreamedLearner(BilevelLearner):
    """A `BilevelLearner` whose hop stack, and features perhaps, are not in memory.

    It deals the same batches from the same generator and takes the same steps; what differs is where a batch
    comes from, and that predictions are made by the engine.

    Parameters
    ----------
    networks, tasks, settings
        As in `BilevelLearner`; the tasks have an engine.
    keep_propagated : bool
        Whether to keep pseudo labels and hop weights of all nodes when a run retires: 4 n (c + K + 1) bytes.
    """

    def __init__(
        self,
        networks: Sequence[Networks],
        tasks: Sequence[StreamedTask],
        settings: Settings,
        *,
        keep_propagated: bool = True,
    ) -> None:
        self.streamed, self.keep_propagated = tasks[0], keep_propagated
        self._fixed: list[Propagator] = []
        self._looked: RowBlocks | None = None
        super().__init__(networks, tasks, settings)

    def deal(self, tasks: Sequence[Any]) -> None:
        """Have the engine make the stack, in the order of the batches."""
        task, size = self.streamed, self.settings.batch_size
        self.order = torch.randperm(task.n_nodes, generator=task.generator)
        columns = [run * task.n_classes + each.gold_labels.cpu().numpy() for run, each in enumerate(tasks)]
        seeds = Seeds(
            np.concatenate([each.gold.cpu().numpy() for each in tasks]),
            np.concatenate(columns),
            len(tasks) * task.n_classes,
        )
        self.stack = task.engine.hop_stack(
            seeds, self.settings.n_hops, order=self.order, block_size=size, dtype=task.dtype, on_hop=task.on_hop
        )
        self.dealt = task.X.deal(self.order, size)
        self.form = gram_pays(task.X, self.X_gold[0].shape[0])
        self.factor: Tensor | None = None
        if self.settings.balance:
            mass = self.stack.mass().view(len(tasks), task.n_classes)
            self.factor = balance_factors(mass, torch.stack([each.gold_labels.cpu() for each in tasks]))

    def fix_labels(self, propagators: Sequence[Propagator]) -> None:
        """Remember the propagators: pseudo labels are made anew with each batch."""
        self._fixed = list(propagators)

    @property
    def n_batches(self) -> int:
        """Number of batches."""
        return len(self.stack)

    def visit(self, places: Iterable[int]) -> Iterator[Batch]:
        """Yield these batches, reading ahead."""
        return read_ahead(self._read, places)

    @torch.no_grad()
    def _read(self, place: int) -> Batch:
        device, n_classes = self.task.device, self.task.n_classes
        whole = self.stack.block(place)
        stack = whole.view(whole.shape[0] // n_classes, n_classes, *whole.shape[1:])
        if self.factor is not None:
            # In a copy: what an engine in memory gives out is its own.
            stack = stack.clone()
            weigh(stack, self.factor)
        if len(self.runs) < len(stack):
            stack = stack[self.runs]
        X = self.dealt.batch(place)
        coupling = Coupling(X, self.X_gold, form=self.form)
        batch = Batch(self.stack.nodes(place).to(device), X, coupling, stack.to(device))
        batch.labels = fixed_labels(self._fixed, batch.stack) if self._fixed else None
        return batch

    def epoch(self) -> list[float]:
        """Take a step on each batch, in random order; return the mean of their losses for each run."""
        self._looked = None
        return super().epoch()

    def predicted(self, place: int) -> Predictions:
        """Probabilities of all nodes by one of the runs after the last epoch, shape (n, c)."""
        if self._looked is None:
            self._looked = self._spread(self.theta)
        n_classes = self.task.n_classes
        return Predictions(self._looked, slice(place * n_classes, (place + 1) * n_classes))

    def predicted_with(self, theta: Sequence[Tensor]) -> Predictions:
        """Probabilities of all nodes by the transformer θ of one run, shape (n, c)."""
        return Predictions(self._spread(theta), slice(None))

    def _spread(self, theta: Sequence[Tensor]) -> RowBlocks:
        P = TransformedRows(self.streamed.X, [part.detach().clone() for part in theta])
        network = self.networks[0]
        return self.streamed.engine.pagerank(P, network.alpha, network.spread_hops)

    def keep_batches(self, places: list[int]) -> None:
        """Go on with some of the runs; batches are cut when they are read."""
        self._looked = None
        self._fixed = [self._fixed[place] for place in places] if self._fixed else []

    def _propagated(self, place: int) -> tuple[Tensor, Tensor]:
        return super()._propagated(place) if self.keep_propagated else (torch.empty(0), torch.empty(0))
