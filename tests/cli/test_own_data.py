"""The options of one's own graph, read alike by every command."""

import inspect

import numpy as np
import pytest

from metapn.cli import own_data
from metapn.data.npz import write_npz
from metapn.data.tables import read_tables
from metapn.errors import InputError
from metapn.graph import Graph


@pytest.fixture
def files(tmp_path):
    (tmp_path / "edges.csv").write_text("u,v,w\n1,2,3\n2,3,1\n")
    (tmp_path / "nodes.csv").write_text("key,size,age,team\n1,2.5,3,a\n2,1,4,b\n3,7,5,\n")
    write_npz(tmp_path / "graph.npz", Graph.from_edges([(0, 1)], 2, labels=np.array([0, 1])))
    return tmp_path


def test_every_option_reaches_the_reader(files):
    tables = own_data.read(
        files / "edges.csv",
        files / "nodes.csv",
        id="key",
        label="team",
        features=" age, size,",
        source="v",
        target="u",
        weight="w",
    )
    assert tables.columns.column_names == ["age", "size"] and tables.labels.tolist() == ["a", "b", None]
    assert tables.graph.adjacency.max() == 3
    assert "'v' and 'u'" in " ".join(tables.notes)


def test_a_graph_in_one_file_may_be_the_argument_or_the_edges(files):
    path = files / "graph.npz"
    for tables in (own_data.read(path, None), own_data.read(None, None, file=path)):
        assert (tables.graph.adjacency != read_tables(path).graph.adjacency).nnz == 0
    with pytest.raises(InputError, match="both give the edges; leave"):
        own_data.read(path, None, file=path)


def test_there_is_an_option_for_every_choice_of_the_reader():
    choices = set(inspect.signature(read_tables).parameters)
    assert choices == set(inspect.signature(own_data.read).parameters) - {"file"}
    assert all(hasattr(own_data, choice.capitalize()) for choice in choices)
