"""The table that is timed is the one that is meant, and reading it finds what was written."""

import pytest

from metapn.bench.reading import read_once, write_edges
from metapn.data.tables import read_tables


@pytest.mark.parametrize("prefix", ["", "user-"])
def test_as_many_rows_as_asked_for_are_written_and_read(prefix, tmp_path):
    path = tmp_path / "edges.csv"
    write_edges(path, 5000, prefix)
    lines = path.read_text().splitlines()
    assert len(lines) == 5001 and lines[1].replace('"', "").startswith(prefix)
    found = read_once(path, threads=1)
    assert 0 < found.edges <= 5000 and found.nodes <= 500 and found.peak > 0
    assert found.edges == read_tables(path).graph.n_edges
