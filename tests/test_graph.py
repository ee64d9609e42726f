import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from metapn.errors import InputError
from metapn.graph import Graph, as_graph

TRIANGLE = [(0, 1), (1, 2), (2, 0)]


def dense(graph):
    return graph.adjacency.toarray()


@st.composite
def edge_lists(draw):
    """Number of nodes, and edges with weights: loops, repetitions and either direction included."""
    n_nodes = draw(st.integers(1, 9))
    node = st.integers(0, n_nodes - 1)
    return n_nodes, draw(st.lists(st.tuples(node, node, st.sampled_from([0.0, 0.5, 1.0, 2.25])), max_size=25))


@settings(max_examples=60, deadline=None)
@given(edge_lists())
def test_an_edge_list_is_the_matrix_of_largest_weights_without_loops(case):
    n_nodes, edges = case
    expected = np.zeros((n_nodes, n_nodes), np.float32)
    for i, j, weight in edges:
        if i != j:
            expected[i, j] = expected[j, i] = max(expected[i, j], weight)
    graph = Graph.from_edges(edges, n_nodes)
    assert np.array_equal(dense(graph), expected)
    assert graph.adjacency.dtype == np.float32
    assert graph.n_nodes == n_nodes
    assert graph.n_edges == np.count_nonzero(expected) // 2
    assert (graph.adjacency.data > 0).all()


@settings(max_examples=40, deadline=None)
@given(edge_lists())
def test_components_are_those_found_by_walking(case):
    n_nodes, edges = case
    graph = Graph.from_edges(edges, n_nodes)
    reach = np.linalg.matrix_power(dense(graph) + np.eye(n_nodes), n_nodes) > 0
    number = graph.components()
    assert np.array_equal(reach, number[:, None] == number)


def test_weights_come_beside_the_edges_or_as_a_third_column():
    beside = Graph.from_edges([(0, 1), (1, 2)], 3, weights=[0.5, 2])
    column = Graph.from_edges(np.array([(0, 1, 0.5), (1, 2, 2)]), 3)
    assert np.array_equal(dense(beside), dense(column))
    assert dense(beside)[2, 1] == 2


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array, sparse.csc_matrix, np.asarray]
)
@pytest.mark.parametrize("dtype", [bool, np.int64, np.float64])
def test_every_form_of_a_matrix_is_the_same_graph(form, dtype):
    matrix = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]], dtype)
    assert np.array_equal(dense(as_graph(form(matrix), 4)), dense(Graph.from_edges([(0, 1), (1, 2)], 4)))


@pytest.mark.parametrize(
    "edges", [TRIANGLE, np.array(TRIANGLE), np.array(TRIANGLE, np.uint8), np.array(TRIANGLE, float)]
)
def test_every_form_of_an_edge_list_is_the_same_graph(edges):
    assert np.array_equal(dense(as_graph(edges, 5)), dense(Graph.from_edges(TRIANGLE, 5)))


def test_a_square_of_two_or_three_rows_is_an_edge_list():
    assert as_graph([[0, 1], [1, 2]], 3).n_edges == 2
    assert as_graph([[0, 1, 0.5], [1, 2, 2], [0, 2, 3]], 3).adjacency.max() == 3


def test_a_graph_is_taken_as_it_is():
    graph = Graph.from_edges(TRIANGLE, 3)
    assert as_graph(graph, 3) is graph


def test_what_the_caller_gave_is_left_alone():
    matrix = sparse.csr_array(np.array([[2.0, 1], [1, 0]], np.float32))
    graph = Graph(matrix)
    assert matrix.toarray().tolist() == [[2, 1], [1, 0]]
    graph.adjacency.data[:] = 9
    assert matrix.toarray().tolist() == [[2, 1], [1, 0]]


def test_duplicate_entries_of_a_matrix_add_up():
    matrix = sparse.coo_array(([1.0, 2, 3], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert dense(Graph(matrix)).tolist() == [[0, 3], [3, 0]]


def test_cross_validation_cannot_slice_a_graph():
    graph = Graph.from_edges(TRIANGLE, 3)
    assert not hasattr(graph, "shape")
    assert not hasattr(graph, "__len__")
    assert not hasattr(graph, "__getitem__")


def test_what_a_graph_says_of_itself():
    graph = Graph.from_edges(
        [(0, 1), (1, 2)], 1200, features=np.zeros((1200, 5)), labels=np.arange(1200) % 3 - 1, name="toy"
    )
    assert repr(graph) == "Graph(toy: 1,200 nodes, 2 edges, 5 features, 2 classes)"
    assert repr(Graph.from_edges([], 1)) == "Graph(1 nodes, 0 edges)"
    assert Graph.from_edges([], 2).n_classes == 0
    assert Graph.from_edges([], 2, labels=np.array([-1, -1])).n_classes == 0


def test_lists_will_do_for_features_and_labels():
    graph = Graph.from_edges(TRIANGLE, 3, features=[[1.0], [2.0], [3.0]], labels=[0, 1, -1])
    assert graph.features.shape == (3, 1)
    assert graph.labels.tolist() == [0, 1, -1]


def matrix(*entries, shape=(3, 3), dtype=float):
    rows, columns, values = zip(*entries, strict=True)
    return sparse.csr_array((np.array(values, dtype), (rows, columns)), shape=shape)


BAD = {
    "not sparse": (
        lambda: Graph(np.zeros((3, 3))),
        r"is a ndarray, not a scipy sparse matrix; use Graph\.from_edges",
    ),
    "not square": (lambda: Graph(matrix((0, 1, 1), shape=(3, 4))), r"has 3 rows and 4 columns; it needs as many"),
    "no nodes": (lambda: Graph(sparse.csr_array((0, 0))), r"graph is empty: it has no nodes; give"),
    "no nodes in a list": (lambda: Graph.from_edges([], 0), r"graph is empty: it has 0 nodes; give"),
    "fewer than none": (lambda: Graph.from_edges(TRIANGLE, -1), r"graph is empty: it has -1 nodes; give"),
    "asymmetric": (
        lambda: Graph(matrix((0, 1, 1), (1, 0, 2))),
        r"not symmetric \(entry 0, 1 differs.*give A\.maximum",
    ),
    "one direction": (
        lambda: Graph(matrix((2, 1, 1))),
        r"not symmetric \(entry (2, 1|1, 2) differs.*give A\.maximum",
    ),
    "negative": (lambda: Graph(matrix((0, 1, 1), (1, 0, -1))), r"weight of entry 1, 0 is -1\.0, which is negative"),
    "NaN": (lambda: Graph(matrix((0, 1, np.nan), (1, 0, 1))), r"weight of entry 0, 1 is nan, which is not finite"),
    "infinite": (
        lambda: Graph(matrix((0, 1, 1), (2, 0, np.inf))),
        r"weight of entry 2, 0 is inf, which is not finite",
    ),
    "complex": (lambda: Graph(matrix((0, 1, 1), dtype=complex)), r"type complex128; give real numbers"),
    "features": (lambda: Graph.from_edges([], 3, features=np.ones((2, 1))), r"features has 2 rows .* 3 nodes; give"),
    "labels": (lambda: Graph.from_edges([], 3, labels=np.zeros(4, int)), r"labels has 4 rows .* 3 nodes; give"),
    "words for labels": (
        lambda: Graph.from_edges([], 2, labels=["a", "b"]),
        r"labels of a graph .* give one class num",
    ),
    "labels in a table": (lambda: Graph.from_edges([], 2, labels=[[0, 1]]), r"labels of a graph have shape \(1, 2\)"),
    "beyond": (lambda: Graph.from_edges([(0, 1), (1, 3)], 3), r"edge 1 joins 1 and 3, but .* from 0 to 2; number"),
    "below": (lambda: Graph.from_edges([(0, -1)], 3), r"edge 0 joins 0 and -1, but .* from 0 to 2; number"),
    "between": (lambda: Graph.from_edges([(0, 1.5)], 3), r"edge 0 joins 0\.0 and 1\.5, but nodes are whole numbers"),
    "NaN for a node": (lambda: Graph.from_edges([(0, np.nan)], 3), r"edge 0 joins 0\.0 and nan, but nodes are whole"),
    "inf for a node": (lambda: Graph.from_edges([(np.inf, 0)], 3), r"edge 0 joins inf and 0\.0, but nodes are whole"),
    "four columns": (lambda: Graph.from_edges([(0, 1, 1, 1)], 3), r"two columns .* shape \(1, 4\).*transpose"),
    "two rows": (
        lambda: Graph.from_edges(np.array(TRIANGLE * 2).T, 3),
        r"shape \(2, 6\) .*transpose it if it has two",
    ),
    "flat": (lambda: as_graph([0, 1, 2], 3), r"edge list needs numbers .* shape \(3,\)"),
    "words": (lambda: Graph.from_edges([("a", "b")], 3), r"edge list needs numbers .* type <U1"),
    "ragged": (lambda: as_graph([(0, 1), (1, 2, 3)], 3), r"rows of the graph are not of the same length; give"),
    "a dictionary": (lambda: as_graph({0: 1}, 3), r"edge list needs numbers .* type object"),
    "fewer weights": (
        lambda: Graph.from_edges([(0, 1)] * 2, 3, weights=[1]),
        r"2 edges need .* shape \(1,\).*; give one",
    ),
    "table of weights": (lambda: Graph.from_edges([(0, 1)], 3, weights=[[1]]), r"1 edges need .* shape \(1, 1\)"),
    "words for weights": (
        lambda: Graph.from_edges([(0, 1)], 3, weights=["a"]),
        r"1 edges need .* type <U1; give one",
    ),
    "negative weight": (
        lambda: Graph.from_edges([(0, 1)], 3, weights=[-2]),
        r"edge 0 is -2\.0, which is negative; w",
    ),
    "weight NaN": (
        lambda: Graph.from_edges([(0, 1, 1), (1, 2, np.nan)], 3),
        r"edge 1 is nan, which is not finite; w",
    ),
    "too great a weight": (
        lambda: Graph.from_edges([(0, 1)], 3, weights=[1e300]),
        r"edge 0 is inf, which is not finite",
    ),
    "other nodes": (
        lambda: as_graph(Graph.from_edges(TRIANGLE, 3), 4),
        r"has 3 nodes but X has 4 rows; give one row",
    ),
    "a smaller square": (lambda: as_graph(np.zeros((5, 5)), 6), r"has 5 nodes but X has 6 rows; give one row"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_in_one_sentence(case):
    make, sentence = BAD[case]
    with pytest.raises(InputError) as caught:
        make()
    message = str(caught.value)
    assert re.search(sentence, message), message
    assert "\n" not in message
    assert isinstance(caught.value, ValueError)
