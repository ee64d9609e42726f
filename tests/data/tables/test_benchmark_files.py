"""A benchmark written out as CSV is the same to the bit: so is whatever is learnt from it."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from scipy import sparse

from metapn import datasets
from metapn.data.prepared import prepared
from metapn.data.tables import read_tables

pytestmark = pytest.mark.real_graphs


def test_cora_ml_from_files_is_cora_ml_from_arrays(real_data, tmp_path):
    graph = datasets.load("cora_ml")
    features = graph.features.toarray()
    upper = sparse.coo_array(sparse.triu(graph.adjacency))
    names = pa.array([f"paper {node}" for node in range(graph.n_nodes)])
    labels = pa.array([f"class {label}" if node % 20 == 0 else None for node, label in enumerate(graph.labels)])
    nodes = pa.table(
        {"id": names, "label": labels} | {f"w{place}": column for place, column in enumerate(features.T)}
    )
    pa.csv.write_csv(nodes, tmp_path / "nodes.csv")
    edges = pa.table({"from": names.take(pa.array(upper.row)), "to": names.take(pa.array(upper.col))})
    pa.csv.write_csv(edges, tmp_path / "edges.csv")
    ready = prepared(read_tables(tmp_path / "edges.csv", tmp_path / "nodes.csv"))
    for found, wanted in ((ready.graph.adjacency, graph.adjacency), (ready.X, graph.features)):
        assert found.shape == wanted.shape and (found != wanted).nnz == 0
    np.testing.assert_array_equal(ready.graph.labels[::20], graph.labels[::20])
