"""What every method keeps, whoever wrote it: a new one is in all of these tests by being in the list."""

import dataclasses

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone

from metapn.baselines import method, methods
from metapn.data.synthetic import contextual_sbm
from metapn.errors import InputError
from metapn.graph import Graph
from metapn.model.storage import load, save

GRAPH = contextual_sbm(n_nodes=160, n_classes=3, n_features=12, homophily=0.9, separation=3.0, seed=3)
X, LABELS = GRAPH.features, GRAPH.labels
LABELLED = np.concatenate([np.flatnonzero(c == LABELS)[:4] for c in range(3)])
STOPPING = np.concatenate([np.flatnonzero(c == LABELS)[4:14] for c in range(3)])

# A setting that makes another network of a method.
VARIANTS = {"gcn, 1 layer": {"n_layers": 1}, "gcn, 4 layers": {"n_layers": 4}}

every_method = pytest.mark.parametrize("name", [*methods(), *VARIANTS])


def build(name, epochs=20):
    """The method with few epochs, where it has epochs."""
    model = method(name.partition(",")[0])(random_state=0, **VARIANTS.get(name, {}))
    return model.set_params(max_epochs=epochs) if "max_epochs" in model.get_params() else model


def few(labels=LABELS, nodes=LABELLED):
    """The labels with all but a few hidden."""
    y = np.full(len(labels), -1)
    y[nodes] = labels[nodes]
    return y


def check_distribution(P, shape):
    assert P.shape == shape
    assert np.isfinite(P).all() and (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-5)


@every_method
@pytest.mark.parametrize(
    ("features", "graph"),
    [
        (X, GRAPH),
        (sparse.csr_array(X), GRAPH.adjacency),
        (sparse.csc_matrix(X), GRAPH.adjacency.toarray()),
        (X.astype(np.float64).tolist(), np.argwhere(GRAPH.adjacency.toarray())),
        (X, None),
    ],
    ids=["array", "sparse", "matrix", "lists", "no graph"],
)
def test_takes_every_form_of_input(name, features, graph):
    model = build(name, epochs=3).fit(features, few(), graph=graph)
    check_distribution(model.label_distributions_, (160, 3))
    assert set(model.transduction_) <= {0, 1, 2}
    check_distribution(model.predict_proba(features), (160, 3))
    if graph is not None:
        check_distribution(model.predict_proba(features, graph), (160, 3))
    assert np.isfinite(model.embed(features)).all()


@every_method
@pytest.mark.parametrize("validated", [False, True])
def test_is_deterministic(name, validated):
    validation = (STOPPING, LABELS[STOPPING]) if validated else None
    first, again = (build(name).fit(X, few(), graph=GRAPH, validation=validation) for _ in range(2))
    np.testing.assert_array_equal(first.label_distributions_, again.label_distributions_)
    np.testing.assert_array_equal(first.predict_proba(X, GRAPH), again.predict_proba(X, GRAPH))
    assert first.history_.loss == again.history_.loss


@every_method
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("validated", [False, True])
def test_learns_far_beyond_chance(name, dense, validated):
    validation = (STOPPING, LABELS[STOPPING]) if validated else None
    features = X if dense else sparse.csr_array(np.maximum(np.hstack([X, -X]), 0))
    model = build(name, epochs=150).fit(features, few(), graph=GRAPH, validation=validation)
    hidden = np.setdiff1d(np.arange(160), np.union1d(LABELLED, STOPPING))
    assert (model.transduction_ == LABELS)[hidden].mean() > 0.8


@every_method
def test_predicts_nodes_without_a_graph(name):
    if name == "lp":
        pytest.skip("knows labels alone, and nodes without a graph are near none")
    model = build(name, epochs=150).fit(X, few(), graph=GRAPH)
    assert (model.predict(X) == LABELS).mean() > 0.6


@every_method
def test_never_sees_a_test_label(name):
    shown = np.union1d(LABELLED, STOPPING)
    poisoned = (LABELS + 1) % 3
    poisoned[shown] = LABELS[shown]
    results = []
    for labels in (LABELS, poisoned):
        graph = dataclasses.replace(GRAPH, labels=labels)
        model = build(name).fit(X, few(labels), graph=graph, validation=(STOPPING, labels[STOPPING]))
        results.append(model)
    np.testing.assert_array_equal(results[0].label_distributions_, results[1].label_distributions_)
    np.testing.assert_array_equal(results[0].predict_proba(X), results[1].predict_proba(X))


@every_method
def test_survives_isolated_nodes_and_an_empty_row(name):
    adjacency = GRAPH.adjacency.tolil()
    lonely = [LABELLED[0], 80, 159]
    adjacency[lonely, :] = 0
    adjacency[:, lonely] = 0
    features = X.copy()
    features[159] = 0
    graph = Graph(sparse.csr_array(adjacency))
    model = build(name).fit(sparse.csr_array(features), few(), graph=graph)
    check_distribution(model.label_distributions_, (160, 3))
    assert not model.reached_[80]


@every_method
def test_survives_a_class_with_a_single_label(name):
    y = few()
    y[LABELLED[1:4]] = -1
    model = build(name).fit(X, y, graph=GRAPH)
    check_distribution(model.label_distributions_, (160, 3))
    assert (y == 0).sum() == 1


@every_method
def test_survives_a_graph_of_five_nodes(name):
    graph = Graph.from_edges([(0, 1), (1, 2), (3, 4)], n_nodes=5)
    model = build(name).fit(np.eye(5), ["a", None, None, None, "b"], graph=graph, validation=([1], ["a"]))
    check_distribution(model.label_distributions_, (5, 2))
    assert model.predict(np.eye(5)[:1]).dtype == model.classes_.dtype


@every_method
def test_tells_the_progress(name):
    told = []
    build(name, epochs=7).fit(
        X,
        few(),
        graph=GRAPH,
        validation=(STOPPING, LABELS[STOPPING]),
        on_epoch=lambda done, most: told.append((done, most)),
    )
    assert told == [(i + 1, len(told)) for i in range(len(told))]


@every_method
def test_is_saved_and_loaded(name, tmp_path):
    model = build(name).fit(X, few(), graph=GRAPH, validation=(STOPPING, LABELS[STOPPING]))
    save(model, tmp_path)
    loaded = load(tmp_path)
    for graph in (None, GRAPH):
        np.testing.assert_array_equal(loaded.predict_proba(X, graph), model.predict_proba(X, graph))


@every_method
def test_is_an_estimator(name):
    model = build(name)
    assert clone(model).get_params() == model.get_params()
    assert {"scaling", "n_neighbors", "device", "random_state"} <= set(model.get_params())
    for setting, value in model.get_params().items():
        if isinstance(value, float | int) and not isinstance(value, bool) and setting != "random_state":
            with pytest.raises(InputError, match=setting):
                clone(model).set_params(**{setting: -1}).fit(X, few(), graph=GRAPH)


@every_method
def test_weights_are_finite_and_the_module_is_in_evaluation_mode(name):
    network = build(name).fit(X, few(), graph=GRAPH)._network_
    assert not network.training
    assert all(torch.isfinite(value.float()).all() for value in network.state_dict().values())
