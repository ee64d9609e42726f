import os
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from metapn.data.npz import read_npz, standardise, write_npz
from metapn.errors import InputError
from metapn.graph import Graph

PATH = Graph.from_edges([(0, 1, 0.5), (1, 2, 2.0)], n_nodes=4)


def members(**changes):
    """The members of a small good file, with some replaced; None leaves one out."""
    adjacency = sparse.csr_array(PATH.adjacency)
    good = {
        f"adj_matrix.{part}": np.asarray(getattr(adjacency, part)) for part in ("data", "indices", "indptr", "shape")
    }
    features = sparse.csr_array(np.eye(4, 3))
    good |= {
        f"attr_matrix.{part}": np.asarray(getattr(features, part)) for part in ("data", "indices", "indptr", "shape")
    }
    good |= {"labels": np.array([0, 1, -1, 1])}
    good |= {name.replace("__", "."): value for name, value in changes.items()}
    return {name: value for name, value in good.items() if value is not None}


def same(one, other):
    assert (one.adjacency != other.adjacency).nnz == 0
    assert sparse.issparse(one.features) == sparse.issparse(other.features)
    if one.features is None or other.features is None:
        assert one.features is other.features
    else:
        assert one.features.shape == other.features.shape
        dense = [x.toarray() if sparse.issparse(x) else x for x in (one.features, other.features)]
        np.testing.assert_array_equal(*dense)
    assert (one.labels is None) == (other.labels is None)
    if one.labels is not None:
        np.testing.assert_array_equal(one.labels, other.labels)
    assert one.class_names == other.class_names


@st.composite
def graphs(draw):
    n_nodes = draw(st.integers(1, 8))
    node = st.integers(0, n_nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=20))
    weights = draw(st.lists(st.floats(0, 100, width=32), min_size=len(edges), max_size=len(edges)))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    features = random.random((n_nodes, 3)).astype(np.float32).round(1)
    kind = draw(st.sampled_from(["none", "dense", "sparse"]))
    labels = draw(st.none() | st.just(random.integers(-1, 3, n_nodes)))
    return Graph.from_edges(
        edges,
        n_nodes,
        weights,
        features={"none": None, "dense": features, "sparse": sparse.csr_array(features)}[kind],
        labels=labels,
        class_names=draw(st.sampled_from([(), ("a", "bé", "c")])),
    )


@settings(max_examples=50, deadline=None)
@given(graph=graphs())
def test_what_is_written_is_read_back(graph, tmp_path_factory):
    file = tmp_path_factory.mktemp("npz") / "graph.npz"
    write_npz(file, graph)
    again = read_npz(file)
    same(again, graph)
    assert again.name == "graph"
    assert [path.name for path in file.parent.iterdir()] == ["graph.npz"]


@settings(max_examples=80, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255), cut=st.booleans())
def test_a_damaged_file_is_refused_or_read_but_never_crashes(place, byte, cut, tmp_path_factory):
    file = tmp_path_factory.mktemp("npz") / "graph.npz"
    write_npz(file, PATH)
    content = bytearray(file.read_bytes())
    spot = int(place * len(content))
    content = content[:spot] if cut else content[:spot] + bytes([byte]) + content[spot + 1 :]
    file.write_bytes(content)
    try:
        read_npz(file)
    except InputError as error:
        assert str(file) in str(error)


# What is changed in a good file, and a word the sentence must hold.
MALFORMED = {
    "no adjacency": (
        {f"adj_matrix__{part}": None for part in ("data", "indices", "indptr", "shape")},
        "adj_matrix",
    ),
    "one member missing": ({"adj_matrix__indptr": None}, "adj_matrix.indptr is missing"),
    "feature member missing": ({"attr_matrix__shape": None}, "attr_matrix.shape is missing"),
    "object array": ({"labels": np.array([0, None, 1, 1], dtype=object)}, "Python objects"),
    "object weights": ({"adj_matrix__data": np.array([1, None, 1, 1], dtype=object)}, "Python objects"),
    "not square": ({"adj_matrix__shape": np.array([4, 5])}, "4 rows and 5 columns"),
    "shape of three": ({"adj_matrix__shape": np.array([4, 4, 4])}, "shape is"),
    "negative shape": ({"adj_matrix__shape": np.array([-4, -4])}, "shape is"),
    "rows missing": ({"adj_matrix__shape": np.array([9, 9])}, "indptr has 5 entries for 9 rows"),
    "no nodes": (
        {
            "adj_matrix__data": np.zeros(0),
            "adj_matrix__indices": np.zeros(0, int),
            "adj_matrix__indptr": np.zeros(1, int),
            "adj_matrix__shape": np.zeros(2, int),
            "labels": None,
        },
        "empty",
    ),
    "index too large": ({"adj_matrix__indices": np.array([1, 0, 9, 1])}, "0 to 9"),
    "index negative": ({"adj_matrix__indices": np.array([1, 0, -2, 1])}, "-2"),
    "index of float": ({"adj_matrix__indices": np.array([1.0, 0, 2, 1])}, "whole numbers"),
    "indices too few": ({"adj_matrix__indices": np.array([1, 0])}, "indices 2"),
    "indptr falls": ({"adj_matrix__indptr": np.array([0, 3, 1, 4, 4])}, "decreases"),
    "indptr starts late": ({"adj_matrix__indptr": np.array([1, 1, 3, 4, 4])}, "indptr 1 to 4"),
    "data in rows": ({"adj_matrix__data": np.ones((2, 2))}, "shape (2, 2)"),
    "weights of text": ({"adj_matrix__data": np.array(["a", "b", "c", "d"])}, "not numbers"),
    "complex weights": ({"adj_matrix__data": np.ones(4, complex)}, "not numbers"),
    "negative weight": ({"adj_matrix__data": np.array([-1.0, 1, 1, 1])}, "negative"),
    "weight not finite": ({"adj_matrix__data": np.array([np.nan, 1, 1, 1])}, "not finite"),
    "weight beyond single": ({"adj_matrix__data": np.array([1e300, 1, 1, 1])}, "not finite"),
    "features too few": ({"attr_matrix": np.eye(3, dtype=np.float32)}, "3 rows"),
    "features in one row": ({"attr_matrix": np.ones(4)}, "shape (4,)"),
    "features of text": ({"attr_matrix": np.array([["a"]] * 4)}, "not numbers"),
    "features not finite": ({"attr_matrix": np.full((4, 2), np.inf)}, "not finite"),
    "labels too few": ({"labels": np.array([0, 1])}, "2 rows"),
    "labels in columns": ({"labels": np.eye(4)}, "shape (4, 4)"),
    "labels of text": ({"labels": np.array(["a", "b", "c", "d"])}, "labels"),
    "labels not whole": ({"labels": np.array([0, 0.5, 1, 1])}, "0.5 for node 1"),
    "labels not finite": ({"labels": np.array([0, 1, 1, np.nan])}, "nan for node 3"),
    "labels below -1": ({"labels": np.array([0, 1, -2, 1])}, "-2 for node 2"),
    "too few names": ({"class_names": np.array(["one"])}, "2 classes"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_members_are_told_in_one_sentence(case, tmp_path):
    changes, word = MALFORMED[case]
    file = tmp_path / "bad.npz"
    np.savez(file, **members(**changes))
    with pytest.raises(InputError) as told:
        read_npz(file)
    sentence = str(told.value)
    assert sentence.startswith(f"{file}: ")
    assert word in sentence
    assert ";" in sentence and "\n" not in sentence


def raw_member(file, name, content):
    np.savez(file, **members(labels=None))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(name, content)


NO_NPZ = {
    "empty": lambda file: file.write_bytes(b""),
    "text": lambda file: file.write_text("node,label\n0,1\n"),
    "a pickle": lambda file: file.write_bytes(pickle.dumps({"adj": 1})),
    "a single array": lambda file: np.save(file.open("wb"), np.eye(3)),
    "cut short": lambda file: (write_npz(file, PATH), file.write_bytes(file.read_bytes()[:-40])),
    "nothing there": lambda file: None,
    "a folder": lambda file: file.mkdir(),
    "a zip of text": lambda file: zipfile.ZipFile(file, "w").writestr("edges.csv", "0,1"),
    "a member that is no array": lambda file: raw_member(file, "labels", b"0,1,1,1"),
    "a member that claims more": lambda file: raw_member(
        file,
        "labels.npy",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (99,), }".ljust(127) + b"\n",
    ),
}


@pytest.mark.parametrize("case", NO_NPZ)
def test_a_file_that_is_no_graph_is_told_in_one_sentence(case, tmp_path):
    file = tmp_path / "bad.npz"
    NO_NPZ[case](file)
    with pytest.raises(InputError) as told:
        read_npz(file)
    assert str(told.value).startswith(f"{file}: ")
    assert "\n" not in str(told.value)


class Trap:
    """An object that makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_nothing_is_ever_unpickled(tmp_path):
    sprung = tmp_path / "sprung"
    trap = np.array([Trap(sprung)] * 2, dtype=object)
    np.savez(tmp_path / "trap.npz", **members(metadata=trap, class_names=trap))
    graph = read_npz(tmp_path / "trap.npz")
    assert graph.class_names == ()
    np.savez(tmp_path / "trap.npz", **members(labels=trap))
    with pytest.raises(InputError, match="never loaded"):
        read_npz(tmp_path / "trap.npz")
    assert not sprung.exists()


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.float64, np.bool_])
def test_whole_labels_of_any_type_are_read(kind, tmp_path):
    np.savez(tmp_path / "graph.npz", **members(labels=np.array([0, 1, 1, 0], dtype=kind)))
    labels = read_npz(tmp_path / "graph.npz").labels
    assert labels.dtype == np.int64
    assert labels.tolist() == [0, 1, 1, 0]


def test_everything_but_the_edges_may_be_left_out(tmp_path):
    only = {name: value for name, value in members().items() if name.startswith("adj_matrix")}
    np.savez(tmp_path / "graph.npz", **only)
    graph = read_npz(tmp_path / "graph.npz")
    assert graph.labels is None and graph.features is None
    same(graph, PATH)


def test_a_directed_file_counts_in_both_directions_if_asked_to(tmp_path):
    directed = sparse.csr_array(np.array([[0.0, 3, 0], [1, 5, 0], [0, 2, 0]]))
    parts = {
        f"adj_matrix.{part}": np.asarray(getattr(directed, part)) for part in ("data", "indices", "indptr", "shape")
    }
    np.savez(tmp_path / "graph.npz", **parts)
    graph = read_npz(tmp_path / "graph.npz", either_way=True)
    assert graph.adjacency.toarray().tolist() == [[0, 3, 0], [3, 0, 2], [0, 2, 0]]
    with pytest.raises(InputError, match="not symmetric"):
        read_npz(tmp_path / "graph.npz")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "graph.npz"
    write_npz(file, PATH)
    before = file.read_bytes()

    def full(handle, **_):
        handle.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(InputError, match="No space left"):
        write_npz(file, PATH)
    assert file.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(InputError, match="cannot be written"):
        write_npz(tmp_path / "nowhere" / "graph.npz", PATH)


def test_standardising_takes_the_largest_component_in_order_and_forgets_weights():
    graph = Graph.from_edges(
        [(0, 4, 3.0), (4, 2, 5.0), (1, 3, 9.0)],
        n_nodes=6,
        features=np.arange(6, dtype=np.float32)[:, None],
        labels=np.array([0, 1, 2, 3, 4, 5]),
        official_split={"train": np.array([0])},
    )
    small = standardise(graph)
    assert small.labels.tolist() == [0, 2, 4]
    assert small.features.ravel().tolist() == [0, 2, 4]
    assert small.adjacency.toarray().tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert small.official_split is None


def test_of_two_largest_components_the_last_is_taken():
    graph = Graph.from_edges([(0, 1), (2, 3)], n_nodes=5, labels=np.arange(5))
    assert standardise(graph).labels.tolist() == [2, 3]
