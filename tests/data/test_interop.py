"""Graphs of other libraries are the same graph."""

import subprocess
import sys

import igraph
import networkx
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data

from metapn import Graph, InputError, MetaPN, as_graph

# One edge twice, one in both directions, a loop, and node 4 by itself.
EDGES = [(0, 1, 2.0), (1, 2, 1.0), (2, 1, 3.0), (0, 1, 0.5), (3, 3, 1.0), (3, 0, 1.0)]
N = 5
WANTED = Graph.from_edges(EDGES, N)
FROM, TO, WEIGHT = (list(column) for column in zip(*EDGES, strict=True))


def of_networkx(kind):
    graph = kind()
    graph.add_nodes_from(range(N))
    for one, other, weight in sorted(EDGES, key=lambda edge: edge[2]):  # of a repeated edge the last one holds there
        graph.add_edge(one, other, weight=weight)
    return graph


def of_igraph(directed):
    graph = igraph.Graph(n=N, edges=list(zip(FROM, TO, strict=True)), directed=directed)
    graph.es["weight"] = WEIGHT
    return graph


def of_geometric():
    return Data(edge_index=torch.tensor([FROM, TO]), edge_weight=torch.tensor(WEIGHT), num_nodes=N)


COLUMNS = {"source": FROM, "target": TO, "weight": WEIGHT}
FORMS = {
    "Graph": lambda: WANTED,
    "scipy": lambda: sparse.coo_matrix(WANTED.adjacency),
    "numpy": lambda: WANTED.adjacency.toarray(),
    "edge list": lambda: EDGES,
    "networkx.Graph": lambda: of_networkx(networkx.Graph),
    "networkx.DiGraph": lambda: of_networkx(networkx.DiGraph),
    "networkx.MultiGraph": lambda: of_networkx(networkx.MultiGraph),
    "networkx.MultiDiGraph": lambda: of_networkx(networkx.MultiDiGraph),
    "igraph": lambda: of_igraph(False),
    "igraph directed": lambda: of_igraph(True),
    "PyTorch Geometric": of_geometric,
    "pandas": lambda: pandas.DataFrame(COLUMNS),
    "polars": lambda: polars.DataFrame(COLUMNS),
    "pyarrow": lambda: pa.table(COLUMNS),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_graph(form):
    np.testing.assert_array_equal(as_graph(FORMS[form](), N).adjacency.toarray(), WANTED.adjacency.toarray())


@pytest.mark.parametrize("form", FORMS)
def test_every_form_fits_and_predicts_alike(form):
    X, y = np.random.default_rng(0).random((N, 3), dtype=np.float32), ["a", "b", None, None, None]
    settings = {"max_epochs": 2, "random_state": 0}
    wanted = MetaPN(**settings).fit(X, y, graph=WANTED)
    found = MetaPN(**settings).fit(X, y, graph=FORMS[form]())
    np.testing.assert_array_equal(found.label_distributions_, wanted.label_distributions_)
    np.testing.assert_array_equal(found.predict_proba(X, FORMS[form]()), wanted.predict_proba(X, WANTED))


def test_without_weights_all_are_one():
    path = networkx.path_graph(3)
    wanted = as_graph([(0, 1), (1, 2)], 3).adjacency.toarray()
    table = pandas.DataFrame({"u": [0, 1], "v": [1, 2]})
    data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    for graph in (path, igraph.Graph([(0, 1), (1, 2)]), table, data):
        np.testing.assert_array_equal(as_graph(graph, 3).adjacency.toarray(), wanted)


def test_nodes_of_networkx_keep_their_order():
    graph = networkx.Graph([("z", "a"), ("a", "m")])
    assert as_graph(graph).adjacency.toarray()[0].tolist() == [0, 1, 0]


def test_features_and_labels_of_geometric_come_along():
    data = Data(x=torch.eye(3), y=torch.tensor([1, 0, -1]), edge_index=torch.tensor([[0], [1]]))
    graph = as_graph(data)
    np.testing.assert_array_equal(graph.features, np.eye(3))
    assert graph.labels.tolist() == [1, 0, -1]
    data.y = torch.rand(3)
    assert as_graph(data).labels is None


def test_a_subclass_is_recognised():
    class Mine(networkx.Graph):
        pass

    assert as_graph(Mine([(0, 1)])).n_edges == 1


BAD = {
    "an edge list of unknown size": (lambda: as_graph(EDGES), "give n_nodes"),
    "a frame of unknown size": (lambda: as_graph(pandas.DataFrame(COLUMNS)), "give n_nodes"),
    "a frame with ids of text": (lambda: as_graph(pandas.DataFrame({"u": ["a"], "v": ["b"]}), 2), "read_tables"),
    "a frame that names a row there is not": (lambda: as_graph(pandas.DataFrame(COLUMNS), 3), "from 0 to 2"),
    "a frame of one column": (lambda: as_graph(pandas.DataFrame({"u": [1]}), 2), "one column only"),
    "too few nodes": (lambda: as_graph(networkx.path_graph(3), 4), "3 nodes but X has 4 rows"),
    "a geometric graph without edges": (lambda: as_graph(Data(x=torch.eye(2)), 2), "edge_index"),
    "weights of text": (lambda: as_graph(networkx.Graph([(0, 1, {"weight": "far"})])), "one number each"),
    "negative weights": (lambda: as_graph(networkx.Graph([(0, 1, {"weight": -1})])), "negative"),
    "no nodes": (lambda: as_graph(networkx.Graph()), "empty"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_a_graph_is_told_in_one_sentence(case):
    action, words = BAD[case]
    with pytest.raises(InputError, match=words) as told:
        action()
    assert ";" in str(told.value) and "\n" not in str(told.value)


def test_no_library_is_imported_that_is_not_in_use():
    code = (
        "import sys, metapn; metapn.as_graph([(0, 1)], 2); "
        "print([name for name in ('networkx', 'igraph', 'pandas', 'polars', 'pyarrow', 'torch_geometric') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
