"""What each of the workers does that Ray Train has started: the whole loop, in step with the others."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from metapn.data.files import whole_file
from metapn.model.parallel.checkpoint import load_state, save_state
from metapn.model.parallel.engine import SharedEngine
from metapn.model.parallel.features import OwnFeatures
from metapn.model.parallel.learner import ParallelLearner, total
from metapn.model.streaming.task import StreamedTask
from metapn.model.training import History, Member, StoppingRule, stopping_rule, train_all
from metapn.propagation.engines.cluster import imported
from metapn.propagation.engines.ray import PartedEngine


class Job(NamedTuple):
    """What a worker is told; arrays are references into Ray's store of objects.

    ``features`` are the rows of X of each part, ``gold`` those of the gold nodes; ``labels`` is what a
    `StreamedTask` says of labels; ``generator`` is the state of its generator before the nodes were dealt;
    ``progress`` is where the number of epochs done is written for the driver to read.
    """

    engine: PartedEngine
    network: Any
    settings: Any
    shape: tuple[int, int]
    n_stored: int
    features: list[Any]
    gold: Any
    labels: dict[str, Any]
    generator: Tensor
    progress: Path
    checkpoint_seconds: float


def work(config: dict[str, Any]) -> None:
    """Train from the last checkpoint, or from the start; the last checkpoint is the result."""
    from ray import train

    torch.set_num_threads(1)  # a worker for each core
    job, context = config["job"], train.get_context()
    rank, world = context.get_world_rank(), context.get_world_size()
    learner = _learner(job, range(rank, len(job.features), world))
    rule = stopping_rule(learner.streamed, job.settings.patience)
    history, done = History(), False
    if (checkpoint := train.get_checkpoint()) is not None:
        with checkpoint.as_directory() as folder:
            history, done = load_state(Path(folder), learner, rule)
    keeper = _Keeper(learner, rule, job, first=rank == 0)
    if not done:
        train_all(learner, [keeper], max_epochs=job.settings.max_epochs, so_far=[history])
    keeper.save(history, done=True)


def _learner(job: Job, own: range) -> ParallelLearner:
    get, bounds = imported().get, job.engine.bounds
    parts = {int(bounds[number]): get(job.features[number]) for number in own}
    task = StreamedTask(
        engine=SharedEngine(job.engine, own),
        X=OwnFeatures(job.shape, job.n_stored, parts, get(job.gold)),
        generator=torch.Generator(),
        **job.labels,
    )
    task.generator.set_state(job.generator)
    return ParallelLearner([job.network], [task], job.settings, keep_propagated=False)


class _Keeper:
    """A stopping rule that also keeps the training, whenever the time has come by the first worker's clock."""

    def __init__(self, learner: ParallelLearner, rule: StoppingRule, job: Job, *, first: bool) -> None:
        self.learner, self.rule, self.job, self.first = learner, rule, job, first
        self.saved = self.told = time.monotonic()

    def update(self, member: Member, history: History) -> bool:
        """Ask the rule, tell the driver, and keep what there is now and then."""
        stop = self.rule.update(member, history)
        now = time.monotonic()
        if self.first and now - self.told > 0.5:
            self.told = now
            with whole_file(self.job.progress) as handle:
                handle.write(json.dumps(len(history.loss)).encode())
        due = torch.tensor([float(self.first and now - self.saved >= self.job.checkpoint_seconds)])
        total([due])
        if due and not stop:
            self.save(history, done=False)
        return stop

    def finish(self, member: Member, history: History) -> None:
        """Put the chosen weights into the member."""
        self.rule.finish(member, history)

    def save(self, history: History, *, done: bool) -> None:
        """Hand a checkpoint to Ray Train, which all workers wait for."""
        from ray import train

        with tempfile.TemporaryDirectory() as folder:
            checkpoint = None
            if self.first:
                save_state(Path(folder), self.learner, self.rule, history, done=done)
                checkpoint = train.Checkpoint.from_directory(folder)
            train.report({"epochs": len(history.loss)}, checkpoint=checkpoint)
        self.saved = time.monotonic()
