"""Malformed tables: each is told in one sentence that names file, row where there is one, and remedy."""

import codecs
import gzip
import io
import re
import zipfile

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metapn.data.prepared import prepared
from metapn.data.tables import node_blocks, read_tables
from metapn.errors import InputError

EDGES = "source,target\na,b\nb,c\n"
NODES = "id,size,label\na,1,x\nb,2,y\nc,4,\n"
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">'
    + "".join(f'<!ENTITY lol{n} "{f"&lol{n - 1 or str()};" * 10}">' for n in range(1, 10))
    + "]><graphml><graph><node id='a'/><node id='&lol9;'/></graph></graphml>"
)


def parquet(**columns):
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def npz(**members):
    sink = io.BytesIO()
    np.savez(sink, **members)
    return sink.getvalue()


def graphml(inside, keys=""):
    return f"<graphml>{keys}<graph edgedefault='undirected'>{inside}</graph></graphml>"


def climbing():
    """A zip with a member that would leave the folder it is unpacked in."""
    sink = io.BytesIO(npz(labels=np.array([0, 1])))
    with zipfile.ZipFile(sink, "a") as archive:
        archive.writestr("../../climbed.npy", b"x")
    return sink.getvalue()


NUMBERS = parquet(source=[1, 2, 3], target=[2, 3, 1])
PACKED = gzip.compress(("source,target\n" + "a,b\n" * 5000).encode())
KEY = "<key id='k' for='node' attr.name='size' attr.type='int'/>"
PAIR = {"edges.csv": EDGES, "nodes.csv": NODES}

# What is in the files (the first is --edges, one called nodes is --nodes), more options, and what must be said.
FILES = {
    "no such file": ({"edges.csv": None}, {}, r"edges\.csv: there is no such file; check"),
    "no such node table": ({"edges.csv": EDGES, "nodes.parquet": None}, {}, r"nodes\.parquet: there is no such file"),
    "0 bytes": ({"edges.csv": ""}, {}, r"edges\.csv: the file is empty; give"),
    "empty lines only": ({"edges.csv": "\n\n\n"}, {}, r"edges\.csv: the file is empty; give"),
    "0 bytes of Parquet": ({"edges.parquet": b""}, {}, r"edges\.parquet: this is no Parquet .*; fetch"),
    "0 bytes of GraphML": ({"graph.graphml": b""}, {}, r"graph\.graphml, line 1: .*no element found.*; write"),
    "0 bytes of npz": ({"graph.npz": b""}, {}, r"graph\.npz: this is no npz file.*; fetch"),
    "an unknown suffix": ({"edges.xlsx": b"PK"}, {}, r"edges\.xlsx: a table of type \.xlsx .*; give \.csv"),
    "no suffix": ({"edges": EDGES}, {}, r"edges: a table of type unknown .*; give \.csv"),
    "a spreadsheet called CSV": ({"edges.csv": b"PK\x03\x04...."}, {}, r"edges\.csv: this is a zip .*; save"),
    "Parquet called CSV": ({"edges.csv": NUMBERS}, {}, r"edges\.csv: this is Parquet.*; save"),
    "CSV called Parquet": ({"edges.parquet": EDGES}, {}, r"edges\.parquet: this is no Parquet .*; fetch"),
    "edges with a header only": ({"edges.csv": "source,target\n"}, {}, r"edges\.csv .*no rows; add"),
    "nodes with a header only": (
        {"edges.csv": EDGES, "nodes.csv": "id,size\n"},
        {},
        r"nodes\.csv .*no rows; add a row for each",
    ),
    "one column of edges": ({"edges.csv": "source\na\n"}, {}, r"edges\.csv has one column only \('source'\); give"),
    "a column that is not there": (
        PAIR,
        {"source": "sorce"},
        r"edges\.csv .*'sorce' \(did you mean 'source'\?.*--sou",
    ),
    "a label that is not there": (
        PAIR,
        {"label": "class"},
        r"nodes\.csv .*'class' \(.*'id', 'size', 'label'\); .*--la",
    ),
    "an id that is not there": (
        PAIR,
        {"id": "key"},
        r"nodes\.csv has no column 'key' .*; name one of them with --id",
    ),
    "a feature that is not there": (PAIR, {"features": ["siz"]}, r"nodes\.csv .*did you mean 'size'.*--features"),
    "one column as both ends": (
        PAIR,
        {"source": "source", "target": "source"},
        r"edges\.csv needs two columns .*--source and --target",
    ),
    "one column as id and label": (
        PAIR,
        {"id": "id", "label": "id"},
        r"nodes\.csv: 'id' cannot be id and label.*; name",
    ),
    "the same name twice": ({"edges.csv": "a,b,a\n1,2,3\n"}, {}, r"edges\.csv has two columns called 'a'; rename"),
    "one field too many": ({"edges.csv": EDGES + "c,a,b\n"}, {}, r"edges\.csv, row 3: it has 3 fields .* 2; quote"),
    "one field too few": (
        {"edges.csv": EDGES, "nodes.csv": NODES + "d\n"},
        {},
        r"nodes\.csv, row 4: it has 1 fields .* 3; quote",
    ),
    "an unknown id": (
        {"edges.csv": EDGES + "a,z\nz,b\n", "nodes.csv": NODES},
        {},
        r"edges\.csv, row 3: 'z' in column 'target' is no id of .*nodes\.csv \(nor .* 1 more row\); add .*remove",
    ),
    "leading zeros on one side": (
        {"edges.csv": "s,t\n007,8\n", "nodes.csv": "id,size\n7,1\n8,2\n"},
        {},
        r"row 1: '007' in column 's' is no id",
    ),
    "an edge without an end": (
        {"edges.csv": EDGES + "c,\n"},
        {},
        r"edges\.csv, row 3: column 'target' holds no id; f",
    ),
    "an edge without an end in Parquet": (
        {"edges.parquet": parquet(u=[1.0, np.nan, 2], v=[2, 1, 1])},
        {},
        r"row 2: column 'u' holds no id; fill",
    ),
    "a node without an id": (
        {**PAIR, "nodes.csv": NODES + ",5,x\n"},
        {},
        r"nodes\.csv, row 4: column 'id' holds no id",
    ),
    "ids that are lists": (
        {"edges.parquet": parquet(u=[[1]], v=[[2]])},
        {},
        r"edges\.parquet: column 'u' .*list.*; name",
    ),
    "duplicate ids with other features": (
        {**PAIR, "nodes.csv": NODES + "a,9,x\n"},
        {},
        r"nodes\.csv, row 4: the id 'a' was in row 1 already, with another 'size'; keep",
    ),
    "one class only": (
        {**PAIR, "nodes.csv": NODES.replace("y", "x")},
        {},
        r"nodes\.csv labels 2 nodes, all of the class 'x'; label",
    ),
    "no label": ({**PAIR, "nodes.csv": "id,size,label\na,1,\nb,2,\nc,3,\n"}, {}, r"nodes\.csv labels no node; fill"),
    "no label column": (
        {**PAIR, "nodes.csv": "id,size\na,1\nb,2\nc,3\n"},
        {},
        r"nodes\.csv has no column of labels; na",
    ),
    "labels that are quantities": (
        {**PAIR, "nodes.csv": "id,label\na,1\nb,2.5\nc,\n"},
        {},
        r"column 'label', row 2: the label is 2\.5; classes are",
    ),
    "labels that are lists": (
        {"edges.csv": EDGES, "nodes.parquet": parquet(id=["a", "b", "c"], label=[["x"], [], ["y"]])},
        {},
        r"nodes\.parquet, column 'label' holds labels of type list.*; give text",
    ),
    "Latin-1": (
        {"edges.csv": b"source,target\na,b\nb,M\xfcnchen\n"},
        {},
        r"edges\.csv, row 2: the text is not UTF-8; save",
    ),
    "Latin-1 in a feature": (
        {**PAIR, "nodes.csv": b"id,town,label\na,Ulm,x\nb,K\xf6ln,y\nc,Bonn,\n"},
        {},
        r"nodes\.csv, row 2: the text is not UTF-8; save",
    ),
    "a weight of text behind other columns": (
        {"edges.csv": "day,kind,target,source,weight\n1,2,3,4,5\n1,2,3,4,far\n"},
        {},
        r"edges\.csv, row 2: column 'weight' holds 'far' .*; correct",
    ),
    "Latin-1 in the header": (
        {"edges.csv": b"gr\xfcn,rot\na,b\n"},
        {},
        r"edges\.csv: the names of the columns .*; save",
    ),
    "UTF-16": (
        {"edges.csv": codecs.BOM_UTF16_LE + EDGES.encode("utf-16-le")},
        {},
        r"edges\.csv: this is UTF-16.*; save",
    ),
    "UTF-16 without its mark": ({"edges.csv": EDGES.encode("utf-16-le")}, {}, r"edges\.csv: this is no text.*; save"),
    "an infinite weight": (
        {"edges.csv": "a,b,weight\n1,2,1\n2,3,inf\n"},
        {},
        r"edges\.csv, row 2: the weight in column 'weight' is inf; .*gi",
    ),
    "a weight of NaN": (
        {"edges.parquet": parquet(u=[1, 2], v=[2, 3], w=[1.0, np.nan])},
        {},
        r"row 2: the weight in column 'w' is nan",
    ),
    "a missing weight": ({"edges.csv": "a,b,w\n1,2,\n"}, {}, r"edges\.csv, row 1: the weight .* is missing; .*give"),
    "a negative weight": (
        {"edges.csv": "a,b,w\n1,2,3\n2,1,-3\n"},
        {},
        r"edges\.csv, row 2: the weight .* is -3; .*give",
    ),
    "a weight beyond single precision": (
        {"edges.csv": "a,b,w\n1,2,1e300\n"},
        {},
        r"row 1: the weight .* is 1e\+300; .*g",
    ),
    "a weight of text": (
        {"edges.csv": "a,b,w\n1,2,3\n2,1,far\n"},
        {},
        r"edges\.csv, row 2: column 'w' holds 'far' .*; c",
    ),
    "weights of text in Parquet": (
        {"edges.parquet": parquet(u=[1], v=[2], w=["far"])},
        {},
        r"edges\.parquet: the weights in .* type string; give",
    ),
    "an infinite feature": (
        {**PAIR, "nodes.csv": "id,size,label\na,1,x\nb,inf,y\nc,4,\n"},
        {},
        r"nodes\.csv: column 'size', row 2: .*; correct",
    ),
    "a feature beyond single precision": (
        {**PAIR, "nodes.parquet": parquet(id=["a", "b", "c"], size=[[1.0], [np.inf], [0.0]], label=["x", "y", "y"])},
        {},
        r"nodes\.parquet: column 'size', row 2: the number is infinite.*; correct",
    ),
    "vectors of several lengths": (
        {**PAIR, "nodes.parquet": parquet(id=["a", "b", "c"], v=[[1.0], [1.0, 2.0], [0.0]], label=["x", "y", "y"])},
        {},
        r"nodes\.parquet: column 'v', row 2: the list has 2 numbers where 1 are needed; give lists",
    ),
    "nothing to learn from": (
        {**PAIR, "nodes.csv": "id,size,label\na,1,x\nb,1,y\nc,1,\n"},
        {},
        r"nodes\.csv: no column can be made a feature.*same",
    ),
    "a truncated gzip": ({"edges.csv.gz": PACKED[:-9]}, {}, r"edges\.csv\.gz: it is cut short or damaged; fetch"),
    "a gzip with a wrong byte": (
        {"edges.csv.gz": PACKED[:20] + b"\x00\xff" + PACKED[22:]},
        {},
        r"edges\.csv\.gz.*; (fetch|correct)",
    ),
    "a truncated Parquet": (
        {"edges.parquet": NUMBERS[:-20]},
        {},
        r"edges\.parquet: this is no Parquet.*cut short.*; fe",
    ),
    "a Parquet without its middle": (
        {"edges.parquet": NUMBERS[:40] + NUMBERS[90:]},
        {},
        r"edges\.parquet: this is no Pa",
    ),
    "a truncated gzip of Parquet": (
        {"edges.parquet.gz": gzip.compress(NUMBERS)[:-30]},
        {},
        r"edges\.parquet\.gz: .*cut short or damaged.*; fetch",
    ),
    "a quotation mark that does not end": (
        {"edges.csv": 'source,target\na,"b\nb,c\n'},
        {},
        r"edges\.csv, row 1: column 'target' .*more than one line; close",
    ),
    "a zip that climbs out of its folder": (
        {"graph.npz": climbing()},
        {},
        r"graph\.npz: .*climbed.* leave .*; fetch",
    ),
    "npz with pickled members": (
        {"graph.npz": npz(adj_matrix=np.array([{}]), labels=np.array([None]))},
        {},
        r"graph\.npz: .*; (add|store|write)",
    ),
    "columns named for npz": ({"graph.npz": npz(a=np.ones(2))}, {"label": "y"}, r"--label.*; give one with --nodes"),
    "edge columns named for npz": (
        {"graph.npz": npz(a=np.ones(2))},
        {"source": "s"},
        r"--source.*; give one with --edges",
    ),
    "GraphML with a billion laughs": (
        {"graph.graphml": LAUGHS},
        {},
        r"graph\.graphml, line 1: .*document type.*; remove",
    ),
    "GraphML with an external entity": (
        {"graph.graphml": '<!DOCTYPE g SYSTEM "file:///etc/passwd"><graphml/>'},
        {},
        r"line 1: it declares .*; remove it",
    ),
    "GraphML cut short": (
        {"graph.graphml": graphml("<node id='a'/>")[:-9]},
        {},
        r"graph\.graphml, line 1: .*; write",
    ),
    "GraphML without nodes": (
        {"graph.graphml": graphml("")},
        {},
        r"graph\.graphml, line 1: there are no nodes.*; write",
    ),
    "GraphML with a node without id": (
        {"graph.graphml": graphml("<node/>")},
        {},
        r"line 1: a <node> has no 'id'; write",
    ),
    "GraphML with a wrong number": (
        {"graph.graphml": graphml("<node id='a'>\n<data key='k'>x</data></node>", KEY)},
        {},
        r"graph\.graphml, line 2: attribute 'size' is 'x', which is no int; correct",
    ),
    "GraphML with a huge number": (
        {"graph.graphml": graphml(f"<node id='a'><data key='k'>{10**30}</data></node>", KEY)},
        {},
        r"64 bits; write it as",
    ),
    "GraphML with an unknown key": (
        {"graph.graphml": graphml("<node id='a'><data key='q'>x</data></node>")},
        {},
        r"key 'q', which is not declared; add",
    ),
    "GraphML with an unknown type": (
        {"graph.graphml": graphml("<node id='a'/>", KEY.replace("'int'", "'complex'"))},
        {},
        r"type 'complex'; use one",
    ),
    "GraphML with a hyperedge": ({"graph.graphml": graphml("<node id='a'/><hyperedge/>")}, {}, r"hyperedge; replace"),
    "GraphML with an edge to nowhere": (
        {"graph.graphml": graphml("<node id='a'/><edge source='a' target='b'/>")},
        {},
        r"row 1: 'b' .* is no id .*; add",
    ),
    "GraphML with the same node twice": (
        {"graph.graphml": graphml("<node id='a'><data key='k'>1</data></node><node id='a'/>", KEY)},
        {},
        r"graph\.graphml, row 2: the id 'a' was in row 1 already, with another 'size'; keep",
    ),
}


def said(action):
    with pytest.raises(InputError) as told:
        action()
    sentence = str(told.value)
    assert "\n" not in sentence and ";" in sentence, sentence
    assert not re.search(r"Traceback|0x[0-9a-f]{6}|pyarrow\.lib|<class", sentence), sentence
    return sentence


@pytest.mark.parametrize("case", FILES)
def test_malformed_files_are_told_in_one_sentence(case, tmp_path):
    files, options, pattern = FILES[case]
    for name, content in files.items():
        if content is not None:
            (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    before = sorted(tmp_path.parent.rglob("*"))
    nodes = next((tmp_path / name for name in reversed(files) if name.startswith("nodes")), None)

    def everything():
        tables = read_tables(tmp_path / next(iter(files)), nodes, **options)
        tables.known_labels()
        prepared(tables)

    sentence = said(everything)
    assert re.search(pattern, sentence), sentence
    assert sorted(tmp_path.parent.rglob("*")) == before


PANDAS = pandas.DataFrame({"id": [1, 2], "size": [1.0, 2.0], "label": ["x", "y"]})
CALLS = {
    "nothing at all": (lambda: read_tables(), r"nothing to read; give .*--edges.*--nodes"),
    "columns of nodes that are not given": (
        lambda: read_tables(PANDAS, label="y"),
        r"--label.*; give one with --nodes",
    ),
    "columns of edges that are not given": (lambda: read_tables(None, PANDAS, source="s"), r"--source.*--edges"),
    "something that is no table": (lambda: read_tables([1, 2]), r"the edge table is a list; give a path, or a table"),
    "a frame with columns of one name": (
        lambda: read_tables(pandas.DataFrame([[1, 2]], columns=["a", "a"])),
        r"the edge table has two columns called 'a'",
    ),
    "a frame of mixed types": (
        lambda: read_tables(None, pandas.DataFrame({"id": [1, 2], "size": [1, "x"]})),
        r"the node table .*; give columns of one",
    ),
    "an edge of a frame to nowhere": (
        lambda: read_tables(polars.DataFrame({"u": [1], "v": [9]}), PANDAS),
        r"the edge table, row 1: 9 in .*no id of the node table",
    ),
    "a graph without labels": (
        lambda: read_tables(PANDAS).known_labels(),
        r"the edge table has no column of labels; name",
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_malformed_calls_are_told_in_one_sentence(case):
    action, pattern = CALLS[case]
    assert re.search(pattern, said(action))


def blocks(content, types, **options):
    def action(folder):
        (folder / "new.csv").write_text(content)
        list(node_blocks(folder / "new.csv", types, **options))

    return action


NEW = {
    "a column of the model is missing": (
        blocks("id,a\n1,2\n", {"a": pa.float64(), "b": pa.float64()}),
        r"new\.csv lacks the column 'b', which .*; it has",
    ),
    "text where the model had numbers": (
        blocks("id,a\n1,2\n2,much\n", {"a": pa.float64()}),
        r"new\.csv, row 2: column 'a' holds 'much' .*; correct",
    ),
    "an id that is not there": (blocks("id,a\n1,2\n", {"a": pa.float64()}, id="key"), r"new\.csv .*'key'.*--id"),
    "a header only": (blocks("id,a\n", {"a": pa.float64()}), r"new\.csv .*no rows; add"),
}


@pytest.mark.parametrize("case", NEW)
def test_malformed_new_nodes_are_told_in_one_sentence(case, tmp_path):
    action, pattern = NEW[case]
    assert re.search(pattern, said(lambda: action(tmp_path)))


def test_there_are_enough_cases():
    assert len(FILES) + len(CALLS) + len(NEW) >= 80
