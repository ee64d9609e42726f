"""An exported model predicts under onnxruntime what the model predicts, to 1e-5."""

import json

import numpy as np
import onnx
import onnxruntime
import pyarrow as pa
import pytest
from scipy import sparse

from metapn import InputError, MetaPN, method, methods
from metapn.data.columns import ColumnEncoder
from metapn.data.synthetic import contextual_sbm
from metapn.deploy.onnx import export_onnx
from metapn.deploy.pipeline import Pipeline
from metapn.trust.calibration import Adjustment, Calibration

GRAPH = contextual_sbm(150, n_classes=4, n_features=12, separation=1.0, seed=2)


def fitted(names=("a", "b", "c", "d"), X=GRAPH.features, kind=MetaPN, seed=0, **settings):
    y = np.full(150, None, dtype=object)
    y[:60] = np.array(names, dtype=object)[GRAPH.labels[:60]]
    return kind(max_epochs=5, random_state=seed, **settings).fit(X, y, graph=GRAPH)


def run(path, X, given="features"):
    outputs = ["probabilities", "label"]
    session = onnxruntime.InferenceSession(path)
    return dict(zip(outputs, session.run(outputs, {given: X}), strict=True))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scaling", ["rows", "columns", "none"])
def test_random_models_predict_the_same(tmp_path, seed, scaling):
    rng = np.random.default_rng(seed)
    X = rng.normal(rng.normal(size=12) * 100, rng.lognormal(sigma=2, size=12), size=(150, 12))
    X[:, 3] = 7.0  # a column that says nothing
    model = fitted(X=X, seed=seed, scaling=scaling, hidden=int(rng.integers(1, 90)))
    # Weights far from where training leaves them: probabilities from 0 to 1.
    for weight in model._network_.transformer.parameters():
        weight.data *= 3
    exported = export_onnx(Pipeline(model), tmp_path / "model.onnx")
    assert exported.input == "features" and len(exported.names) == 12 and exported.difference <= 1e-5
    for n_rows in (1, 2, 1000):
        new = X[rng.integers(150, size=n_rows)] * rng.normal(1, 0.1, size=(n_rows, 12))
        found = run(tmp_path / "model.onnx", new)
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(new), atol=1e-5, rtol=0)
        assert found["label"].tolist() == model.predict(new).tolist()


def test_a_model_of_sparse_features_takes_dense_rows(tmp_path):
    X = sparse.random_array((150, 300), density=0.05, rng=np.random.default_rng(0), format="csr")
    model = fitted(X=X)
    assert model._scaling.by_row
    export_onnx(Pipeline(model), tmp_path / "model.onnx")
    rows = np.vstack((X.toarray()[:20], np.zeros((1, 300))))  # the last has no norm to be divided by
    found = run(tmp_path / "model.onnx", rows)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(rows), atol=1e-5, rtol=0)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(sparse.csr_array(rows)), atol=1e-5, rtol=0)


@pytest.mark.parametrize("names", [("red", "grün", "blue", "x y"), (10, 20, 30, 40), (False, True, False, True)])
def test_classes_are_in_the_metadata_and_labels_are_of_their_type(tmp_path, names):
    model = fitted(names)
    export_onnx(Pipeline(model), tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    assert json.loads(session.get_modelmeta().custom_metadata_map["classes"]) == model.classes_.tolist()
    labels = session.run(["label"], {"features": GRAPH.features.astype(float)})[0]
    assert labels.tolist() == model.predict(GRAPH.features).tolist()


@pytest.mark.parametrize("name", methods())
def test_every_method_is_exported_as_it_predicts_or_refused(tmp_path, name):
    """Without a graph most are an MLP or one layer; what is more is refused, and nothing is written."""
    settings = {} if name == "lp" else {"max_epochs": 5}
    y = np.where(np.arange(150) < 60, GRAPH.labels, -1)
    model = method(name)(random_state=0, **settings).fit(GRAPH.features, y, graph=GRAPH)
    path = tmp_path / "model.onnx"
    try:
        export_onnx(Pipeline(model), path)
    except InputError as error:
        assert name in ("lp", "dagnn", "gpr-gnn") and type(model).__name__ in str(error)
        assert list(tmp_path.iterdir()) == []
        return
    X = GRAPH.features.astype(float)
    np.testing.assert_allclose(run(path, X)["probabilities"], model.predict_proba(X), atol=1e-5, rtol=0)


def test_the_file_declares_any_number_of_rows_and_no_opset_of_anyone_else(tmp_path):
    export_onnx(Pipeline(fitted()), tmp_path / "model.onnx")
    model = onnx.load(tmp_path / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert [each.domain for each in model.opset_import] == [""]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "rows"


def columns(**more):
    """A table of numbers, some of them missing and one only in what is to be predicted, and truth values."""
    rng = np.random.default_rng(5)
    large = rng.normal(1.7e9, 1e6, 150)
    large[::7] = np.nan
    table = {"time": large, "small": rng.normal(0, 1e-3, 150), "count": rng.integers(9, size=150)}
    table |= {"flag": rng.random(150) < 0.5, "same": np.ones(150), **more}
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in table.items()})


@pytest.mark.parametrize("calibration", [Adjustment(), Adjustment(0.3), Adjustment(2.5, (0.1, 0.2, 0.3, 0.4))])
def test_columns_of_numbers_are_encoded_and_probabilities_calibrated_inside_the_graph(tmp_path, calibration):
    table = columns()
    encoder = ColumnEncoder().fit(table)
    pipeline = Pipeline(fitted(X=encoder.transform(table)), encoder, Calibration(unseen=calibration))
    exported = export_onnx(pipeline, tmp_path / "model.onnx")
    assert exported.input == "columns" and exported.names == ["time", "small", "count", "flag"]
    raw = np.column_stack([table[name].to_numpy(zero_copy_only=False).astype(float) for name in exported.names])
    raw[3, 1] = np.nan  # never missing in training
    new = pa.table({name: raw[:, k] for k, name in enumerate(exported.names)})
    found = run(tmp_path / "model.onnx", raw, "columns")
    np.testing.assert_allclose(found["probabilities"], pipeline.predict_proba(new), atol=1e-5, rtol=0)
    assert found["label"].tolist() == pipeline.predict(new).tolist()


def test_where_a_column_is_text_the_input_is_what_the_encoder_gives(tmp_path):
    table = columns(town=np.array(["Ulm", "Jena", "Bonn"])[np.arange(150) % 3])
    encoder = ColumnEncoder().fit(table)
    pipeline = Pipeline(fitted(X=encoder.transform(table)), encoder)
    exported = export_onnx(pipeline, tmp_path / "model.onnx")
    assert exported.input == "features" and exported.names == encoder.names_
    found = run(tmp_path / "model.onnx", pipeline.encoded(table).astype(float))
    np.testing.assert_allclose(found["probabilities"], pipeline.predict_proba(table), atol=1e-5, rtol=0)
