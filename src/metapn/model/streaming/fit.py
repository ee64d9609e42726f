"""A fit in which neither the graph nor the features nor the predictions are ever in memory as a whole."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from sklearn.utils import check_random_state

from metapn.errors import InputError
from metapn.model.fine_tuning import fine_tune
from metapn.model.fit_report import FitReport
from metapn.model.labels import encode_labels
from metapn.model.metapn import MetaPN
from metapn.model.streaming.checkpoint import Checkpoint
from metapn.model.streaming.learner import StreamedLearner
from metapn.model.streaming.nodes import ParquetNodes
from metapn.model.streaming.predictions import Predictions
from metapn.model.streaming.stored_features import StoredFeatures
from metapn.model.streaming.task import StreamedTask
from metapn.model.training import stopping_rule, train_all
from metapn.propagation.engines.contract import EdgeSource
from metapn.propagation.engines.disk import DiskEngine
from metapn.propagation.engines.work_folder import WorkFolder

#: Called with what is being done, how much of it is done, and how much there is.
OnProgress = Callable[[str, int, int], None]


class StoredFit(NamedTuple):
    """What a fit leaves: probabilities of all nodes, shape (n, c), read by rows; the model has the rest."""

    predictions: Predictions
    report: FitReport


def fit_stored(
    model: MetaPN,
    edges: EdgeSource,
    nodes: ParquetNodes,
    folder: Path,
    *,
    memory: int | None = None,
    half: bool = False,
    checkpoint_seconds: float = 10.0,
    on_progress: OnProgress | None = None,
) -> StoredFit:
    """Fit Meta-PN to files, by the engine ``disk``; the same call goes on where a process was ended.

    Parameters
    ----------
    model : MetaPN
        Gets what `metapn.model.storage.save` needs, and ``history_``; it has no ``label_distributions_``.
    edges, nodes
        As many nodes in both.
    folder : path
        For the work: sorted edges, hop stack, features, the last epoch.
    memory : int, optional
        Bytes that the engine may take; by default half of what is available.
    half : bool
        Whether the hop stack is kept in float16, see `metapn.propagation.engines.contract`.
    checkpoint_seconds : float
        Between two writings of the state of the training at least.
    on_progress : callable, optional
    """
    start = time.perf_counter()
    if model.final == "pseudo":
        raise InputError("engine disk predicts from files by 'propagated' or 'transformer'; choose one as final")
    if edges.n_nodes != nodes.n_nodes:
        raise InputError(
            f"the edges are of {edges.n_nodes} nodes, the node table has {nodes.n_nodes}; give both alike"
        )
    tell = on_progress or (lambda what, done, total: None)
    work = WorkFolder(folder)
    stored = nodes.stored(work)
    tell("reading the nodes", 1, 1)
    codes, model.classes_ = encode_labels(stored.labels)
    device = model._device()
    X = StoredFeatures(stored.file, stored.shape, stored.key, work, kind=model.scaling, device=device)
    engine = DiskEngine(edges, folder, memory)
    tell("sorting the edges", 1, 1)
    seed = int(check_random_state(model.random_state).randint(2**31))
    task = StreamedTask(
        engine=engine,
        X=X,
        gold=torch.as_tensor(stored.gold, device=device),
        gold_labels=torch.as_tensor(codes, device=device),
        n_classes=len(model.classes_),
        generator=torch.Generator().manual_seed(seed),
        dtype=torch.float16 if half else torch.float32,
        on_hop=lambda done, total: tell("propagating", done, total),
    )
    network = model._network(stored.shape[1], task.n_classes, task.generator).to(device)
    learner = StreamedLearner([network], [task], model, keep_propagated=False)
    rule = stopping_rule(task, model.patience)
    settings = {name: value for name, value in model.get_params().items() if name != "random_state"}
    key = hashlib.sha256(f"{engine.key} {stored.key} {seed} {half} {settings}".encode()).hexdigest()
    checkpoint = Checkpoint(folder / "training.safetensors", key, every=checkpoint_seconds)
    history = checkpoint.resume(learner, rule)

    def after(done: int, most: int) -> None:
        checkpoint.keep(learner, rule, history)
        tell("training", done, most)

    train_all(learner, [rule], max_epochs=model.max_epochs, on_epoch=after, so_far=[history])
    model.fine_tuning_ = fine_tune(network, task, model, model.fine_tune_epochs) if model.fine_tune_epochs else None
    model.history_, model.n_iter_, model._network_ = history, len(history.loss), network.eval()
    model._scaling, model.n_features_in_ = X.scaling, stored.shape[1]
    predictions = task.predict(network, on_hop=lambda done, total: tell("predicting", done, total))
    model.report_ = FitReport(
        method="MetaPN",
        final=model.final,
        n_nodes=task.n_nodes,
        n_edges=engine.graph.n_entries // 2,
        n_labelled=len(codes),
        n_classes=task.n_classes,
        n_isolated=engine.graph.n_isolated,
        n_unreached=None,
        stopping="no labels needed",
        epochs=model.n_iter_,
        best_epoch=history.best_epoch,
        stopped_because=history.stopped_because,
        seconds=time.perf_counter() - start,
    )
    return StoredFit(predictions, model.report_)


def write_parquet(fit: StoredFit, model: MetaPN, file: Path, rows: int = 2**17) -> None:
    """Write node, label, the probability of each class and the margin of the first over the second, by blocks."""
    import pyarrow as pa
    from pyarrow import parquet

    from metapn.data.files import whole_file

    n = fit.predictions.matrix.shape[0]
    with whole_file(file) as handle:
        writer = None
        for start in range(0, n, rows):
            P = fit.predictions[start : start + rows].numpy()
            P = P / P.sum(axis=1, keepdims=True)
            best = np.partition(P, -2, axis=1)
            columns = {
                "node": np.arange(start, start + len(P)),
                "label": model.classes_[P.argmax(axis=1)],
                **{f"p_{name}": np.ascontiguousarray(P[:, c]) for c, name in enumerate(model.classes_.tolist())},
                "margin": best[:, -1] - best[:, -2],
            }
            table = pa.table(columns)
            writer = writer or parquet.ParquetWriter(handle, table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()
