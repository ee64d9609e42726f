"""An exported model predicts under onnxruntime what the model predicts, to 1e-5."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
from scipy import sparse

from metapn import InputError, MetaPN, method, methods
from metapn.data.synthetic import contextual_sbm
from metapn.deploy.onnx import export_onnx

GRAPH = contextual_sbm(150, n_classes=4, n_features=12, separation=1.0, seed=2)


def fitted(names=("a", "b", "c", "d"), X=GRAPH.features, kind=MetaPN, seed=0, **settings):
    y = np.full(150, None, dtype=object)
    y[:60] = np.array(names, dtype=object)[GRAPH.labels[:60]]
    return kind(max_epochs=5, random_state=seed, **settings).fit(X, y, graph=GRAPH)


def run(path, X):
    session = onnxruntime.InferenceSession(path)
    return dict(
        zip(("probabilities", "label"), session.run(["probabilities", "label"], {"features": X}), strict=True)
    )


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
    assert export_onnx(model, tmp_path / "model.onnx") <= 1e-5
    for n_rows in (1, 2, 1000):
        new = X[rng.integers(150, size=n_rows)] * rng.normal(1, 0.1, size=(n_rows, 12))
        found = run(tmp_path / "model.onnx", new)
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(new), atol=1e-5, rtol=0)
        assert found["label"].tolist() == model.predict(new).tolist()


def test_a_model_of_sparse_features_takes_dense_rows(tmp_path):
    X = sparse.random_array((150, 300), density=0.05, rng=np.random.default_rng(0), format="csr")
    model = fitted(X=X)
    assert model._scaling.by_row
    export_onnx(model, tmp_path / "model.onnx")
    rows = np.vstack((X.toarray()[:20], np.zeros((1, 300))))  # the last has no norm to be divided by
    found = run(tmp_path / "model.onnx", rows)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(rows), atol=1e-5, rtol=0)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(sparse.csr_array(rows)), atol=1e-5, rtol=0)


@pytest.mark.parametrize("names", [("red", "grün", "blue", "x y"), (10, 20, 30, 40), (False, True, False, True)])
def test_classes_are_in_the_metadata_and_labels_are_of_their_type(tmp_path, names):
    model = fitted(names)
    export_onnx(model, tmp_path / "model.onnx")
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
        export_onnx(model, path)
    except InputError as error:
        assert name in ("lp", "dagnn", "gpr-gnn") and type(model).__name__ in str(error)
        assert list(tmp_path.iterdir()) == []
        return
    X = GRAPH.features.astype(float)
    np.testing.assert_allclose(run(path, X)["probabilities"], model.predict_proba(X), atol=1e-5, rtol=0)


def test_the_file_declares_any_number_of_rows_and_no_opset_of_anyone_else(tmp_path):
    export_onnx(fitted(), tmp_path / "model.onnx")
    model = onnx.load(tmp_path / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert [each.domain for each in model.opset_import] == [""]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "rows"
