"""Accuracy on files equals accuracy on arrays: Cora-ML written out as two CSV files."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from metapn import MetaPN, datasets

pytestmark = pytest.mark.real_graphs


@pytest.mark.skipif("METAPN_DATA" not in os.environ, reason="METAPN_DATA names the folder with the benchmark files")
def test_cora_ml_as_two_csv_files_is_labelled_as_the_arrays_are(tmp_path, metapn):
    """A column of 0 and 1 for each word is found to be sparse, as the array is, and all labels are the same."""
    graph = datasets.load("cora_ml")
    words = (graph.features.toarray() != 0).astype(np.float32)
    words = words[:, words.any(axis=0)]  # a word that no paper has would be dropped
    y = np.full(graph.n_nodes, -1)
    for c in range(graph.n_classes):
        y[np.flatnonzero(graph.labels == c)[:5]] = c
    nodes = {"id": np.arange(graph.n_nodes), "label": pa.array(y, mask=y < 0)}
    nodes |= {f"word {k}": words[:, k].astype(np.int8) for k in range(words.shape[1])}
    pa.csv.write_csv(pa.table(nodes), tmp_path / "nodes.csv")
    upper = graph.adjacency.tocoo()
    once = upper.row < upper.col
    pa.csv.write_csv(pa.table({"source": upper.row[once], "target": upper.col[once]}), tmp_path / "edges.csv")

    model = MetaPN(random_state=0).fit(sparse.csr_array(words), y, graph=graph)
    files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv")
    code, _, err = metapn("fit", *files, "--no-calibrate", "--no-page", "--out", tmp_path / "run")
    assert code == 0, err
    found = pq.read_table(tmp_path / "run" / "predictions.parquet")["label"].to_numpy()
    assert (model.transduction_ == graph.labels)[y < 0].mean() > 0.7
    np.testing.assert_array_equal(found, model.transduction_)
