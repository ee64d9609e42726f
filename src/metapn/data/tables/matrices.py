"""A graph in one npz file, as tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from metapn.data.npz import read_npz
from metapn.data.tables.frames import Frame
from metapn.data.tables.labels import Labels, codes_and_names
from metapn.data.tables.source import arrow
from metapn.data.tables.tables import Tables
from metapn.graph import Graph


def npz_tables(path: Path) -> Tables:
    """Read everything that an npz file holds; nodes are numbered, and features stay a matrix."""
    graph = read_npz(path, either_way=True)
    n_nodes, n_features = graph.n_nodes, 0 if graph.features is None else graph.features.shape[1]
    ids = arrow().array(np.arange(n_nodes))
    labels = _labels(graph)
    if labels is not None and not graph.class_names:
        codes, class_names = codes_and_names(labels)
        graph = replace(graph, labels=codes, class_names=class_names)
    notes = (
        f"{path}: {n_nodes:,} nodes, numbered from 0, {graph.n_edges:,} edges, which count in both directions, and "
        f"{n_features:,} features",
    )
    columns = arrow().table({"id": ids}).select([])
    return Tables(graph, ids, columns, labels, notes, str(path), has_edges=graph.n_edges > 0)


def npz_edges(path: Path) -> Frame:
    """Read the edges of an npz file as a table, for nodes that are described elsewhere."""
    upper = sparse.coo_array(sparse.triu(read_npz(path, either_way=True).adjacency))
    table = arrow().table({"source": upper.row, "target": upper.col, "weight": upper.data})
    return Frame.of(table, str(path), ("only the edges of the npz file are used, for there is a node table",))


def _labels(graph: Graph) -> Labels | None:
    """Labels by name where classes have names, by number otherwise; None where there is none."""
    if graph.labels is None:
        return None
    n_classes = int(graph.labels.max(initial=-1)) + 1
    names: Labels = np.array([*(graph.class_names or range(n_classes)), None], dtype=object)
    return names[np.where(graph.labels < 0, len(names) - 1, graph.labels)]
