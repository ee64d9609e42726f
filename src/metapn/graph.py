"""Graph: adjacency, features and labels. The one thing every room accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metapn.errors import InputError

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]
Features: TypeAlias = Any  # a scipy csr_array or a float array, shape (n, f)


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph, with what is known of its nodes.

    A graph has deliberately neither a length nor a shape: scikit-learn's cross-validation slices whatever
    has as many rows as X, and a graph that has lost half its rows is no graph.

    Parameters
    ----------
    adjacency : sparse array, shape (n, n)
        Symmetric, weights finite and not negative. Self-loops and stored zeros are dropped: propagation
        adds a self-loop of weight one to every node.
    features : array or sparse array, shape (n, f), optional
    labels : int array, shape (n,), optional
        Class indices; -1 is unknown.
    class_names : tuple of str, optional
    name : str, optional
    official_split : mapping of str to int array, optional
        Node indices of a split published with the data set (``train``, ``valid``, ``test``).

    Examples
    --------
    >>> from metapn import Graph
    >>> Graph.from_edges([(0, 1), (1, 2)], n_nodes=4)
    Graph(4 nodes, 2 edges)
    """

    adjacency: sparse.csr_array
    features: Features | None = None
    labels: IntArray | None = None
    class_names: tuple[str, ...] = ()
    name: str = ""
    official_split: Mapping[str, IntArray] | None = None

    def __post_init__(self) -> None:
        adjacency = _checked_adjacency(self.adjacency)
        object.__setattr__(self, "adjacency", adjacency)
        if isinstance(self.features, list):
            object.__setattr__(self, "features", _as_table(self.features, "features"))
        if self.labels is not None:
            object.__setattr__(self, "labels", _checked_labels(self.labels))
        for what, rows in (("features", self.features), ("labels", self.labels)):
            if rows is not None and rows.shape[0] != self.n_nodes:
                raise InputError(
                    f"{what} has {rows.shape[0]} rows but the graph has {self.n_nodes} nodes; "
                    "give one row for each node, in the order of the adjacency matrix"
                )

    @classmethod
    def from_edges(
        cls, edges: npt.ArrayLike, n_nodes: int, weights: npt.ArrayLike | None = None, **more: Any
    ) -> Graph:
        """Build an undirected graph from an edge list.

        Each edge counts in both directions; an edge given twice, in either direction, counts once, with
        the largest of its weights.

        Parameters
        ----------
        edges : array-like, shape (m, 2) or (m, 3)
            Node numbers from 0 to n_nodes - 1; a third column holds weights.
        n_nodes : int
        weights : array-like, shape (m,), optional
            One by default.
        **more
            The other fields of a graph.
        """
        if n_nodes < 1:
            raise InputError(f"the graph is empty: it has {n_nodes} nodes; give at least one edge between two nodes")
        table = _as_table(edges, "an edge list")
        if table.size == 0:
            table = np.zeros((0, 2), dtype=np.int64)
        if table.ndim != 2 or table.shape[1] not in (2, 3) or table.dtype.kind not in "iuf":
            raise InputError(
                f"an edge list needs numbers in two columns (source, target) or three (and weight), "
                f"this one has shape {table.shape} and type {table.dtype}; transpose it if it has two rows"
            )
        if table.shape[1] == 3:
            weights = table[:, 2]
        with np.errstate(invalid="ignore"):
            ends = table[:, :2].astype(np.int64)
        wrong = (ends < 0) | (ends >= n_nodes) | (ends != table[:, :2])
        if wrong.any():
            row = int(np.flatnonzero(wrong.any(axis=1))[0])
            raise InputError(
                f"edge {row} joins {table[row, 0]} and {table[row, 1]}, but nodes are whole numbers from 0 "
                f"to {n_nodes - 1}; number the nodes by their row in X"
            )
        strength: npt.NDArray[Any] = np.ones(len(ends)) if weights is None else _as_table(weights, "the weights")
        if strength.shape != (len(ends),) or strength.dtype.kind not in "biuf":
            raise InputError(
                f"{len(ends)} edges need as many weights, not an array of shape {strength.shape} and type "
                f"{strength.dtype}; give one number each"
            )
        with np.errstate(over="ignore"):
            strength = strength.astype(np.float32)
        _check_weights(strength, lambda place: f"edge {place}")
        return cls(_symmetric_maximum(ends, strength, n_nodes), **more)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return int(self.adjacency.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of undirected edges, each counted once."""
        return int(self.adjacency.nnz // 2)

    @property
    def n_classes(self) -> int:
        """Number of classes among the labels, 0 without labels."""
        return 0 if self.labels is None else int(self.labels.max()) + 1

    def components(self) -> IntArray:
        """Number of the connected component of each node, shape (n,)."""
        labels: IntArray = sparse.csgraph.connected_components(self.adjacency, directed=False)[1].astype(np.int64)
        return labels

    def __repr__(self) -> str:
        parts = [f"{self.n_nodes:,} nodes", f"{self.n_edges:,} edges"]
        if self.features is not None:
            parts.append(f"{self.features.shape[1]:,} features")
        if self.labels is not None:
            parts.append(f"{self.n_classes} classes")
        name = f"{self.name}: " if self.name else ""
        return f"Graph({name}{', '.join(parts)})"


def as_graph(graph: Any, n_nodes: int) -> Graph:
    """Accept what users have: a Graph, a sparse or dense adjacency matrix, or an edge list.

    Parameters
    ----------
    graph : Graph, sparse matrix of shape (n, n), dense array of shape (n, n), or edge list
        A dense square array is an adjacency matrix, unless it has two or three rows only: then it is read
        as an edge list.
    n_nodes : int
        Number of rows of X, to check against and to size an edge list by.
    """
    if isinstance(graph, Graph):
        result = graph
    elif sparse.issparse(graph):
        result = Graph(graph)
    else:
        table = _as_table(graph, "the graph")
        square = table.ndim == 2 and table.shape[0] == table.shape[1] > 3 and table.dtype.kind in "biuf"
        result = Graph(sparse.csr_array(table)) if square else Graph.from_edges(table, n_nodes)
    if result.n_nodes != n_nodes:
        raise InputError(
            f"the graph has {result.n_nodes} nodes but X has {n_nodes} rows; give one row for each node, in the "
            "order of the graph (in cross-validation pass a Graph and nodes=np.arange(n), see MetaPN.fit)"
        )
    return result


def _checked_adjacency(adjacency: Any) -> sparse.csr_array:
    if not sparse.issparse(adjacency):
        raise InputError(
            f"the adjacency matrix is a {type(adjacency).__name__}, not a scipy sparse matrix; "
            "use Graph.from_edges for an edge list"
        )
    n_rows, n_columns = adjacency.shape
    if n_rows != n_columns:
        raise InputError(
            f"the adjacency matrix has {n_rows} rows and {n_columns} columns; it needs as many of each (if "
            "scikit-learn's cross-validation has cut it, pass a Graph instead, which it leaves whole)"
        )
    if n_rows == 0:
        raise InputError("the graph is empty: it has no nodes; give at least one edge between two nodes")
    if adjacency.dtype.kind not in "biuf":
        raise InputError(f"edge weights are of type {adjacency.dtype}; give real numbers")
    matrix = sparse.csr_array(adjacency, dtype=np.float32, copy=True)
    matrix.sum_duplicates()
    _check_weights(matrix.data, lambda place: _entry(matrix, place))
    _drop_diagonal(matrix)
    difference = matrix - matrix.T
    if difference.nnz and np.abs(difference.data).max() > 1e-5 * max(1.0, float(matrix.data.max())):
        place = int(np.abs(difference.data).argmax())
        raise InputError(
            f"the adjacency matrix is not symmetric ({_entry(difference, place)} differs from its mirror image); "
            "give A.maximum(A.T), or --either-way on the command line, if the direction does not matter"
        )
    return matrix


def _checked_labels(labels: Any) -> IntArray:
    numbers = _as_table(labels, "labels")
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise InputError(
            f"the labels of a graph have shape {numbers.shape} and type {numbers.dtype}; give one class number "
            "from 0 for each node, -1 where it is unknown, and the names of the classes as class_names"
        )
    return numbers


def _as_table(given: Any, what: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(given)
    except ValueError:
        raise InputError(f"the rows of {what} are not of the same length; give as many numbers in each") from None


def _drop_diagonal(matrix: sparse.csr_array) -> None:
    """Remove self-loops and stored zeros in place, without building a second index."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    matrix.data[rows == matrix.indices] = 0
    matrix.eliminate_zeros()


def _entry(matrix: sparse.csr_array, place: int) -> str:
    row = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
    return f"entry {row}, {int(matrix.indices[place])}"


def _check_weights(weights: FloatArray, name: Callable[[int], str]) -> None:
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        kind = "negative" if weights[place] < 0 else "not finite"
        raise InputError(
            f"the weight of {name(place)} is {weights[place]}, which is {kind}; weights say how alike two nodes are, "
            "from 0 (no edge) upwards"
        )


def _symmetric_maximum(ends: IntArray, weights: FloatArray, n_nodes: int) -> sparse.csr_array:
    """Adjacency in which an edge given several times has the largest of its weights."""
    low, high = np.minimum(ends[:, 0], ends[:, 1]), np.maximum(ends[:, 0], ends[:, 1])
    proper = low != high
    # One whole number for each pair, n² of which fit into 64 bits: sorting those is what takes the time.
    pairs = (low * n_nodes + high)[proper]
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    weights = np.maximum.reduceat(weights[proper][order], first) if len(first) else weights[:0]
    low, high = np.divmod(pairs[first], n_nodes)
    upper = sparse.coo_array((weights, (low, high)), shape=(n_nodes, n_nodes))
    return sparse.csr_array(upper + upper.T)
