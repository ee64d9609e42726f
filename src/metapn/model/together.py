"""Fitting: input checked, training, results kept; for one model or several on the same graph at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metapn.data.interop import as_graph
from metapn.data.neighbours import nearest_neighbour_graph
from metapn.errors import InputError
from metapn.graph import Features, Graph, IntArray
from metapn.model.features import FeatureMatrix, FeatureScaling
from metapn.model.inputs import checked_features
from metapn.model.network import Network
from metapn.model.settings import check_settings
from metapn.model.streaming.task import StreamedTask
from metapn.model.task import Task
from metapn.model.training import OnEpoch
from metapn.propagation.engines.contract import Engine
from metapn.propagation.operator import SparseMatrix

if TYPE_CHECKING:
    from metapn.model.estimator import GraphClassifier


class Shared(NamedTuple):
    """What all runs on one graph share."""

    graph: Graph
    propagation: SparseMatrix | Engine
    X: FeatureMatrix


class Beginning(NamedTuple):
    """All that training needs, one of each for a model: class indices (n,), task, untrained network."""

    graph: Graph
    codes: list[IntArray]
    tasks: list[Task | StreamedTask]
    networks: list[Network]


def fit_together(
    models: Sequence[GraphClassifier],
    X: Any,
    ys: Sequence[Any],
    graph: Any = None,
    *,
    validations: Sequence[Any] | None = None,
    on_epoch: OnEpoch | None = None,
) -> None:
    """Fit several models that differ in their seed alone, on the same graph with other labels, at once.

    What depends on the graph and the features is done once; Meta-PN trains all of them in the same steps.
    The results are those of single fits to sampling error (`MetaPN` deals the nodes into the same batches
    for all), and depend on which models are fitted together.

    Parameters
    ----------
    models : sequence of GraphClassifier
        Of one method and with the same settings but ``random_state``.
    X, graph
        As in `GraphClassifier.fit`.
    ys : sequence of array-like of shape (n,)
        Labels for each model.
    validations : sequence of pairs, optional
        Validation nodes for each model.
    on_epoch : callable, optional
    """
    start = time.perf_counter()
    graph, codes, tasks, networks = begin(models, X, ys, graph, validations=validations)
    histories = models[0]._train_together(models, networks, tasks, on_epoch)
    components = graph.components()
    for model, network, task, labels, history in zip(models, networks, tasks, codes, histories, strict=True):
        model._conclude(network, task, history)
        model.reached_ = np.isin(components, components[labels >= 0])
        seconds = (time.perf_counter() - start) / len(models)
        model.report_ = model._report(graph, labels, task.validation is not None, seconds)


def begin(
    models: Sequence[GraphClassifier],
    X: Any,
    ys: Sequence[Any],
    graph: Any = None,
    *,
    validations: Sequence[Any] | None = None,
) -> Beginning:
    """Check the input, and build the task and the network of each model; parameters as in `fit_together`."""
    first = models[0]
    for model in models:
        check_settings(model)
        if type(model) is not type(first) or _without_seed(model) != _without_seed(first):
            raise InputError(
                f"{model!r} and {first!r} cannot be fitted together; they may differ in random_state only"
            )
    features = checked_features(first, X, reset=True)
    for model in models[1:]:
        checked_features(model, X, reset=True)  # keeps what scikit-learn wants to know of X
    codes = [model._encoded(y, features.shape[0]) for model, y in zip(models, ys, strict=True)]
    shared = _shared(first, X, features, graph)
    tasks, networks = [], []
    for model, labels, validation in zip(models, codes, validations or [None] * len(models), strict=True):
        model._scaling = first._scaling
        task = model._task(shared, labels, validation)
        tasks.append(task)
        networks.append(model._network(task.X.shape[1], task.n_classes, task.generator).to(task.device))
    return Beginning(shared.graph, codes, tasks, networks)


def _shared(model: GraphClassifier, X: Any, features: Features, graph: Any) -> Shared:
    """Graph, transition matrix and scaled features; the scaling stays with the model."""
    n_nodes = features.shape[0]
    whole = nearest_neighbour_graph(X, model.n_neighbors) if graph is None else as_graph(graph, n_nodes)
    if whole.n_edges == 0 and graph is not None:
        raise InputError(
            "the graph has no edges, so no label can travel; give edges, or graph=None to join nearest neighbours"
        )
    model._scaling = FeatureScaling.fit(features, model.scaling)
    device = model._device()
    scaled = FeatureMatrix(model._scaling.transform(features), device=device)
    return Shared(whole, model._propagation(whole), scaled)


def _without_seed(model: GraphClassifier) -> dict[str, Any]:
    return {name: value for name, value in model.get_params().items() if name != "random_state"}
