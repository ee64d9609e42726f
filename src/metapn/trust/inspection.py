"""A look at the data before anything is fitted: what there is, what will go wrong, what it will cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from metapn.graph import Graph, IntArray
from metapn.model.labels import encode_labels
from metapn.model.memory import estimate_memory
from metapn.model.metapn import MetaPN
from metapn.trust.duration import estimate_seconds
from metapn.trust.homophily import Homophily, labelled_homophily
from metapn.trust.inspection_text import as_text, warnings_of
from metapn.trust.machine import free_memory
from metapn.trust.reach import hops_to_label


@dataclass(frozen=True)
class Inspection:
    """What a graph and its labels are like; as text by ``str``, for JSON by `as_dict`.

    Parameters
    ----------
    n_nodes, n_edges, n_features : int
        Features are None where none were given.
    n_components, largest_component : int
        Connected components, and nodes of the largest.
    degrees : dict
        ``min``, ``median``, ``mean``, ``p99``, ``max`` number of neighbours, and ``isolated`` nodes.
    labels : dict
        Labelled nodes of each class, by its name.
    homophily : Homophily
        Of the edges between labelled nodes.
    hops : dict
        Nodes by the number of edges to the nearest label: ``"0"`` are the labelled ones.
    n_unreached : int
        Nodes that no label can reach.
    n_beyond : int
        Nodes that a label can reach, but only over more hops than labels travel.
    n_hops : int
        How many they travel, K.
    memory_bytes, free_bytes : int
        What a fit of Meta-PN needs, and what this machine has left; None where that is not known.
    seconds : float
        What it takes, roughly; None where it was not tried for want of memory, or of features.
    warnings : tuple of str
        What is wrong or will go wrong, each with what to do about it.
    """

    n_nodes: int
    n_edges: int
    n_features: int | None
    n_components: int
    largest_component: int
    degrees: dict[str, float]
    labels: dict[str, int]
    homophily: Homophily
    hops: dict[str, int]
    n_unreached: int
    n_beyond: int
    n_hops: int
    memory_bytes: int | None
    free_bytes: int | None
    seconds: float | None
    warnings: tuple[str, ...] = field(default=())

    @property
    def fits_into_memory(self) -> bool:
        """Whether a fit is not expected to need more memory than there is."""
        return self.memory_bytes is None or self.free_bytes is None or self.memory_bytes <= self.free_bytes

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return plain | {"homophily": self.homophily.as_dict(), "warnings": list(self.warnings)}

    def __str__(self) -> str:
        return as_text(self)


def inspect(graph: Graph, y: Any, X: Any = None, *, model: MetaPN | None = None, timed: bool = True) -> Inspection:
    """Look at a graph and its few labels before anything is fitted.

    Parameters
    ----------
    graph : Graph
    y : array-like, shape (n,)
        Labels; -1, None or NaN where there is none.
    X : array or sparse array, shape (n, f), optional
        Features; by default those of the graph. Without any, memory and time stay unknown.
    model : MetaPN, optional
        Whose settings count; the defaults otherwise.
    timed : bool
        Whether to try a few epochs on a part of the graph, see `estimate_seconds`.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> graph = Graph.from_edges([(0, 1), (1, 2), (3, 4)], n_nodes=5)
    >>> look = inspect(graph, ["a", None, "b", None, None])
    >>> look.n_components, look.hops, look.n_unreached
    (2, {'0': 2, '1': 1}, 2)
    """
    codes, classes = encode_labels(y)
    settings = MetaPN() if model is None else model
    features = graph.features if X is None else X
    components = np.bincount(graph.components())
    distance = hops_to_label(graph, np.flatnonzero(codes >= 0))
    memory = None if features is None else _memory(graph, codes, features, settings)
    free = free_memory()
    fits = memory is not None and (free is None or memory <= free)
    look = Inspection(
        n_nodes=graph.n_nodes,
        n_edges=graph.n_edges,
        n_features=None if features is None else int(features.shape[1]),
        n_components=len(components),
        largest_component=int(components.max()),
        degrees=_degrees(graph),
        labels=dict(zip(map(str, classes.tolist()), np.bincount(codes[codes >= 0]).tolist(), strict=True)),
        homophily=labelled_homophily(graph, codes),
        hops={str(hop): int(count) for hop, count in enumerate(np.bincount(distance[distance >= 0]))},
        n_unreached=int((distance < 0).sum()),
        n_beyond=int((distance > settings.n_hops).sum()),
        n_hops=settings.n_hops,
        memory_bytes=memory,
        free_bytes=free,
        seconds=estimate_seconds(graph, codes, features, settings) if timed and fits else None,
    )
    return replace(look, warnings=warnings_of(look))


def _degrees(graph: Graph) -> dict[str, float]:
    degrees = np.diff(graph.adjacency.indptr)
    return {
        "min": float(degrees.min()),
        "median": float(np.median(degrees)),
        "mean": float(degrees.mean()),
        "p99": float(np.quantile(degrees, 0.99, method="higher")),
        "max": float(degrees.max()),
        "isolated": int((degrees == 0).sum()),
    }


def _memory(graph: Graph, codes: IntArray, X: Any, model: MetaPN) -> int:
    stored = int(X.nnz) if sparse.issparse(X) else None
    return int(
        estimate_memory(
            graph.n_nodes,
            graph.n_edges,
            int(X.shape[1]),
            int(codes.max()) + 1,
            model.n_hops,
            g=int((codes >= 0).sum()),
            stored=stored,
        )
    )
