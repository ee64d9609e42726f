"""Figure 4: the hidden representations of a method's nodes, laid out in the plane by t-SNE."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from metapn.data.files import whole_file
from metapn.experiments.cell import Cell
from metapn.experiments.run import fitted, load

SEED = 0


def draw_map(cell: Cell, folder: Path, *, threads: int = 1) -> None:
    """Write ``map-<dataset>-<method>.npz``, unless it is there already with the same settings.

    Members are ``places`` (n, 2), ``labels`` (n,), the ``accuracy`` of the fit on its test nodes, and the
    ``cell`` that was fitted, as JSON.
    """
    path = folder / f"map-{cell.dataset}-{cell.method}.npz"
    signature = json.dumps(cell.key())
    if path.exists():
        with np.load(path, allow_pickle=False) as before:
            if str(before["cell"]) == signature:
                return
    graph = load(cell.dataset)
    (model,), (split,), _ = fitted(cell, graph, [SEED], threads=threads)
    hidden = model.embed(graph.features, graph)
    # One thread: the sums of several would be added in an order that changes from run to run.
    with threadpool_limits(limits=1):
        places = TSNE(init="pca", random_state=SEED, n_jobs=1).fit_transform(hidden)
    assert graph.labels is not None
    right = model.transduction_[split.test] == graph.labels[split.test]
    with whole_file(path) as handle:
        np.savez_compressed(
            handle,
            allow_pickle=False,
            places=places.astype(np.float32),
            labels=graph.labels.astype(np.int64),
            accuracy=np.float64(right.mean()),
            cell=np.array(signature),
        )
