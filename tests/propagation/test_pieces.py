import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from metapn.propagation.operator import SparseMatrix
from metapn.propagation.pieces import LONG, Pieces


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3 * LONG), max_size=8), st.integers(0, 2**31))
def test_the_pieces_of_a_row_add_up_to_it(lengths, seed):
    starts = torch.tensor([0, *lengths]).cumsum(0)
    values = torch.from_numpy(np.random.default_rng(seed).random((int(starts[-1]), 2)))
    cut = Pieces(starts)
    assert int(cut.starts.diff().max() if len(lengths) else 0) <= LONG
    sums = torch.stack([values[a:b].sum(dim=0) for a, b in cut.starts.unfold(0, 2, 1)]) if lengths else values
    expected = [values[a:b].sum(dim=0) for a, b in starts.unfold(0, 2, 1)] if lengths else []
    torch.testing.assert_close(cut.fold(sums), torch.stack(expected) if expected else values)


def test_a_long_row_is_as_precise_as_a_short_one():
    row = sparse.csr_array(np.ones((1, 100_000), np.float32))
    dense = torch.full((100_000, 16), 0.1)
    expected = 100_000 * float(dense[0, 0])
    plain, exact = (SparseMatrix(row, exact=exact) @ dense for exact in (False, True))
    assert float((plain - expected).abs().max()) > 1e-4 * expected  # why it is cut
    assert float((exact - expected).abs().max()) < 1e-6 * expected
    narrow = SparseMatrix(row, exact=True) @ dense[:, :1].contiguous()
    assert float((narrow - expected).abs().max()) < 1e-6 * expected


def test_scaled_values_keep_the_pieces():
    row = sparse.csr_array(np.ones((2, 1000), np.float32))
    doubled = SparseMatrix(row, exact=True).scaled(torch.full((2000,), 2.0))
    torch.testing.assert_close(doubled @ torch.ones(1000, 9), torch.full((2, 9), 2000.0))
