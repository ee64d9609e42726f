"""A pipeline as an ONNX graph: columns or features in, calibrated probabilities out, for any number of rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from metapn.data.files import whole_file
from metapn.deploy.onnx_columns import NumericColumn, encoded, numeric_columns
from metapn.deploy.onnx_graph import OnnxGraph
from metapn.deploy.pipeline import Pipeline
from metapn.errors import InputError
from metapn.graph import FloatArray
from metapn.model.estimator import GraphClassifier
from metapn.model.features import FeatureScaling
from metapn.trust.calibration import Adjustment

_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Exported:
    """What an ONNX file takes, and how it compares.

    Parameters
    ----------
    input : {"columns", "features"}
        Its one input: the numeric columns of a table, or encoded features.
    names : list of str
        What each place of a row of the input is.
    difference : float
        Largest difference between the probabilities of the pipeline and of the file, on random rows.
    """

    input: str
    names: list[str]
    difference: float

    def __str__(self) -> str:
        return (
            f"input {self.input!r} of {len(self.names):,} numbers a row; probabilities equal the model's to "
            f"{self.difference:.0e}"
        )


class Layer(NamedTuple):
    """H ↦ H W + b, with W of shape (f, h) and b of shape (h,)."""

    W: FloatArray
    b: FloatArray


def export_onnx(pipeline: Pipeline, path: str | Path) -> Exported:
    """Write what a pipeline predicts of nodes without their edges as ONNX, and check that it is the same.

    ::

        columns (rows, k) float64, NaN: missing  ->  filled, scaled, marked  ->  features
        features (rows, f) float64  ->  scaling  ->  layers  ->  softmax  ->  calibration
                                    ->  probabilities (rows, c) float32,  label (rows,)

    The input is ``columns`` where all columns are numbers (or the truth values 0 and 1); else it is ``features``,
    what ``pipeline.encoded`` gives, and so it is for a model that was fitted on a matrix. The metadata holds
    ``classes``, in the order of the probabilities, and ``inputs``, the name of each place of a row, as JSON.
    Before the file is written ONNX's reference implementation predicts random rows with it.

    Parameters
    ----------
    pipeline : Pipeline
    path : path
    """
    if pipeline.structural:
        raise InputError(
            "the model knows nodes by their place in the graph that it was fitted on, so there are no others that an "
            "ONNX file could judge; fit with columns that describe the nodes"
        )
    graph, model = OnnxGraph(), pipeline.model
    columns = None if pipeline.encoder is None else numeric_columns(pipeline.encoder)
    if columns is not None:
        given, names = "columns", [column.name for column in columns]
        X = encoded(graph, graph.input(given, np.float64, len(columns)), columns)
    else:
        given, names = "features", _feature_names(pipeline)
        X = graph.input(given, np.float64, model.n_features_in_)
    H = _scaled(graph, X, model._scaling)
    *first, last = _layers(model)
    for layer in first:
        H = graph.apply("Relu", _linear(graph, H, layer))
    P = _adjusted(graph, graph.apply("Softmax", _linear(graph, H, last), axis=1), pipeline.calibration.unseen)
    graph.output("probabilities", P, np.float32, len(pipeline.classes))
    best = graph.apply("ArgMax", P, axis=1, keepdims=0)
    classes = pipeline.classes.astype(np.int64) if pipeline.classes.dtype.kind in "iu" else pipeline.classes
    graph.output("label", graph.apply("Gather", classes, best, axis=0), classes.dtype, None)
    made = graph.model(
        type(model).__name__, {"classes": json.dumps(pipeline.classes.tolist()), "inputs": json.dumps(names)}
    )
    difference = _difference(made, pipeline, given, columns)
    if difference > _TOLERANCE:
        raise InputError(_cannot(model))
    with whole_file(path) as handle:
        handle.write(made.SerializeToString())
    return Exported(given, names, difference)


def _feature_names(pipeline: Pipeline) -> list[str]:
    if pipeline.encoder is None:
        return [f"feature {place}" for place in range(pipeline.model.n_features_in_)]
    return pipeline.encoder.names_


def _scaled(graph: OnnxGraph, X: str, scaling: FeatureScaling) -> str:
    """Scaled features, (x - offset) · factor or x / ‖x‖₁, in double precision, then in single for the network."""
    if scaling.by_row:
        norms = graph.apply("ReduceSum", graph.apply("Abs", X), np.array([1]), keepdims=1)
        some = graph.apply("Greater", norms, np.float64(0))
        X = graph.apply("Div", X, graph.apply("Where", some, norms, np.float64(1)))
    else:
        X = graph.apply("Mul", graph.apply("Sub", X, scaling.offset), scaling.factor)
    return graph.cast(X, np.float32)


def _linear(graph: OnnxGraph, H: str, layer: Layer) -> str:
    return graph.apply("Add", graph.apply("MatMul", H, layer.W), layer.b)


def _adjusted(graph: OnnxGraph, P: str, adjustment: Adjustment) -> str:
    """p_c^(1/T) w_c, divided by the sum over the classes."""
    if adjustment == Adjustment():
        return P
    P = graph.cast(P, np.float64)
    P = graph.apply("Div", P, graph.apply("ReduceMax", P, axes=[1], keepdims=1))
    P = graph.apply("Pow", P, np.float64(1 / adjustment.temperature))
    if adjustment.weights:
        P = graph.apply("Mul", P, np.array(adjustment.weights))
    P = graph.apply("Div", P, graph.apply("ReduceSum", P, np.array([1]), keepdims=1))
    return graph.cast(P, np.float32)


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


def _difference(made: Any, pipeline: Pipeline, given: str, columns: list[NumericColumn] | None) -> float:
    """Largest difference of the probabilities on random rows."""
    import pyarrow as pa
    from onnx.reference import ReferenceEvaluator

    rows = _random_rows(pipeline.model._scaling, columns)
    found: Any = ReferenceEvaluator(made).run(["probabilities"], {given: rows})
    if columns is None:
        expected = pipeline.judged(rows)
    else:
        expected = pipeline.predict_proba(pa.table({column.name: rows[:, k] for k, column in enumerate(columns)}))
    return float(np.abs(found[0] - expected).max())


def _random_rows(
    scaling: FeatureScaling, columns: list[NumericColumn] | None, n_rows: int = 64
) -> npt.NDArray[np.float64]:
    """Rows that are spread as the input is, some values of columns missing, shape (n_rows, f) or (n_rows, k)."""
    rng = np.random.default_rng(0)
    if columns is None:
        factor = scaling.factor
        spread = 1 / np.where(factor > 0, factor * len(factor), 1.0)
        return np.asarray(scaling.offset + spread * rng.normal(size=(n_rows, len(factor))))
    mean, scale = (np.array([getattr(column, part) for column in columns]) for part in ("mean", "scale"))
    rows = mean + scale * rng.normal(size=(n_rows, len(columns)))
    return np.where(rng.random(rows.shape) < 0.1, np.nan, rows)
