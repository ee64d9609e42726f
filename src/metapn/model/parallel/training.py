"""Training on a cluster: Ray Train starts the workers, joins them, and starts them again when one is lost."""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy import sparse
from torch import Tensor

from metapn.graph import Features
from metapn.model.learner import BilevelLearner
from metapn.model.parallel.checkpoint import load_state
from metapn.model.parallel.worker import Job, work
from metapn.model.streaming.learner import StreamedLearner
from metapn.model.training import History, OnEpoch, StoppingRule
from metapn.propagation.engines.cluster import imported
from metapn.propagation.engines.ray import RayEngine

#: Seconds between two checkpoints at least: what a worker or driver that is killed costs at most.
CHECKPOINT_SECONDS = 30.0
#: How often workers may be lost before the training is given up.
_FAILURES = 100


def train_on_cluster(
    learner: BilevelLearner,
    rule: StoppingRule,
    generator: Tensor,
    *,
    max_epochs: int,
    on_epoch: OnEpoch | None = None,
) -> History:
    """Have the one run of a learner trained by a worker for each part of its engine's graph.

    Parameters
    ----------
    learner : BilevelLearner
        A `StreamedLearner` over a `RayEngine`, before its first epoch; its network has the weights in the end.
    rule : StoppingRule
        Has its final state in the end.
    generator : tensor
        State of the task's generator before the learner was made, so that the workers deal alike.
    max_epochs : int
    on_epoch : callable, optional
    """
    from ray.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    assert isinstance(learner, StreamedLearner)
    engine = learner.streamed.engine
    assert isinstance(engine, RayEngine)
    folder = engine.parted.folder / "training"
    folder.mkdir(exist_ok=True)
    job, name = _job(learner, engine, generator, folder / "progress.json")
    trainer = TorchTrainer(
        work,
        train_loop_config={"job": job},
        torch_config=TorchConfig(backend="gloo"),
        # Spread over the nodes; and half a CPU each, so that all have a place when half of the nodes are lost.
        scaling_config=ScalingConfig(
            num_workers=len(job.features), resources_per_worker={"CPU": 0.5}, placement_strategy="SPREAD"
        ),
        run_config=RunConfig(
            name=name,  # a run of this name is taken up again
            storage_path=str(folder),
            failure_config=FailureConfig(max_failures=_FAILURES),
            checkpoint_config=CheckpointConfig(num_to_keep=2),
        ),
    )
    with _told(job.progress, max_epochs, on_epoch):
        result = trainer.fit()
    assert result.checkpoint is not None
    with result.checkpoint.as_directory() as place:
        history, _ = load_state(Path(place), learner, rule)
    learner.retire([0])
    return history


def _job(learner: StreamedLearner, engine: RayEngine, generator: Tensor, progress: Path) -> tuple[Job, str]:
    """What the workers are told, and a name that changes when any of it does."""
    put, task, settings = imported().put, learner.streamed, learner.settings
    labels = {
        "gold": task.gold,
        "gold_labels": task.gold_labels,
        "n_classes": task.n_classes,
        "validation": task.validation,
        "validation_labels": task.validation_labels,
        "dtype": task.dtype,
    }
    known = {name: value for name, value in vars(settings).items() if name != "random_state" and name[-1] != "_"}
    digest = hashlib.sha256(f"{engine.parted.key} {labels} {known}".encode())
    for tensor in (generator, task.gold, task.gold_labels):
        digest.update(tensor.numpy().data)
    features = []
    for first, last in itertools.pairwise(engine.parted.bounds.tolist()):
        rows = task.X.block(first, last).source
        _hash(digest, rows)
        features.append(put(rows))
    job = Job(
        engine=engine.parted,
        network=learner.networks[0],
        settings=settings,
        shape=task.X.shape,
        n_stored=task.X.n_stored,
        features=features,
        gold=put(learner.X_gold[0].source),
        labels=labels,
        generator=generator,
        progress=progress,
        checkpoint_seconds=CHECKPOINT_SECONDS,
    )
    return job, digest.hexdigest()[:16]


def _hash(digest: hashlib._Hash, rows: Features) -> None:
    arrays = (rows.indptr, rows.indices, rows.data) if sparse.issparse(rows) else (rows,)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)


@contextmanager
def _told(progress: Path, max_epochs: int, on_epoch: OnEpoch | None) -> Iterator[None]:
    """Pass on what the workers write of their progress, twice a second."""
    ended = threading.Event()

    def watch() -> None:
        told = 0
        while not ended.wait(0.5):
            done = json.loads(progress.read_bytes()) if progress.exists() else 0
            if on_epoch is not None and done != told:
                told = done
                on_epoch(done, max_epochs)

    progress.unlink(missing_ok=True)
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
