"""What a caller gives to an estimator, checked and told in one sentence when it cannot be used."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from metapn.errors import InputError
from metapn.graph import Features, Graph, IntArray
from metapn.model.labels import codes_of


def checked_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> Features:
    """X as float CSR or array, finite; with as many columns as in fit, unless ``reset`` says that this is fit."""
    try:
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
    except ValueError as error:
        # scikit-learn's own words, without the array that it prints in the middle of a sentence.
        words = re.sub(r"\n(?:array=.*\.\n(?=Reshape)|\[.*)", " ", str(error), flags=re.DOTALL).strip(". ")
        raise InputError(f"{words}; give numbers, a row for each node, with the columns of fit") from None
    if not _in_range(X.data if sparse.issparse(X) else X):
        raise InputError(_first_wrong(X))
    return sparse.csr_array(X) if sparse.issparse(X) else X


def _in_range(values: npt.NDArray[Any]) -> bool:
    """Whether all are finite in single precision, found without a copy as large as they are."""
    most = float(np.finfo(np.float32).max)
    return values.size == 0 or bool(values.min() >= -most and values.max() <= most)


def _first_wrong(X: Any) -> str:
    """Say where the first value is that cannot be used, and what it is."""
    values = X.data if sparse.issparse(X) else X
    with np.errstate(invalid="ignore"):
        place = int(np.flatnonzero(~(np.abs(values) <= np.finfo(np.float32).max))[0])
    if sparse.issparse(X):
        row, column = int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    else:
        row, column = divmod(place, X.shape[1])
    kind = "NaN" if np.isnan(X[row, column]) else "infinity or a number beyond 3.4e38"
    return (
        f"Input X contains {kind} in row {row}, column {column}; fill or drop such values first "
        "(sklearn.impute.SimpleImputer does it)"
    )


def whole_graph(X: Any, y: Any, graph: Any, nodes: npt.ArrayLike) -> tuple[Features, npt.NDArray[Any]]:
    """Features of all nodes of the graph, and labels of the given ones alone."""
    whole = graph_with_features(graph)
    places = checked_nodes(nodes, whole.n_nodes, "nodes")
    labels = np.asarray(y, dtype=object)
    if labels.shape != places.shape or len(places) != np.shape(X)[0]:
        raise InputError(
            f"nodes has {len(places)} entries, X {np.shape(X)[0]} rows and y shape {labels.shape}; "
            "give as many labels and rows as nodes"
        )
    everything = np.full(whole.n_nodes, None, dtype=object)
    everything[places] = labels
    return whole.features, everything


def graph_with_features(graph: Any) -> Graph:
    """The graph, if it holds features: only then are those of all nodes known."""
    if not isinstance(graph, Graph) or graph.features is None:
        raise InputError(
            "nodes= needs graph= to be a Graph with features, for the nodes that are not in X; "
            "give Graph(A, features=X)"
        )
    return graph


def checked_validation(validation: Any, n_nodes: int, classes: npt.NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Validation nodes and their class indices, each of shape (v,)."""
    if not isinstance(validation, tuple | list) or len(validation) != 2:
        raise InputError("validation must be a pair: node numbers and their labels, as many of each")
    nodes = checked_nodes(validation[0], n_nodes, "validation")
    labels = codes_of(validation[1], classes, "validation")
    if len(nodes) != len(labels) or len(nodes) == 0:
        raise InputError(
            f"validation has {len(nodes)} nodes and {len(labels)} labels; give as many of each, at least one"
        )
    return nodes, labels


def checked_nodes(nodes: npt.ArrayLike, n_nodes: int, what: str) -> IntArray:
    """Node numbers as an array, shape (k,)."""
    places = np.asarray(nodes)
    if places.ndim != 1 or places.dtype.kind not in "iu" or (places < 0).any() or (places >= n_nodes).any():
        raise InputError(f"{what} must hold node numbers, whole ones from 0 to {n_nodes - 1} in one dimension")
    return places.astype(np.int64)
