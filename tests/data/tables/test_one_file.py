"""A graph in one file, npz or GraphML, is read as if it came in two tables."""

import gzip

import networkx
import numpy as np
import pandas
import pytest
from scipy import sparse

from metapn.data.npz import write_npz
from metapn.data.tables import read_tables
from metapn.errors import InputError
from metapn.graph import Graph

NAMED = Graph.from_edges(
    [(0, 1, 0.5), (1, 2, 2.0)],
    n_nodes=4,
    features=sparse.csr_array(np.eye(4, 3, dtype=np.float32)),
    labels=np.array([1, -1, 0, -1]),
    class_names=("red", "blue"),
)


def written(graph, file):
    networkx.write_graphml(graph, file)
    return file


@pytest.fixture
def flights(tmp_path):
    graph = networkx.DiGraph()
    graph.add_node("ULM", size=3, hub=True, label="small")
    graph.add_node("FRA", size=9.5, hub=False, label="large")
    graph.add_node("x y", size=1)
    graph.add_edge("ULM", "FRA", weight=2.0)
    graph.add_edge("FRA", "x y", weight=1.0)
    return written(graph, tmp_path / "flights.graphml")


def test_npz_keeps_matrix_weights_and_names(tmp_path):
    write_npz(tmp_path / "graph.npz", NAMED)
    tables = read_tables(tmp_path / "graph.npz")
    assert tables.ids.to_pylist() == [0, 1, 2, 3]
    assert tables.labels.tolist() == ["blue", None, "red", None]
    assert tables.graph.class_names == ("red", "blue") and tables.graph.labels.tolist() == [1, -1, 0, -1]
    assert tables.columns.num_columns == 0 and tables.columns.num_rows == 4
    np.testing.assert_array_equal(tables.graph.features.toarray(), NAMED.features.toarray())
    np.testing.assert_array_equal(tables.graph.adjacency.toarray(), NAMED.adjacency.toarray())


def test_numbered_classes_of_an_npz_file_keep_their_numbers_as_labels(tmp_path):
    write_npz(tmp_path / "graph.npz", Graph(NAMED.adjacency, labels=np.array([5, 2, -1, 5])))
    tables = read_tables(tmp_path / "graph.npz")
    assert tables.labels.tolist() == [5, 2, None, 5]
    assert tables.graph.class_names == ("2", "5") and tables.graph.labels.tolist() == [1, 0, -1, 1]


def test_edges_of_an_npz_file_go_with_a_node_table(tmp_path):
    write_npz(tmp_path / "graph.npz", NAMED)
    nodes = pandas.DataFrame({"id": [3, 2, 1, 0], "size": [0.0, 1.0, 2.0, 3.5]})
    tables = read_tables(tmp_path / "graph.npz", nodes)
    assert tables.graph.adjacency.toarray()[3].tolist() == [0, 0, 0.5, 0]
    assert tables.columns["size"].to_pylist() == [0, 1, 2, 3.5]


def test_graphml_has_ids_columns_labels_and_weights(flights):
    tables = read_tables(flights)
    assert tables.ids.to_pylist() == ["ULM", "FRA", "x y"]
    assert tables.labels.tolist() == ["small", "large", None]
    assert tables.columns.to_pydict() == {"size": [3.0, 9.5, 1.0], "hub": [True, False, None]}
    assert tables.graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    assert any("directed" in note for note in tables.notes)


def test_graphml_may_be_gzipped_and_other_columns_chosen(flights, tmp_path):
    packed = tmp_path / "flights.graphml.gz"
    packed.write_bytes(gzip.compress(flights.read_bytes()))
    assert read_tables(packed).ids.equals(read_tables(flights).ids)
    tables = read_tables(packed, label="hub", features=["size"])
    assert tables.labels.tolist() == [True, False, None] and tables.columns.column_names == ["size"]


def test_graphml_without_edges_has_none(tmp_path):
    graph = networkx.Graph()
    graph.add_node("a", size=1)
    assert not read_tables(written(graph, tmp_path / "alone.graphml")).has_edges


def test_defaults_of_graphml_are_filled_in(tmp_path):
    (tmp_path / "g.graphml").write_text(
        '<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns"><g:key id="d" for="node" attr.name="size" '
        'attr.type="int"><g:default>7</g:default></g:key><g:key id="y" for="node" yfiles.type="nodegraphics"/>'
        '<g:graph edgedefault="undirected"><g:node id="a"><g:data key="y"><b>box</b></g:data></g:node><g:node id="b">'
        '<g:data key="d"> 8 </g:data></g:node><g:edge source="a" target="b"/></g:graph></g:graphml>'
    )
    tables = read_tables(tmp_path / "g.graphml")
    assert tables.columns.to_pydict() == {"size": [7, 8]} and tables.graph.n_edges == 1


def test_a_class_that_is_named_needs_a_label(tmp_path):
    write_npz(
        tmp_path / "graph.npz", Graph(NAMED.adjacency, labels=np.array([0, 1, -1, -1]), class_names=("a", "b", "c"))
    )
    with pytest.raises(InputError, match="names the class 'c' but labels no node"):
        read_tables(tmp_path / "graph.npz").known_labels()
