"""Whatever is wrong is told in one sentence that names it and says what to do."""

import re
from dataclasses import fields

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.exceptions import NotFittedError

from metapn import Graph, InputError, MetaPN

N, F = 120, 8


def replaced(array, value, *places):
    array = array.astype(type(value) if isinstance(value, str) else np.result_type(array, type(value)))
    for place in places:
        array[place] = value
    return array


def matrix(small, *changes):
    """The adjacency matrix with some entries changed, for one direction only."""
    A = small.A.tolil()
    for i, j, value in changes:
        A[i, j] = value
    return sparse.csr_array(A)


def fit(**changes):
    """A fit of the small problem with some arguments replaced; a function gets the problem."""

    def run(small):
        given = {"X": small.X, "y": small.y, "graph": small.graph}
        given |= {name: value(small) if callable(value) else value for name, value in changes.items()}
        MetaPN(max_epochs=2, random_state=0).fit(given.pop("X"), given.pop("y"), **given)

    return run


def predict(X=lambda s: s.X, graph=None, method="predict"):
    def run(small):
        model = MetaPN(max_epochs=2, random_state=0).fit(small.X, small.y, graph=small.graph)
        getattr(model, method)(X(small), graph=graph)

    return run


FEATURES = {
    "NaN": (fit(X=lambda s: replaced(s.X, np.nan, (3, 2))), r"X contains NaN in row 3, column 2; fill or drop"),
    "infinity": (fit(X=lambda s: replaced(s.X, -np.inf, (9, 0))), r"X contains infinity .* in row 9, column 0; fill"),
    "beyond float32": (
        fit(X=lambda s: replaced(s.X.astype(float), 1e39, (5, 5))),
        r"beyond 3\.4e38 in row 5, column 5",
    ),
    "NaN in sparse": (
        fit(X=lambda s: sparse.csr_array(replaced(s.X, np.nan, (3, 2)))),
        r"NaN in row 3, column 2; fill",
    ),
    "infinity in sparse": (
        fit(X=lambda s: sparse.coo_array(replaced(s.X, np.inf, (9, 7)))),
        r"infinity .* row 9, col",
    ),
    "one dimension": (
        fit(X=lambda s: s.X[:, 0]),
        r"Expected 2D array, got 1D array instead: Reshape .*; give numbers",
    ),
    "three dimensions": (fit(X=lambda s: s.X[:, :, None]), r"array with dim 3, while dim <= 2 .*; give numbers"),
    "no columns": (
        fit(X=lambda s: s.X[:, :0]),
        r"0 feature\(s\) .* minimum of 1 is required by MetaPN; give numbers",
    ),
    "words": (fit(X=lambda s: s.X.astype(str) + "m"), r"could not convert string to float: .*m.*; give numbers"),
    "complex": (fit(X=lambda s: s.X + 1j), r"Complex data not supported; give numbers"),
    "ragged": (
        fit(X=lambda s: [[1, 2]] * (N - 1) + [[1]]),
        r"inhomogeneous shape .*; give numbers, a row for each node",
    ),
    "fewer rows": (fit(X=lambda s: s.X[:-1]), r"y has 120 entries but X has 119 rows; give one label for each row"),
    "one row": (fit(X=lambda s: s.X[:1], y=[0]), r"1 sample\(s\) .* a minimum of 2 is required by MetaPN; give"),
}

LABELS = {
    "fewer": (
        fit(y=lambda s: s.y[1:]),
        r"y has 119 entries but X has 120 rows; give one label for each row, -1 where",
    ),
    "none given": (fit(y=None), r"requires y to be passed, but the target y is None; give -1 for unlabelled"),
    "all -1": (fit(y=np.full(N, -1)), r"y holds no label \(all of it is -1, None or NaN\); label at least one"),
    "all None": (fit(y=[None] * N), r"y holds no label .*; label at least one node of each of two classes"),
    "all NaN": (fit(y=np.full(N, np.nan)), r"y holds no label .*; label at least one node of each of two classes"),
    "one class": (
        fit(y=np.zeros(N, int)),
        r"y names only one class \(0\), so .*; label at least one node of a second",
    ),
    "one name": (fit(y=["cat"] * 5 + [None] * (N - 5)), r"y names only one class \(cat\).*; label at least one node"),
    "halves": (fit(y=lambda s: replaced(s.y, 0.5, 7)), r"y holds 0\.5, which is no class; give whole numbers or str"),
    "infinity": (
        fit(y=lambda s: replaced(s.y, np.inf, 7)),
        r"y holds inf, which is no class; give whole numbers or s",
    ),
    "mixed": (
        fit(y=[1, "cat"] + [None] * (N - 2)),
        r"y mixes strings with other types \(such as 1\).*; give labels of",
    ),
    "two columns": (
        fit(y=lambda s: np.stack([s.y, s.y], 1)),
        r"y should be a 1d array, .* shape \(120, 2\); give one",
    ),
    "a number": (fit(y=3), r"y should be a 1d array, got an array of shape \(\); give one label a node"),
}

GRAPHS = {
    "asymmetric": (
        fit(graph=lambda s: matrix(s, (0, 5, 7))),
        r"not symmetric \(entry (0, 5|5, 0) differs .*; give A\.max",
    ),
    "not square": (fit(graph=lambda s: s.A[:90]), r"has 90 rows and 120 columns; it needs as many of each"),
    "smaller": (
        fit(graph=lambda s: s.A[:90, :90]),
        r"graph has 90 nodes but X has 120 rows; give one row for each node",
    ),
    "smaller, dense": (
        fit(graph=lambda s: s.A[:90, :90].toarray()),
        r"graph has 90 nodes but X has 120 rows; give one",
    ),
    "not square, dense": (fit(graph=lambda s: s.A[:90].toarray()), r"edge list needs .* shape \(90, 120\)"),
    "larger": (fit(graph=Graph.from_edges([(0, 1)], N + 1)), r"graph has 121 nodes but X has 120 rows; give one row"),
    "negative": (
        fit(graph=lambda s: matrix(s, (2, 9, -1), (9, 2, -1))),
        r"entry 2, 9 is -1\.0, which is negative; weig",
    ),
    "NaN": (
        fit(graph=lambda s: matrix(s, (2, 9, np.nan))),
        r"weight of entry 2, 9 is nan, which is not finite; weights",
    ),
    "infinite": (fit(graph=lambda s: matrix(s, (2, 9, np.inf))), r"entry 2, 9 is inf, which is not finite; weights"),
    "negative column": (
        fit(graph=[(0, 1, 1), (1, 2, -3)]),
        r"weight of edge 1 is -3\.0, which is negative; weights say",
    ),
    "no nodes": (fit(graph=sparse.csr_array((0, 0))), r"graph is empty: it has no nodes; give at least one edge"),
    "no edges": (
        fit(graph=sparse.csr_array((N, N))),
        r"graph has no edges, so no label can travel; give edges, or gra",
    ),
    "an empty list": (fit(graph=[]), r"graph has no edges, so no label can travel; give edges, or graph=None"),
    "loops alone": (
        fit(graph=[(0, 0), (5, 5)]),
        r"graph has no edges, so no label can travel; give edges, or graph=N",
    ),
    "out of range": (fit(graph=[(0, 1), (3, N)]), r"edge 1 joins 3 and 120, but nodes are .* from 0 to 119; number"),
    "below zero": (fit(graph=[(-1, 3)]), r"edge 0 joins -1 and 3, but nodes are .* from 0 to 119; number the nodes"),
    "fractions": (fit(graph=[(0, 0.5)]), r"edge 0 joins 0\.0 and 0\.5, but nodes are whole numbers from 0 to 119"),
    "four columns": (fit(graph=[(0, 1, 2, 3)]), r"edge list needs numbers in two columns .* shape \(1, 4\)"),
    "two rows": (
        fit(graph=np.ones((2, 9), int)),
        r"edge list needs .* shape \(2, 9\) .*; transpose it if it has two ro",
    ),
    "names": (fit(graph=[("a", "b")]), r"edge list needs numbers .* type <U1"),
    "ragged": (fit(graph=[(0, 1), (1, 2, 3)]), r"rows of the graph are not of the same length; give as many numbers"),
    "a word": (fit(graph="cora"), r"edge list needs numbers in two columns .* shape \(\) and type <U4"),
    "a dictionary": (fit(graph={0: [1]}), r"edge list needs numbers in two columns .* type object"),
}

NODES = {
    "a matrix": (
        fit(graph=lambda s: s.A, nodes=np.arange(N)),
        r"nodes= needs graph= to be a Graph with features.*; give",
    ),
    "no features": (
        fit(nodes=np.arange(N)),
        r"nodes= needs graph= to be a Graph with features, .*; give Graph\(A, fea",
    ),
    "no graph": (fit(graph=None, nodes=np.arange(N)), r"nodes= needs graph= to be a Graph with features, .*; give"),
    "fewer": (
        fit(graph=lambda s: Graph(s.A, features=s.X), nodes=np.arange(5)),
        r"nodes has 5 entries, X 120 rows and y shape \(120,\); give as many labels and rows as nodes",
    ),
    "no labels": (
        fit(graph=lambda s: Graph(s.A, features=s.X), nodes=np.arange(N), y=None),
        r"nodes has 120 entries, X 120 rows and y shape \(\); give as many labels",
    ),
    "out of range": (
        fit(graph=lambda s: Graph(s.A, features=s.X), nodes=np.arange(N) + 1),
        r"nodes must hold node numbers, whole ones from 0 to 119 in one dimension",
    ),
    "a mask": (
        fit(graph=lambda s: Graph(s.A, features=s.X), nodes=np.ones(N, bool)),
        r"nodes must hold node numbers, whole ones from 0 to 119 in one dimension",
    ),
}

VALIDATION = {
    "a number": (fit(validation=5), r"validation must be a pair: node numbers and their labels, as many of each"),
    "three parts": (fit(validation=([1], [0], [0])), r"validation must be a pair: node numbers and their labels"),
    "nodes alone": (fit(validation=np.arange(9)), r"validation must be a pair: node numbers and their labels"),
    "unlike lengths": (fit(validation=([1, 2], [0])), r"validation has 2 nodes and 1 labels; give as many of each"),
    "none": (fit(validation=(np.arange(0), np.arange(0))), r"validation has 0 nodes and 0 labels; .* at least one"),
    "empty lists": (fit(validation=([], [])), r"validation must hold node numbers, whole ones from 0 to 119"),
    "out of range": (
        fit(validation=([1, N], [0, 1])),
        r"validation must hold node numbers, whole ones from 0 to 119",
    ),
    "fractions": (fit(validation=([1.5], [0])), r"validation must hold node numbers, whole ones from 0 to 119"),
    "a new class": (fit(validation=([1, 2], [0, 9])), r"validation holds the label 9, which .* classes are 0, 1, 2"),
    "unlabelled": (fit(validation=([1, 2], [0, -1])), r"validation holds the label -1, which .* classes are 0, 1, 2"),
    "missing": (
        fit(validation=([1, 2], [0, None])),
        r"validation holds the label None, which no labelled node in y has",
    ),
    "names": (
        fit(validation=([1, 2], ["a", "b"])),
        r"validation holds the label 'a', which no labelled node in y has",
    ),
    "a table": (
        fit(validation=([1, 2], [[0, 1]] * 2)),
        r"validation should be a 1d array, .* \(2, 2\); give one label",
    ),
    "no labels": (fit(validation=([1, 2], None)), r"the target validation is None; give"),
}

PREDICTION = {
    "fewer columns": (
        predict(lambda s: s.X[:, :5]),
        r"X has 5 features, but MetaPN is expecting 8 .*; .* columns of fit",
    ),
    "more, sparse": (
        predict(lambda s: sparse.csr_array((3, 9))),
        r"X has 9 features, but MetaPN is expecting 8 .*; give",
    ),
    "fewer, embedded": (predict(lambda s: s.X[:, :5], method="embed"), r"X has 5 features, .* expecting 8 .*; give"),
    "a row": (predict(lambda s: s.X[0]), r"Expected 2D array, got 1D array instead: Reshape .*; give numbers"),
    "no rows": (predict(lambda s: s.X[:0]), r"0 sample\(s\) .* minimum of 1 is required by MetaPN; give numbers"),
    "NaN": (predict(lambda s: replaced(s.X, np.nan, (3, 2))), r"X contains NaN in row 3, column 2; fill or drop"),
    "another graph": (
        predict(graph=Graph.from_edges([(0, 1)], 9)),
        r"graph has 9 nodes but X has 120 rows; give one row",
    ),
    "another matrix": (predict(graph=np.ones((9, 9))), r"graph has 9 nodes but X has 120 rows; give one row"),
    "another edge": (
        predict(graph=[(0, N)], method="predict_proba"),
        r"edge 0 joins 0 and 120, .*; number the nodes",
    ),
}

TABLES = {
    "X": FEATURES,
    "y": LABELS,
    "graph": GRAPHS,
    "nodes": NODES,
    "validation": VALIDATION,
    "predict": PREDICTION,
}


def assert_one_sentence(run, sentence):
    with pytest.raises(InputError) as caught:
        run()
    message = str(caught.value)
    assert re.search(sentence, message), message
    assert "\n" not in message
    assert "Traceback" not in message
    assert len(message) < 330
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("table, case", [(table, case) for table, cases in TABLES.items() for case in cases])
def test_bad_input_is_told_in_one_sentence(small, table, case):
    run, sentence = TABLES[table][case]
    assert_one_sentence(lambda: run(small), sentence)


WHOLE = r"a whole number from {} upwards"
SETTINGS = {
    "scaling": (["row", None, 1], r"one of 'auto', 'rows', 'columns', 'none'"),
    "n_neighbors": ([0, -1, 1.5, "3", None, True], WHOLE.format(1)),
    "device": (["tpu7", "cuda:99", None, 5], r"'auto', 'cpu' or another device that torch finds on this machine"),
    "random_state": (
        [-1, 2**32, "0", 1.0, np.random.default_rng(0)],
        r"None, a whole number from 0 to 4294967295 or a",
    ),
    "n_hops": ([0, -1, 2.0, None], WHOLE.format(1)),
    "alpha": ([-0.1, 1.1, np.nan, np.inf, "0.1", None, True], r"a number from 0 to 1"),
    "hidden": ([0, 1.0, None], WHOLE.format(1)),
    "dropout": ([-0.1, 1, np.nan, None], r"a number from 0 to 1 \(but not it\)"),
    "learning_rate": ([-1e-9, np.inf, np.nan, None, "0.1"], r"a number from 0 upwards"),
    "meta_learning_rate": ([-1e-9, np.inf, np.nan, None], r"a number from 0 upwards"),
    "l2": ([-1, np.inf, np.nan, None], r"a number from 0 upwards"),
    "batch_size": ([0, 1.5, None, True], WHOLE.format(1)),
    "max_epochs": ([0, -3, 10.0, None], WHOLE.format(1)),
    "patience": ([0, 1.5, None], WHOLE.format(1)),
    "propagator": (["Anchored", None, 0], r"one of 'anchored', 'paper', 'static'"),
    "meta_gradient": (["approximate", None], r"one of 'exact', 'finite_difference'"),
    "balance": ([0, 1, None, "yes"], r"True or False"),
    "fine_tune_epochs": ([-1, 0.0, None, False], WHOLE.format(0)),
    "final": (["softmax", None], r"one of 'propagated', 'transformer', 'pseudo'"),
    "engine": (["Disk", "spark", None], r"one of 'memory', 'disk', 'ray'"),
}


def test_every_setting_is_checked():
    assert set(SETTINGS) == {spec.name for spec in fields(MetaPN)}


@pytest.mark.parametrize("name, value", [(name, value) for name, (values, _) in SETTINGS.items() for value in values])
def test_an_impossible_setting_is_told_in_one_sentence(small, name, value):
    if name == "device" and value == "cuda:99" and torch.cuda.device_count() > 99:
        pytest.skip("a machine with a hundred of them")
    sentence = rf"^MetaPN\({name}={re.escape(repr(value))}\) is not possible: {name} must be {SETTINGS[name][1]}"
    model = MetaPN(**{name: value})  # scikit-learn wants the check in fit, not here
    assert_one_sentence(lambda: model.fit(small.X, small.y, graph=small.graph), sentence)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "embed", "score"])
def test_what_is_not_fitted_says_so(small, method):
    with pytest.raises(NotFittedError, match="This MetaPN instance is not fitted yet"):
        getattr(MetaPN(), method)(*((small.X, small.truth) if method == "score" else (small.X,)))


def test_a_failed_fit_names_the_settings_first(small):
    with pytest.raises(InputError, match="alpha"):
        MetaPN(alpha=7).fit(None, None)
