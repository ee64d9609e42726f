"""A graph in one npz file, in the flat CSR layout the benchmark graphs are published in.

=============================================  =======================================  ==================
member                                         what                                     shape
=============================================  =======================================  ==================
``adj_matrix.{data,indices,indptr,shape}``     edge weights, as a CSR matrix            (n, n)
``attr_matrix.{data,indices,indptr,shape}``    features, as a CSR matrix (may be left   (n, f)
                                               out, or be one dense ``attr_matrix``)
``labels``                                     class numbers, -1 unknown; may be left   (n,)
                                               out
``class_names``                                strings; may be left out                 (C,)
=============================================  =======================================  ==================

Other members are never looked at, and nothing is ever unpickled.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile
from scipy import sparse

from metapn.data.files import whole_file
from metapn.data.members import PARTS, class_numbers, csr_matrix, member, numbers, open_npz
from metapn.errors import InputError
from metapn.graph import Features, Graph


def read_npz(path: str | Path, *, either_way: bool = False) -> Graph:
    """Read a graph from an npz file: all of its nodes and weights, and the file's name as its name.

    Parameters
    ----------
    path : path
    either_way : bool
        Whether an edge stored in one direction counts in both (the larger weight holds, as in
        `Graph.from_edges`). Otherwise the matrix must be symmetric.

    Returns
    -------
    Graph
        Features as they were stored, dense or sparse; labels None if there are none.
    """
    file = Path(path)
    try:
        with open_npz(file) as archive:
            return _graph(archive, file.stem, either_way)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def write_npz(path: str | Path, graph: Graph) -> None:
    """Write a graph so that `read_npz` gives it back; the file appears whole or not at all.

    A published split is not written.

    Parameters
    ----------
    path : path
    graph : Graph
    """
    members = _flat("adj_matrix", graph.adjacency)
    if isinstance(graph.features, np.ndarray):
        members["attr_matrix"] = graph.features
    elif graph.features is not None:
        members |= _flat("attr_matrix", graph.features)
    if graph.labels is not None:
        members["labels"] = graph.labels
    if graph.class_names:
        members["class_names"] = np.array(graph.class_names, dtype=np.str_)
    with whole_file(path) as handle:
        np.savez_compressed(handle, allow_pickle=False, **members)


def standardise(graph: Graph) -> Graph:
    """Prepare a benchmark graph as the paper does: weights of one, and the largest component only.

    The nodes keep their order; of components of equal size the last is taken, as in ppnp. A published
    split is dropped, for its node numbers no longer hold.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    Graph

    Examples
    --------
    >>> standardise(Graph.from_edges([(0, 1), (2, 3), (3, 4)], n_nodes=5))
    Graph(3 nodes, 2 edges)
    """
    component = graph.components()
    sizes = np.bincount(component)
    keep = np.flatnonzero(component == np.flatnonzero(sizes == sizes.max())[-1])
    adjacency = graph.adjacency[keep][:, keep]
    adjacency.data[:] = 1
    return Graph(
        adjacency,
        features=None if graph.features is None else graph.features[keep],
        labels=None if graph.labels is None else graph.labels[keep],
        class_names=graph.class_names,
        name=graph.name,
    )


def _flat(prefix: str, matrix: sparse.csr_array) -> dict[str, Any]:
    return {f"{prefix}.{part}": np.asarray(getattr(matrix, part)) for part in PARTS}


def _graph(archive: NpzFile, name: str, either_way: bool) -> Graph:
    adjacency = csr_matrix(archive, "adj_matrix")
    if adjacency is None:
        raise InputError("the members adj_matrix.data, .indices, .indptr and .shape are missing; add the edges")
    n_rows, n_columns = adjacency.shape
    if n_rows != n_columns:
        raise InputError(f"adj_matrix has {n_rows} rows and {n_columns} columns; give one of each for each node")
    if adjacency.data.min(initial=0) < 0:
        raise InputError("member adj_matrix.data has negative weights; weights go from 0 (no edge) upwards")
    stored = member(archive, "labels")
    labels = None if stored is None else class_numbers(stored)
    n_classes = 0 if labels is None else int(labels.max(initial=-1)) + 1
    class_names = _class_names(archive)
    if class_names and len(class_names) < n_classes:
        raise InputError(f"{n_classes} classes have {len(class_names)} class_names; give one for each class")
    return Graph(
        adjacency.maximum(adjacency.T).tocsr() if either_way else adjacency,
        features=_features(archive),
        labels=labels,
        class_names=class_names,
        name=name,
    )


def _features(archive: NpzFile) -> Features | None:
    dense = member(archive, "attr_matrix")
    if dense is None:
        return csr_matrix(archive, "attr_matrix")
    if dense.ndim != 2:
        raise InputError(f"member attr_matrix has shape {dense.shape}; give one row of features for each node")
    return numbers(dense, "attr_matrix")


def _class_names(archive: NpzFile) -> tuple[str, ...]:
    """Names of the classes where they are stored as strings; older files hold objects, which are left."""
    try:
        names = member(archive, "class_names")
    except InputError:
        return ()
    return tuple(str(name) for name in names) if names is not None and names.dtype.kind == "U" else ()
