"""A model as an ONNX graph: scaling, layers and softmax, for any number of rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from metapn.data.files import whole_file
from metapn.deploy.onnx_graph import OnnxGraph
from metapn.errors import InputError
from metapn.graph import FloatArray
from metapn.model.estimator import GraphClassifier
from metapn.model.features import FeatureScaling

_TOLERANCE = 1e-5


class Layer(NamedTuple):
    """H ↦ H W + b, with W of shape (f, h) and b of shape (h,)."""

    W: FloatArray
    b: FloatArray


def export_onnx(model: GraphClassifier, path: str | Path) -> float:
    """Write what a model predicts of nodes without their edges as ONNX, and check that it is the same.

    ::

        features (rows, f) float64  ->  scaling  ->  layers  ->  softmax  ->  probabilities (rows, c) float32
                                                                          ->  label (rows,)

    The metadata holds ``classes``, in the order of the probabilities, as JSON. Before the file is written ONNX's
    reference implementation predicts random rows with it.

    Parameters
    ----------
    model : a fitted method
    path : path

    Returns
    -------
    float
        Largest difference between the probabilities of the model and of the file.
    """
    graph = OnnxGraph()
    features = graph.input("features", np.float64, model.n_features_in_)
    hidden = _scaled(graph, features, model._scaling)
    *first, last = _layers(model)
    for layer in first:
        hidden = graph.apply("Relu", _linear(graph, hidden, layer))
    probabilities = graph.apply("Softmax", _linear(graph, hidden, last), axis=1)
    graph.output("probabilities", probabilities, np.float32, len(model.classes_))
    best = graph.apply("ArgMax", probabilities, axis=1, keepdims=0)
    classes = model.classes_.astype(np.int64) if model.classes_.dtype.kind in "iu" else model.classes_
    graph.output("label", graph.apply("Gather", classes, best, axis=0), classes.dtype, None)
    made = graph.model(type(model).__name__, {"classes": json.dumps(model.classes_.tolist())})
    difference = _difference(made, model)
    if difference > _TOLERANCE:
        raise InputError(_cannot(model))
    with whole_file(path) as handle:
        handle.write(made.SerializeToString())
    return difference


def _scaled(graph: OnnxGraph, X: str, scaling: FeatureScaling) -> str:
    """Scaled features, (x - offset) · factor or x / ‖x‖₁, in double precision as the model has it, then in single."""
    if scaling.by_row:
        norms = graph.apply("ReduceSum", graph.apply("Abs", X), np.array([1]), keepdims=1)
        some = graph.apply("Greater", norms, np.float64(0))
        X = graph.apply("Div", X, graph.apply("Where", some, norms, np.float64(1)))
    else:
        X = graph.apply("Mul", graph.apply("Sub", X, scaling.offset), scaling.factor)
    return graph.cast(X, np.float32)


def _linear(graph: OnnxGraph, H: str, layer: Layer) -> str:
    return graph.apply("Add", graph.apply("MatMul", H, layer.W), layer.b)


def _layers(model: GraphClassifier) -> list[Layer]:
    """Layers of the network, between which is a ReLU."""
    network: Any = model._network_
    if hasattr(network, "transformer"):
        f = network.transformer
        pairs = [(f.W1, f.b1), (f.W2, f.b2)]
    elif hasattr(network, "W"):
        pairs = [(network.W, network.b)]
    else:
        raise InputError(_cannot(model))
    return [Layer(W.detach().cpu().numpy(), b.detach().cpu().numpy()) for W, b in pairs]


def _cannot(model: GraphClassifier) -> str:
    return (
        f"{type(model).__name__} is more than layers, even where there is no graph, and cannot be exported; fit a "
        "method whose prediction without a graph is an MLP, as Meta-PN's is"
    )


def _difference(made: Any, model: GraphClassifier, n_rows: int = 64) -> float:
    """Largest difference of the probabilities on random rows that are spread as the columns are."""
    from onnx.reference import ReferenceEvaluator

    factor = model._scaling.factor
    spread = 1 / np.where(factor > 0, factor * len(factor), 1.0)
    X = model._scaling.offset + spread * np.random.default_rng(0).normal(size=(n_rows, len(factor)))
    found: Any = ReferenceEvaluator(made).run(["probabilities"], {"features": X})
    return float(np.abs(found[0] - model.predict_proba(X)).max())
