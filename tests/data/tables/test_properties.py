"""What is written is read back, whatever it is; and no bytes whatever crash a reader."""

import gzip
import io

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metapn.data.npz import write_npz
from metapn.data.prepared import prepared
from metapn.data.tables import node_blocks, read_tables
from metapn.data.tables.delimited import MISSING
from metapn.errors import InputError
from metapn.graph import Graph

# Anything that CSV can hold within a line and that does not stand for a missing value.
WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=6
).filter(lambda text: text.strip() == text and text not in MISSING)
NUMBERS = st.integers(-(10**17), 10**17)


@st.composite
def worlds(draw):
    """Ids, edges between them, and columns with some values missing."""
    ids = draw(st.lists(draw(st.sampled_from([WORDS, NUMBERS])), min_size=2, max_size=8, unique_by=str))
    n = len(ids)
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node, st.floats(0, 100, width=16)), min_size=1, max_size=12))
    sizes = draw(st.lists(st.none() | st.floats(-1e6, 1e6, width=32), min_size=n, max_size=n))
    towns = draw(st.lists(st.none() | WORDS.map(lambda word: f"t{word}"), min_size=n, max_size=n))
    labels = draw(st.lists(st.none() | st.sampled_from(["x", "y", "é ö"]), min_size=n, max_size=n))
    return ids, edges, sizes, towns, labels


def tables_of(world):
    ids, edges, sizes, towns, labels = world
    from_, to, weights = zip(*edges, strict=True)
    return (
        pa.table({"from": [ids[i] for i in from_], "to": [ids[i] for i in to], "weight": weights}),
        pa.table({
            "id": ids,
            "size": pa.array(sizes, pa.float64()),
            "town": pa.array(towns, pa.string()),
            "label": pa.array(labels, pa.string()),
        }),
    )  # fmt: skip


def csv(table, separator=",", pack=lambda content: content):
    def write(file):
        sink = io.BytesIO()
        options = pa.csv.WriteOptions(delimiter=separator, quoting_style="needed")
        # pyarrow writes a missing text as nothing and "" in quotation marks, as this reader reads it.
        pa.csv.write_csv(table, sink, options)
        file.write_bytes(pack(sink.getvalue()))
        return file

    return write


def parquet(table, pack=lambda content: content):
    def write(file):
        sink = io.BytesIO()
        pq.write_table(table, sink)
        file.write_bytes(pack(sink.getvalue()))
        return file

    return write


FORMATS = {
    ".csv": csv,
    ".tsv": lambda table: csv(table, "\t"),
    ".csv.gz": lambda table: csv(table, pack=gzip.compress),
    ".parquet": parquet,
    ".parquet.gz": lambda table: parquet(table, gzip.compress),
    "pandas": lambda table: lambda file: table.to_pandas(),
    "polars": lambda table: lambda file: polars.from_arrow(table),
    "pyarrow": lambda table: lambda file: table,
}


@pytest.mark.parametrize("kind", FORMATS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(world=worlds())
def test_what_is_written_is_read_back(kind, world, tmp_path_factory):
    ids, edges, sizes, towns, labels = world
    folder = tmp_path_factory.mktemp("tables")
    given_edges, given_nodes = (
        FORMATS[kind](table)(folder / f"{name}{kind}")
        for name, table in zip(("edges", "nodes"), tables_of(world), strict=True)
    )
    tables = read_tables(given_edges, given_nodes)
    wanted = Graph.from_edges([(i, j) for i, j, _ in edges], len(ids), [weight for *_, weight in edges])
    # Whole numbers as text are whole numbers.
    assert [str(one) for one in tables.ids.to_pylist()] == [str(one) for one in ids]
    assert (tables.graph.adjacency != wanted.adjacency).nnz == 0
    assert tables.labels.tolist() == labels
    np.testing.assert_array_equal(
        tables.columns["size"].cast(pa.float64()).to_numpy().astype(np.float32),
        np.array([np.nan if size is None else size for size in sizes], dtype=np.float32),
    )
    assert tables.columns["town"].cast(pa.string()).to_pylist() == towns


@settings(max_examples=20, deadline=None)
@given(world=worlds())
def test_all_formats_give_the_same_graph_as_edges_alone(world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    table, _ = tables_of(world)
    one = read_tables(csv(table)(folder / "edges.csv"))
    other = read_tables(parquet(table)(folder / "edges.parquet"))
    assert one.ids.equals(other.ids) and one.ids.to_pylist() == sorted(one.ids.to_pylist())
    assert (one.graph.adjacency != other.graph.adjacency).nnz == 0


def valid_files():
    edges = pa.table({"source": ["a", "b", "c"] * 4, "target": ["b", "c", "a"] * 4, "weight": [1.0, 2.5, 3.0] * 4})
    nodes = pa.table(
        {"id": ["a", "b", "c"], "size": [1.0, 2.0, None], "text": ["x", "y", "zz"], "label": ["p", "q", None]}
    )
    sink = io.BytesIO()
    pq.write_table(edges, sink)
    text, table = io.BytesIO(), io.BytesIO()
    pa.csv.write_csv(nodes, text)
    pq.write_table(nodes, table)
    graphml = (
        '<graphml><key id="k" for="node" attr.name="size" attr.type="double"><default>2</default></key><graph>'
        '<node id="a"><data key="k">1.5</data></node><node id="b"/><edge source="a" target="b"/></graph></graphml>'
    )
    return {
        "edges.csv": b"source,target,weight\na,b,1\nb,c,2.5\nc,a,3\n" * 1,
        "edges.csv.gz": gzip.compress(b"source,target\na,b\nb,c\n", mtime=0),
        "edges.parquet": sink.getvalue(),
        "nodes.csv": text.getvalue(),
        "nodes.parquet": table.getvalue(),
        "graph.graphml": graphml.encode(),
    }


VALID = valid_files()


def survives(file):
    """Read a file as what it says it is: either it can be read, or the sentence names it."""
    nodes = file.name.startswith("nodes")
    try:
        tables = read_tables(*((None, file) if nodes else (file, None)))
        assert len(tables.ids) == tables.graph.n_nodes == tables.columns.num_rows
        prepared(tables)
        if nodes:
            assert sum(len(ids) for ids, _ in node_blocks(file, {})) >= len(tables.ids)
    except InputError as error:
        assert str(file) in str(error) and "\n" not in str(error) and ";" in str(error)


SHARE = st.floats(0, 1, exclude_max=True)


@pytest.mark.parametrize("name", VALID)
@settings(max_examples=100, deadline=None)
@given(
    changes=st.lists(st.tuples(SHARE, st.integers(0, 4), st.binary(max_size=4)), max_size=3),
    kept=st.just(1.0) | st.just(1.0) | SHARE,
)
def test_a_damaged_file_is_refused_or_read_but_never_crashes(name, changes, kept, tmp_path_factory):
    content = VALID[name]
    for share, removed, new in changes:
        place = int(share * len(content))
        content = content[:place] + new + content[place + removed :]
    file = tmp_path_factory.mktemp("fuzz") / name
    file.write_bytes(content[: int(kept * len(content))])
    survives(file)


@pytest.mark.parametrize("name", [*VALID, "graph.npz"])
@settings(max_examples=40, deadline=None)
@given(content=st.binary(max_size=60) | st.text("a,;\t\n\"'01.é", max_size=40).map(str.encode))
def test_any_bytes_are_refused_or_read_but_never_crash(name, content, tmp_path_factory):
    file = tmp_path_factory.mktemp("fuzz") / name
    file.write_bytes(content)
    survives(file)


def test_valid_files_are_valid(tmp_path):
    for name, content in VALID.items():
        (tmp_path / name).write_bytes(content)
        nodes = name.startswith("nodes")
        assert prepared(read_tables(*((None, tmp_path / name) if nodes else (tmp_path / name, None)))).X.shape[0] > 1
    write_npz(tmp_path / "graph.npz", Graph.from_edges([(0, 1)], 2))
    assert read_tables(tmp_path / "graph.npz").graph.n_edges == 1


def test_a_pandas_index_with_a_meaning_is_a_column():
    nodes = pandas.DataFrame({"size": [1.0, 2.0]}, index=["a", "b"])
    edges = pandas.DataFrame({"u": ["a"], "v": ["b"]})
    assert read_tables(edges, nodes).ids.to_pylist() == ["a", "b"]
