"""The table of predictions: what is in it, and that both formats hold the same."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metapn import InputError
from metapn.deploy.predictions import margins, prediction_file, prediction_table

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.25, 0.5, 0.25]], dtype=np.float32)
HOPS = np.array([0, 2, -1])


def table(ids=("x", "y", "z"), classes=("a", "b", "c"), hops=HOPS):
    return prediction_table(pa.array(ids), np.array(classes), P, hops)


def test_a_row_says_all_of_a_node():
    first, second, third = table().to_pylist()
    assert first["id"] == "x" and first["label"] == "a" and first["hops"] == 0 and first["reached"] is True
    assert [second[f"p_{name}"] for name in "abc"] == P[1].tolist()
    assert second["margin"] == pytest.approx(0.3) and second["hops"] == 2
    assert (third["label"], third["hops"], third["reached"]) == ("b", None, False)


@pytest.mark.parametrize(
    ("ids", "classes"),
    [(("x", "y", "z"), ("a", "b,c", 'd"')), ((7, 70, 700), (1, 2, 3)), (("1", "01", "é\n"), ("ja", "nein", "ä"))],
)
def test_both_formats_hold_the_same(tmp_path, ids, classes):
    """Parquet to the bit and by type, CSV after its own reader; written in two pieces."""
    whole = table(ids, classes)
    for name in ("out.parquet", "out.csv"):
        with prediction_file(tmp_path / name) as write:
            write(whole[:2])
            write(whole[2:])
    assert pa.parquet.read_table(tmp_path / "out.parquet").equals(whole)
    types = {field.name: field.type for field in whole.schema}
    options = pa.csv.ConvertOptions(column_types=types, strings_can_be_null=False)
    parse = pa.csv.ParseOptions(newlines_in_values=True)
    again = pa.csv.read_csv(tmp_path / "out.csv", convert_options=options, parse_options=parse)
    assert again.equals(whole)


@given(st.lists(st.lists(st.floats(0, 1, width=32), min_size=3, max_size=3), min_size=1, max_size=5))
def test_the_margin_is_that_of_sorted_probabilities(rows):
    probabilities = np.array(rows, dtype=np.float32)
    expected = [sorted(row)[-1] - sorted(row)[-2] for row in probabilities]
    np.testing.assert_array_equal(margins(probabilities), np.array(expected, dtype=np.float32))


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.filterwarnings("error")
def test_an_interrupted_file_is_not_there(tmp_path, name):
    (tmp_path / name).write_text("before")
    with pytest.raises(KeyboardInterrupt), prediction_file(tmp_path / name) as write:
        write(table())
        raise KeyboardInterrupt
    assert [each.name for each in tmp_path.iterdir()] == [name] and (tmp_path / name).read_text() == "before"


def test_a_format_that_is_not_known_is_told(tmp_path):
    with pytest.raises(InputError, match=r"out\.xlsx.*\.parquet or \.csv"), prediction_file(tmp_path / "out.xlsx"):
        pass
    assert list(tmp_path.iterdir()) == []
