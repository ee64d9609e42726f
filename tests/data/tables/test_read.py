"""What tables become: ids, edges, labels and columns, and what is told of each choice."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metapn.data.tables import read_tables

EDGES = "src,dst,w\na,b,1\nb,c,2\nb,a,3\nc,c,1\nd,a,1\n"
NODES = "id,age,town,label\na,3,Ulm,x\nb,,Jena,\nc,4,Ulm,y\nd,4.5,Ulm,NA\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "nodes.csv").write_text(NODES)
    return tmp_path / "edges.csv", tmp_path / "nodes.csv"


def test_two_tables_become_a_graph_with_ids_labels_and_columns(files):
    tables = read_tables(*files)
    assert tables.ids.to_pylist() == ["a", "b", "c", "d"]
    assert tables.labels.tolist() == ["x", None, "y", None]
    assert tables.graph.labels.tolist() == [0, -1, 1, -1]
    assert tables.graph.class_names == ("x", "y")
    assert tables.columns.column_names == ["age", "town"]
    assert tables.graph.adjacency.toarray().tolist() == [[0, 3, 0, 1], [3, 0, 2, 0], [0, 2, 0, 0], [1, 0, 0, 0]]


def test_every_choice_is_told(files):
    notes = " | ".join(read_tables(*files).notes)
    for words in (
        "'id' is the id",
        "'label' the label",
        "'src' and 'dst'",
        "'w' as its weight",
        "self-loop",
        "repetition",
    ):
        assert words in notes


def test_parquet_gives_what_csv_gives(files, tmp_path):
    wanted = read_tables(*files)
    edges = pa.table({"src": list("abbcd"), "dst": list("bcaca"), "w": [1.0, 2, 3, 1, 1]})
    pq.write_table(edges, tmp_path / "edges.parquet")
    found = read_tables(tmp_path / "edges.parquet", files[1])
    assert found.ids.equals(wanted.ids)
    np.testing.assert_array_equal(found.graph.adjacency.toarray(), wanted.graph.adjacency.toarray())
