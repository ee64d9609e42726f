"""How long a fit will take, from a few epochs on a part of the graph."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from metapn.graph import Graph, IntArray
from metapn.model.metapn import MetaPN

#: Nodes of the part that is tried: four batches, a second's work.
SAMPLE = 4096
#: After how many steps, and epochs, a fit without validation nodes typically stops: more epochs on small graphs,
#: where an epoch is a step or two. See docs/trust.md.
_STEPS, _LEAST, _MOST = 1000, 60, 150


def estimate_seconds(graph: Graph, codes: IntArray, X: Any, model: MetaPN | None = None, *, epochs: int = 4) -> float:
    """Time of a fit in seconds: n / n' · (time of an epoch on n' nodes) · (epochs it will take).

    The n' nodes, at most 4,096, are all labelled ones (at most half of the part) and others at random, with
    the edges between them; the first epoch does not count. A fit is taken to do 1,000 steps on batches of
    nodes, in no fewer than 60 epochs and no more than 150. It may take 40 or 500: when training comes to rest
    is known only then: an order of magnitude.

    Parameters
    ----------
    graph : Graph
    codes : int array, shape (n,)
        Class indices, -1 where there is no label.
    X : array or sparse array, shape (n, f)
    model : MetaPN, optional
        Whose settings count; the defaults otherwise.
    epochs : int
        Epochs that are timed.
    """
    settings = MetaPN() if model is None else model
    part = _part(codes, graph.n_nodes)
    rows = X.tocsr()[part] if sparse.issparse(X) else np.asarray(X)[part]
    among = Graph(sparse.csr_array(graph.adjacency[part][:, part]))
    if among.n_edges == 0:  # a sparse sample of a large graph: any edge will do to time an epoch
        among = Graph.from_edges([(0, 1)], n_nodes=len(part))
    ticks: list[float] = []
    trial: MetaPN = clone(settings).set_params(max_epochs=epochs + 1, fine_tune_epochs=0, random_state=0)
    trial.fit(rows, codes[part], graph=among, on_epoch=lambda done, most: ticks.append(time.perf_counter()))
    an_epoch = float(np.median(np.diff(ticks))) * graph.n_nodes / len(part)
    batches = -(-graph.n_nodes // settings.batch_size)
    return an_epoch * min(max(_STEPS // batches, _LEAST), _MOST, settings.max_epochs)


def _part(codes: IntArray, n_nodes: int) -> IntArray:
    """Node numbers: of every class some labelled nodes, and others at random, in order."""
    random = np.random.default_rng(0)
    if n_nodes <= SAMPLE:
        return np.arange(n_nodes)
    labelled = np.flatnonzero(codes >= 0)
    first = np.unique(codes[labelled], return_index=True)[1]
    chosen = random.permutation(labelled)[: SAMPLE // 2]
    kept = np.union1d(chosen, labelled[first])
    others = np.setdiff1d(random.choice(n_nodes, SAMPLE, replace=False), kept)
    return np.union1d(kept, others[: SAMPLE - len(kept)])
