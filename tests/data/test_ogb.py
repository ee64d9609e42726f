import gzip
import io
import zipfile

import numpy as np
import pytest

from metapn.data.ogb import read_ogb
from metapn.errors import InputError

RANDOM = np.random.default_rng(0)
FEATURES = RANDOM.standard_normal((6, 3)).astype(np.float32)
LABELS = np.array([0, 2, 1, 1, 0, 2])
# Six citations: 0 and 1 cite each other, and 5 cites itself.
EDGES = np.array([[0, 1], [1, 0], [1, 2], [3, 2], [4, 5], [5, 5]])


def tables():
    return {
        "raw/edge.csv.gz": EDGES,
        "raw/node-feat.csv.gz": FEATURES,
        "raw/node-label.csv.gz": LABELS[:, None],
        "raw/node_year.csv.gz": np.full((6, 1), 2015),
        "raw/num-node-list.csv.gz": np.array([[6]]),
        "raw/num-edge-list.csv.gz": np.array([[6]]),
        "split/time/train.csv.gz": np.array([[0], [3]]),
        "split/time/valid.csv.gz": np.array([[5], [1]]),
        "split/time/test.csv.gz": np.array([[2], [4]]),
    }


def packed(table):
    if isinstance(table, bytes):
        return table
    text = io.StringIO()
    np.savetxt(text, table, fmt="%.9g", delimiter=",")
    return gzip.compress(text.getvalue().encode())


def publish(file, contents, root="arxiv/"):
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(root + "RELEASE_v1.txt", "")
        for name, table in contents.items():
            archive.writestr(root + name, packed(table))
    return file


@pytest.fixture
def published(tmp_path):
    return publish(tmp_path / "arxiv.zip", tables())


def check(graph):
    assert graph.n_edges == 4
    assert graph.adjacency.toarray()[0].tolist() == [0, 1, 0, 0, 0, 0]
    np.testing.assert_array_equal(graph.features, FEATURES)
    assert graph.features.dtype == np.float32
    np.testing.assert_array_equal(graph.labels, LABELS)
    assert {part: nodes.tolist() for part, nodes in graph.official_split.items()} == {
        "train": [0, 3],
        "valid": [5, 1],
        "test": [2, 4],
    }


def test_the_published_zip_is_read_in_place(published, tmp_path):
    check(read_ogb(published))
    assert [path.name for path in tmp_path.iterdir()] == ["arxiv.zip"]


def test_the_unpacked_folder_is_read_too(published, tmp_path):
    with zipfile.ZipFile(published) as archive:
        archive.extractall(tmp_path / "unpacked")
    check(read_ogb(tmp_path / "unpacked" / "arxiv"))


def test_a_member_that_points_outside_is_written_nowhere(tmp_path):
    folder = tmp_path / "inner"
    folder.mkdir()
    check(read_ogb(publish(folder / "arxiv.zip", tables() | {"../../../escaped.csv.gz": LABELS})))
    assert [path.name for path in tmp_path.rglob("*")] == ["inner", "arxiv.zip"]


WRONG = {
    "edges missing": ("raw/edge.csv.gz", None),
    "edges fewer than counted": ("raw/num-edge-list.csv.gz", np.array([[9]])),
    "edge to nowhere": ("raw/edge.csv.gz", np.full((6, 2), 6)),
    "three columns of text": ("raw/edge.csv.gz", gzip.compress(b"a,b,c\n")),
    "rows of unequal length": ("raw/node-feat.csv.gz", gzip.compress(b"1,2\n3\n")),
    "not gzipped": ("raw/edge.csv.gz", b"0,1\n"),
    "gzip cut short": ("raw/node-feat.csv.gz", packed(FEATURES)[:-9]),
    "labels missing": ("raw/node-label.csv.gz", LABELS[:4, None]),
    "split names a node twice": ("split/time/test.csv.gz", np.array([[0]])),
    "split out of range": ("split/time/test.csv.gz", np.array([[6]])),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("unpack", [False, True], ids=["zip", "folder"])
def test_what_is_not_as_published_is_told_in_one_sentence(case, unpack, tmp_path):
    name, table = WRONG[case]
    contents = {key: value for key, value in (tables() | {name: table}).items() if value is not None}
    place = publish(tmp_path / "arxiv.zip", contents)
    if unpack:
        with zipfile.ZipFile(place) as archive:
            archive.extractall(tmp_path)
        place = tmp_path / "arxiv"
    with pytest.raises(InputError) as told:
        read_ogb(place)
    assert str(told.value).startswith(str(place))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("content", [b"", b"not a zip"])
def test_a_file_that_is_no_zip_is_told_in_one_sentence(content, tmp_path):
    (tmp_path / "arxiv.zip").write_bytes(content)
    with pytest.raises(InputError, match=r"arxiv\.zip is not what OGB publishes"):
        read_ogb(tmp_path / "arxiv.zip")
