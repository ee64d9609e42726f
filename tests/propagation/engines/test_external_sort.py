import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from metapn.errors import InputError
from metapn.graph import Graph
from metapn.propagation.engines import external_sort
from metapn.propagation.engines.contract import EdgeBlock
from metapn.propagation.engines.external_sort import sorted_rows


class Some:
    """Edges in blocks of three."""

    def __init__(self, ends, n_nodes, weights=None):
        self.ends, self.n_nodes, self.weights, self.weighted = ends, n_nodes, weights, weights is not None

    def blocks(self):
        for start in range(0, len(self.ends), 3):
            part = slice(start, start + 3)
            weight = None if self.weights is None else self.weights[part]
            yield EdgeBlock(self.ends[part, 0], self.ends[part, 1], weight)


def adjacency_of(rows, n):
    rows = list(rows)
    lengths, columns = (np.concatenate([getattr(part, name) for part in rows]) for name in ("lengths", "columns"))
    weights = [part.weights for part in rows]
    data = np.ones(len(columns), np.float32) if weights[0] is None else np.concatenate(weights)
    assert [part.first for part in rows] == np.cumsum([0, *(len(part.lengths) for part in rows)])[:-1].tolist()
    return sparse.csr_array((data, columns, np.concatenate([[0], np.cumsum(lengths)])), shape=(n, n))


@pytest.mark.parametrize("bins", [2**20, 3])
@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 30), m=st.integers(0, 80), seed=st.integers(0, 2**31), weighted=st.booleans(),
       memory=st.sampled_from([1, 300, 10**6]))  # fmt: skip
def test_the_rows_are_those_of_the_graph(bins, tmp_path_factory, n, m, seed, weighted, memory):
    random = np.random.default_rng(seed)
    ends = random.integers(0, n, (m, 2))
    weights = random.uniform(0.1, 5, m).astype(np.float32) if weighted else None
    folder = tmp_path_factory.mktemp("sort")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(external_sort, "_BINS", bins)
        found = adjacency_of(sorted_rows(Some(ends, n, weights), folder, memory), n)
    expected = Graph.from_edges(ends, n, weights=weights).adjacency
    assert np.array_equal(found.indptr, expected.indptr)
    assert np.array_equal(found.indices, expected.indices)
    assert np.array_equal(found.data, expected.data)
    assert list(folder.iterdir()) == []


def test_node_numbers_beyond_32_bits():
    n = 6 * 10**9
    ends = np.array([[0, n - 1], [n - 1, n - 2], [2**32, 0]])
    bounds = np.array([0, 4 * 10**9, 5 * 10**9, n])
    ranges, keys = external_sort._both_directions(EdgeBlock(ends[:, 0], ends[:, 1], None), bounds, np.dtype("<i8"))
    assert ranges.tolist() == [0, 2, 1, 2, 2, 0]
    assert [divmod(int(key), n) for key in keys] == [
        (0, n - 1),
        (n - 1 - 5 * 10**9, n - 2),
        (2**32 - 4 * 10**9, 0),
        (n - 1 - 5 * 10**9, 0),
        (n - 2 - 5 * 10**9, n - 1),
        (0, 2**32),
    ]


def test_more_nodes_than_a_key_can_hold_are_refused(tmp_path):
    edges = Some(np.array([[0, 1]]), 4 * 10**9)
    with pytest.raises(InputError, match="4,000,000,000 nodes are more than can be sorted"):
        next(sorted_rows(edges, tmp_path, 10**9))
