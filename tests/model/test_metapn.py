"""The estimator as a user meets it."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from scipy import sparse

from metapn import Graph, MetaPN
from metapn.propagation.hops import hops, one_hot, personalised_pagerank, transition

QUICK = {"max_epochs": 12, "random_state": 0, "hidden": 16}
ARRAYS = ("label_distributions_", "pseudo_labels_", "hop_weights_", "transduction_", "reached_")


def fitted(small, y=None, *, graph="graph", X=None, validation=None, **changes):
    graph = small.graph if isinstance(graph, str) else graph
    model = MetaPN(**{**QUICK, **changes})
    return model.fit(small.X if X is None else X, small.y if y is None else y, graph=graph, validation=validation)


def bits(model, *arguments):
    """All that a fit leaves behind, and its predictions, as bytes."""
    made = [getattr(model, name) for name in ARRAYS] + [f(*arguments) for f in (model.predict_proba, model.embed)]
    return [array.tobytes() for array in made if array.dtype != object]


def assert_sound(model, n, c=3):
    for array in (model.label_distributions_, model.pseudo_labels_, model.hop_weights_):
        assert np.isfinite(array).all()
    assert model.label_distributions_.shape == (n, c)
    assert model.label_distributions_.sum(axis=1) == pytest.approx(np.ones(n), abs=1e-5)
    assert np.array_equal(model.transduction_, model.classes_[model.label_distributions_.argmax(axis=1)])
    assert np.isfinite(model.history_.loss).all()


def test_it_learns(small):
    model = fitted(small, max_epochs=60)
    assert (model.transduction_ == small.truth).mean() > 0.8
    assert (model.predict(small.X) == small.truth).mean() > 0.6
    assert model.transduction_[small.y >= 0].tolist() == small.y[small.y >= 0].tolist()
    assert_sound(model, 120)


def test_the_same_seed_gives_the_same_bits_and_another_others(small):
    one, same, other = (fitted(small, random_state=seed, dropout=0.2) for seed in (3, 3, 4))
    assert bits(one, small.X, small.graph) == bits(same, small.X, small.graph)
    assert one.history_.loss == same.history_.loss
    assert bits(one, small.X)[0] != bits(other, small.X)[0]
    assert one.history_.loss != other.history_.loss


def test_the_global_generators_are_neither_read_nor_moved(small):
    torch.manual_seed(1)
    np.random.seed(1)
    first = bits(fitted(small, dropout=0.2), small.X)
    drawn = torch.rand(1), np.random.rand()
    torch.manual_seed(1)
    np.random.seed(1)
    assert drawn == (torch.rand(1), np.random.rand())
    assert bits(fitted(small, dropout=0.2), small.X) == first


def test_a_random_state_moves_on_and_none_is_another_every_time(small):
    state = np.random.RandomState(0)
    one, two = fitted(small, random_state=state), fitted(small, random_state=state)
    assert bits(one, small.X) != bits(two, small.X)
    assert bits(fitted(small, random_state=np.random.RandomState(0)), small.X) == bits(one, small.X)
    assert bits(fitted(small, random_state=None), small.X) != bits(fitted(small, random_state=None), small.X)


SCRIPT = """
import hashlib, numpy as np
from metapn import MetaPN
from metapn.data.synthetic import contextual_sbm
g = contextual_sbm(120, n_classes=3, n_features=8, seed=4)
y = np.where(np.arange(120) < 20, g.labels, -1)
m = MetaPN(max_epochs=12, random_state=7, dropout=0.1).fit(g.features, y, graph=g)
print(hashlib.sha256(m.label_distributions_.tobytes() + m.hop_weights_.tobytes()).hexdigest())
"""


def test_two_fresh_processes_give_the_same_bits():
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    places = [{**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    runs = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for env in places]
    one, two = (run.communicate()[0] for run in runs)
    assert [run.returncode for run in runs] == [0, 0]
    assert len(one.strip()) == 64
    assert one == two


NAMES = np.array(["ant", "bee", "cat"], dtype=object)


def hidden(values, y, blank):
    return [value if known else blank for value, known in zip(values, y >= 0, strict=True)]


LABELS = {
    "list with -1": lambda y: y.tolist(),
    "list with None": lambda y: hidden(y.tolist(), y, None),
    "float with NaN": lambda y: np.where(y < 0, np.nan, y),
    "small integers": lambda y: y.astype(np.int8),
    "strings": lambda y: hidden(NAMES[y], y, None),
    "objects": lambda y: np.array(hidden(NAMES[y], y, float("nan")), dtype=object),
    "objects with -1": lambda y: np.array(hidden(NAMES[y], y, -1), dtype=object),
}


@pytest.mark.parametrize("form", LABELS)
def test_every_form_of_labels_is_the_same_problem(small, form):
    model = fitted(small, LABELS[form](small.y))
    expected = fitted(small)
    assert model.label_distributions_.tobytes() == expected.label_distributions_.tobytes()
    named = any(isinstance(value, str) for value in LABELS[form](small.y))
    names = NAMES if named else np.arange(3)
    assert model.classes_.tolist() == names.tolist()
    assert model.transduction_.tolist() == names[expected.transduction_].tolist()
    assert model.predict(small.X).tolist() == names[expected.predict(small.X)].tolist()


def test_booleans_and_pandas_are_labels_too(small):
    two = np.where(small.y > 1, -1, small.y)
    expected = fitted(small, two).label_distributions_.tobytes()
    model = fitted(small, hidden((two == 1).tolist(), two, None))
    assert model.classes_.tolist() == [False, True]
    assert model.transduction_.dtype == bool
    assert model.label_distributions_.tobytes() == expected
    pandas = pytest.importorskip("pandas")
    for y in (
        pandas.Series(two).where(two >= 0).astype("Int64"),
        pandas.Series(hidden(NAMES[two], two, None), dtype="string", index=np.arange(120)[::-1]),
    ):
        assert fitted(small, y, X=pandas.DataFrame(small.X)).label_distributions_.tobytes() == expected


GRAPHS = {
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "coo_array": sparse.coo_array,
    "csc_matrix": sparse.csc_matrix,
    "integers": lambda A: A.astype(np.int64),
    "dense": lambda A: A.toarray(),
    "with loops": lambda A: sparse.csr_array(A + sparse.eye_array(120)),
    "edge list": lambda A: np.column_stack(sparse.triu(A).nonzero()),
    "both directions": lambda A: np.column_stack(A.nonzero()),
    "list of pairs": lambda A: list(zip(*(ends.tolist() for ends in sparse.triu(A).nonzero()), strict=True)),
    "weights column": lambda A: np.column_stack([*sparse.triu(A).nonzero(), sparse.triu(A).tocoo().data]),
}


@pytest.mark.parametrize("form", GRAPHS)
def test_every_form_of_a_graph_is_the_same_problem(small, form):
    model = fitted(small, graph=GRAPHS[form](small.A))
    assert bits(model, small.X) == bits(fitted(small), small.X)
    assert model.report_.n_edges == small.A.nnz // 2


def test_weights_count(small):
    heavy = small.A.copy()
    heavy.data[:] = 5
    assert bits(fitted(small, graph=heavy), small.X) != bits(fitted(small), small.X)


def test_without_a_graph_nearest_neighbours_are_joined(small):
    model = fitted(small, graph=None, n_neighbors=4)
    assert 240 <= model.report_.n_edges <= 480
    assert (model.transduction_ == small.truth).mean() > 0.5
    assert_sound(model, 120)


def test_labels_and_features_of_the_graph_are_never_looked_at(small):
    plain = bits(fitted(small), small.X, small.graph)
    random = np.random.default_rng(0)
    for labels in (small.truth, random.integers(0, 3, 120), np.full(120, -1)):
        poisoned = Graph(
            small.A, labels=labels, features=random.random((120, 2)), official_split={"train": np.arange(9)}
        )
        model = fitted(small, graph=poisoned)
        assert bits(model, small.X, poisoned) == plain


def test_validation_labels_stop_the_training_and_do_nothing_else(small):
    nodes = np.arange(60, 100)
    true, wrong = (
        fitted(small, validation=(nodes, labels[nodes])) for labels in (small.truth, (small.truth + 1) % 3)
    )
    assert true.report_.stopping == "validation nodes"
    assert true.history_.loss == wrong.history_.loss
    assert len(true.history_.validation_accuracy) == 12
    best = np.argmax(true.history_.validation_accuracy)
    assert true.history_.validation_accuracy[true.history_.best_epoch - 1] == true.history_.validation_accuracy[best]
    found = true.transduction_[nodes] == small.truth[nodes]
    assert found.mean() == pytest.approx(max(true.history_.validation_accuracy))
    assert true.report_.best_epoch == true.history_.best_epoch


def test_validation_may_be_lists_and_names(small):
    names = hidden(NAMES[small.y], small.y, None)
    model = fitted(small, names, validation=[[70, 80], ["ant", "cat"]])
    assert model.report_.stopping == "validation nodes"


def test_the_three_final_predictions(small):
    models = {final: fitted(small, final=final) for final in ("propagated", "transformer", "pseudo")}
    losses = [model.history_.loss for model in models.values()]
    X, T = small.X, transition(small.graph)
    alone = models["transformer"]
    assert alone.label_distributions_ == pytest.approx(alone.predict_proba(X), abs=1e-6)
    assert np.array_equal(alone.predict_proba(X), alone.predict_proba(X, small.graph))
    propagated = models["propagated"]
    expected = personalised_pagerank(T, torch.from_numpy(propagated.predict_proba(X)), 0.1, 10).numpy()
    assert propagated.label_distributions_ == pytest.approx(expected / expected.sum(axis=1, keepdims=True), abs=1e-5)
    assert np.array_equal(propagated.predict_proba(X, small.graph), propagated.label_distributions_)
    pseudo = models["pseudo"]
    mass = pseudo.pseudo_labels_.sum(axis=1, keepdims=True)
    assert (mass > 0).all()
    assert pseudo.label_distributions_ == pytest.approx(pseudo.pseudo_labels_ / mass, abs=1e-5)
    assert losses[0] == losses[1] == losses[2]
    for final, model in models.items():
        assert model.report_.final == final
        assert_sound(model, 120)


@pytest.mark.parametrize("kind", ["anchored", "paper", "static"])
def test_hop_weights_and_pseudo_labels_belong_together(small, kind):
    model = fitted(small, propagator=kind, n_hops=4, balance=False)
    gold = torch.from_numpy(np.flatnonzero(small.y >= 0))
    Y0 = one_hot(gold, torch.from_numpy(small.y)[gold], 120, 3)
    stack = torch.stack(list(hops(transition(small.graph), Y0, 4)), dim=1).numpy()
    assert model.hop_weights_.shape == (120, 5)
    assert model.pseudo_labels_ == pytest.approx(np.einsum("nk,nkc->nc", model.hop_weights_, stack), abs=1e-5)
    if kind == "static":
        assert model.pseudo_labels_ == pytest.approx(
            personalised_pagerank(transition(small.graph), Y0, 0.1, 4).numpy(), abs=1e-6
        )


@pytest.fixture
def torn(small):
    """The small problem with nodes 110..119 cut off: a ring of five without labels, five nodes without edges."""
    A = small.A.tolil()
    A[110:, :] = A[:, 110:] = 0
    for i in range(5):
        j = 110 + (i + 1) % 5
        A[110 + i, j] = A[j, 110 + i] = 1
    y = small.y.copy()
    y[110:] = -1
    return sparse.csr_array(A), y


@pytest.mark.parametrize("final", ["propagated", "transformer", "pseudo"])
@pytest.mark.parametrize("kind", ["anchored", "paper", "static"])
def test_nodes_that_no_label_can_reach_are_flagged_and_labelled_by_their_features(small, torn, final, kind):
    A, y = torn
    model = fitted(small, y, graph=A, final=final, propagator=kind)
    assert_sound(model, 120)
    assert model.reached_.dtype == bool
    expected = model.reached_ == np.isin(Graph(A).components(), Graph(A).components()[y >= 0])
    assert expected.all()
    assert not model.reached_[110:].any()
    report = model.report_
    assert report.n_unreached == (~model.reached_).sum() >= 10
    assert report.n_isolated == (np.diff(A.indptr) == 0).sum() >= 5
    assert f"{report.n_unreached} nodes are in a component without any label ({report.n_isolated} nodes" in str(
        report
    )
    assert (model.pseudo_labels_[110:] == 0).all()
    if final != "propagated":
        assert model.label_distributions_[115:] == pytest.approx(model.predict_proba(small.X[115:]), abs=1e-6)


def test_a_gold_node_without_edges_is_reached_by_itself(small, torn):
    A, y = torn
    y[119] = 0
    model = fitted(small, y, graph=A, final="pseudo")
    assert model.reached_[119]
    assert not model.reached_[115:119].any()
    assert model.transduction_[119] == 0
    assert_sound(model, 120)


def test_a_class_known_by_an_isolated_node_alone(small, torn):
    A, y = torn
    y[y == 2] = -1
    y[118] = 2
    for balance in (True, False):
        model = fitted(small, y, graph=A, balance=balance)
        assert model.classes_.tolist() == [0, 1, 2]
        assert_sound(model, 120)


def test_rows_without_features_give_no_nan(small):
    X = small.X.copy()
    X[::7] = 0
    for form in (np.asarray, sparse.csr_array):
        for scaling in ("rows", "columns", "none"):
            assert_sound(fitted(small, X=form(X), scaling=scaling), 120)


def test_features_that_are_all_alike_give_no_nan(small):
    assert_sound(fitted(small, X=np.ones((120, 3))), 120)


def test_sparse_and_dense_features_give_nearly_the_same(small):
    counts = np.random.default_rng(0).poisson(0.4, (120, 30)).astype(float)
    counts[:, :3] += 2 * np.eye(3)[small.truth]
    dense, thin = (fitted(small, X=form(counts), scaling="rows") for form in (np.asarray, sparse.csr_matrix))
    assert dense.label_distributions_ == pytest.approx(thin.label_distributions_, abs=1e-3)
    assert dense.history_.loss == pytest.approx(thin.history_.loss, rel=1e-4)
    assert thin.predict_proba(sparse.csc_array(counts)) == pytest.approx(thin.predict_proba(counts), abs=1e-5)


def test_unseen_nodes_with_and_without_a_graph(small):
    model = fitted(small)
    random = np.random.default_rng(0)
    X = small.X[:7] + 0.1 * random.standard_normal((7, 8)).astype(np.float32)
    B = [(0, 1), (1, 2), (3, 4)]
    alone, joined = model.predict_proba(X), model.predict_proba(X, graph=B)
    for p in (alone, joined):
        assert p.shape == (7, 3)
        assert p.dtype == np.float32
        assert p.sum(axis=1) == pytest.approx(np.ones(7), abs=1e-5)
    assert joined[5:] == pytest.approx(alone[5:], abs=1e-6)  # without edges the features alone decide
    assert not np.allclose(joined[:5], alone[:5])
    T = transition(Graph.from_edges(B, 7))
    expected = personalised_pagerank(T, torch.from_numpy(alone), 0.1, 10).numpy()
    assert joined == pytest.approx(expected / expected.sum(axis=1, keepdims=True), abs=1e-5)
    assert np.array_equal(model.predict(X, graph=B), model.classes_[joined.argmax(axis=1)])
    assert model.predict(X[:1]).shape == (1,)
    assert np.array_equal(model.predict_proba(X, graph=np.zeros((0, 2))), model.predict_proba(X, graph=[]))
    assert model.embed(X).shape == (7, 16)
    assert np.isfinite(model.embed(X)).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"meta_gradient": "finite_difference"},
        {"dropout": 0.5},
        {"balance": False},
        {"batch_size": 1},
        {"batch_size": 37},
        {"n_hops": 1},
        {"hidden": 1},
        {"alpha": 0},
        {"alpha": 1},
        {"learning_rate": 0},
        {"meta_learning_rate": 0},
        {"l2": 0},
        {"max_epochs": 1},
        {"propagator": "paper", "meta_learning_rate": 0.1},
    ],
    ids=str,
)
def test_every_setting_runs(small, changes):
    model = fitted(small, **{"max_epochs": 3, **changes})
    assert_sound(model, 120)
    assert model.n_iter_ == len(model.history_.loss) == model.report_.epochs


def test_settings_may_be_numpys(small):
    numbers = {"n_hops": 3, "hidden": 5, "batch_size": 64, "max_epochs": 3, "fine_tune_epochs": 1, "random_state": 1}
    reals = {"alpha": 0.25, "learning_rate": 0.125, "dropout": 0.5, "l2": 0.5}
    plain = fitted(small, **numbers, **reals, balance=True)
    dressed = fitted(
        small,
        **{name: np.int64(value) for name, value in numbers.items()},
        **{name: np.float32(value) for name, value in reals.items()},
        balance=np.True_,
    )
    assert bits(plain, small.X) == bits(dressed, small.X)


def test_fine_tuning_is_recorded_and_forgotten_by_the_next_fit(small):
    without, model = fitted(small), fitted(small, fine_tune_epochs=5)
    assert len(model.fine_tuning_.loss) == 5
    assert model.history_.loss == without.history_.loss
    assert bits(model, small.X) != bits(without, small.X)
    model.set_params(fine_tune_epochs=0).fit(small.X, small.y, graph=small.graph)
    assert model.fine_tuning_ is None
    assert bits(model, small.X) == bits(without, small.X)


def test_each_epoch_is_announced(small):
    calls = []
    model = MetaPN(**QUICK)
    model.fit(small.X, small.y, graph=small.graph, on_epoch=lambda done, most: calls.append((done, most)))
    assert calls == [(epoch, 12) for epoch in range(1, 13)]


def test_what_the_caller_gave_is_left_alone(small):
    X, y, A = small.X.copy(), small.y.copy(), small.A.copy()
    fitted(small, y, X=X, graph=A, dropout=0.3)
    assert np.array_equal(X, small.X)
    assert np.array_equal(y, small.y)
    assert np.array_equal(A.data, small.A.data)


def test_the_report_tells_in_numbers_and_words(small):
    report = fitted(small, max_epochs=2).report_
    told = report.as_dict()
    assert told.pop("seconds") > 0
    assert told == {
        "method": "MetaPN",
        "final": "propagated",
        "n_nodes": 120,
        "n_edges": small.A.nnz // 2,
        "n_labelled": 9,
        "n_classes": 3,
        "n_isolated": report.n_isolated,
        "n_unreached": report.n_unreached,
        "stopping": "no labels needed",
        "epochs": 2,
        "best_epoch": 2,
        "stopped_because": "it reached max_epochs",
    }
    assert "MetaPN on 120 nodes" in str(report)
    assert "9 labels of 3 classes" in str(report)
