import torch

from metapn.model.network import normalised


def test_rows_sum_to_one_and_a_row_of_zeros_is_uniform():
    rows = normalised(torch.tensor([[1.0, 3, 0, 0], [0, 0, 0, 0], [2e-38, 0, 0, 0]]))
    assert rows.tolist() == [[0.25, 0.75, 0, 0], [0.25] * 4, [1, 0, 0, 0]]
