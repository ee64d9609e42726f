"""Whatever is wrong: one sentence that names the file, the row and the remedy; exit code 2; nothing half-written.

Each case starts from good files and a good run, breaks one thing, and gives a command line. The words that must
be in the sentence are the case's own.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from metapn import InputError
from metapn.data.stored import write_stored

FIT = ("fit", "--edges", "edges.csv", "--nodes", "nodes.csv", "--out", "new-run")
PREDICT = ("predict", "run", "--nodes", "new.csv", "--out", "labels.csv")
EXPORT = ("export", "run", "--onnx", "model.onnx")


@pytest.fixture
def place(own, tmp_path, monkeypatch):
    """A folder of good files, in which the command is given."""
    for name in ("edges.csv", "nodes.csv", "nodes.parquet"):
        shutil.copy(own.folder / name, tmp_path / name)
    shutil.copytree(own.run, tmp_path / "run")
    pa.csv.write_csv(own.nodes.drop_columns("label"), tmp_path / "new.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    """All files below a folder, with what is in them."""
    return {str(path.relative_to(folder)): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


def change(name, edit):
    """Edit a file as text."""
    return lambda place: (place / name).write_text(edit((place / name).read_text()))


def keep(name, n_bytes):
    """Cut a file."""
    return lambda place: (place / name).write_bytes((place / name).read_bytes()[:n_bytes])


def write(name, content):
    return lambda place: (place / name).write_bytes(content)


def remove(name):
    return lambda place: (place / name).unlink()


def describe(stem, **entries):
    """Change entries of a description and seal it anew, as whoever means harm would."""

    def apply(place):
        folder = place / "run"
        described = json.loads((folder / f"{stem}.json").read_text()) | entries
        del described["sha256"]
        kind, version = described.pop("format"), described.pop("version")
        numbers = (folder / f"{stem}.safetensors").read_bytes()
        write_stored(folder, stem, described, numbers, format=kind, version=version)

    return apply


def header(stem, claim):
    """Put another header before the numbers of a safetensors file, and seal it."""

    def apply(place):
        folder = place / "run"
        described = json.loads((folder / f"{stem}.json").read_text())
        del described["sha256"]
        kind, version = described.pop("format"), described.pop("version")
        text = json.dumps(claim).encode()
        numbers = len(text).to_bytes(8, "little") + text + b"\0" * 64
        write_stored(folder, stem, described, numbers, format=kind, version=version)

    return apply


def without(*columns):
    def apply(place):
        pa.csv.write_csv(pa.csv.read_csv(place / "new.csv").drop_columns(list(columns)), place / "new.csv")

    return apply


def parquet(**columns):
    """Write new.parquet, with other columns."""

    def apply(place):
        table = pa.csv.read_csv(place / "new.csv")
        for name, values in columns.items():
            table = table.set_column(table.column_names.index(name), name, pa.array(values))
        pa.parquet.write_table(table, place / "new.parquet")

    return apply


def nothing(place):
    """Leave all as it is: the command line itself is wrong."""


BEYOND = {"network.W": {"dtype": "F32", "shape": [9, 9], "data_offsets": [0, 10**9]}}
HUGE = {"network.W": {"dtype": "F32", "shape": [2**62, 2**62], "data_offsets": [0, 64]}}

CASES = {
    # the labels
    "a label outside the declared set": (
        nothing,
        (*FIT, "--classes", "churn,grow"),
        r"nodes\.csv, row \d+: .*'stay'",
    ),
    "a declared class without a label": (nothing, (*FIT, "--classes", "churn,grow,stay,go"), "no node 'go'"),
    "no label column": (nothing, (*FIT, "--label", "klass"), "nodes.csv has no column 'klass'"),
    "labels of one class": (
        change("nodes.csv", lambda text: text.replace('"grow"', '"churn"').replace('"stay"', '"churn"')),
        FIT,
        "second class",
    ),
    "a share of an unknown class": (nothing, (*FIT, "--class-prior", "churn=0.5,nobody=0.5"), "nobody|class"),
    "shares that are no numbers": (nothing, (*FIT, "--class-prior", "churn=much"), "--class-prior churn=much"),
    "shares that are no pairs": (nothing, (*FIT, "--class-prior", "0.5"), "--class-prior 0.5"),
    # the tables
    "unknown features": (nothing, (*FIT, "--features", "x0,age"), "nodes.csv has no column 'age'"),
    "no such id column": (nothing, (*FIT, "--id", "number"), "nodes.csv has no column 'number'"),
    "no tables at all": (nothing, ("fit", "--out", "new-run"), "--edges.*--nodes"),
    "edges given twice": (nothing, (*FIT[:1], "graph.npz", *FIT[1:]), "graph.npz.*edges.csv"),
    "a table that is not there": (nothing, ("fit", "--nodes", "nowhere.csv", "--out", "new-run"), "nowhere.csv"),
    "an infinite number": (
        change("nodes.csv", lambda text: re.sub(r'^("c\d+"),[^,]*', r"\1,inf", text, count=1, flags=re.MULTILINE)),
        FIT,
        "nodes.csv.*'x0', row 1",
    ),
    # the output
    "an output folder that exists": (nothing, (*FIT[:-1], "run"), "run is there already.*--overwrite"),
    "an output that is a file": (nothing, (*FIT[:-1], "new.csv"), "new.csv is there and is no folder"),
    "an output below a file": (nothing, (*FIT[:-1], "new.csv/run"), "new.csv/run cannot be written"),
    "overwriting what is no run": (
        lambda place: (place / "thesis").mkdir(),
        (*FIT[:-1], "thesis", "--overwrite"),
        "thesis is no run folder",
    ),
    "labels of no known format": (nothing, (*PREDICT[:-1], "labels.xlsx"), r"labels\.xlsx.*\.parquet or \.csv"),
    "labels in no folder": (nothing, (*PREDICT[:-1], "none/labels.csv"), "none/labels.csv cannot be written"),
    "labels in place of a folder": (
        lambda place: (place / "labels.csv").mkdir(),
        PREDICT,
        "labels.csv is there and is no file",
    ),
    "labels in place of a device": (
        lambda place: (place / "null.csv").symlink_to(os.devnull),
        (*PREDICT[:-1], "null.csv"),
        "null.csv is there and is no file",
    ),
    "an ONNX file in no folder": (nothing, (*EXPORT[:-1], "none/model.onnx"), "none/model.onnx cannot be written"),
    # the model
    "no model folder": (nothing, ("predict", "walk", *PREDICT[2:]), "walk/model.json does not exist"),
    "a folder that is no model": (
        lambda place: (place / "walk").mkdir(),
        ("export", "walk", *EXPORT[2:]),
        "walk/model.json does not exist",
    ),
    "a model that is a file": (nothing, ("predict", "new.csv", *PREDICT[2:]), "new.csv/model.json cannot be read"),
    "an empty description": (keep("run/model.json", 0), PREDICT, "run/model.json cannot be read as JSON"),
    "a truncated description": (keep("run/model.json", 300), PREDICT, "run/model.json cannot be read as JSON"),
    "empty weights": (keep("run/model.safetensors", 0), PREDICT, "run/model.safetensors.*weights"),
    "truncated weights": (keep("run/model.safetensors", 1000), PREDICT, "run/model.safetensors.*weights"),
    "no weights": (remove("run/model.safetensors"), EXPORT, "run/model.safetensors.*cannot be read"),
    "a model of a newer version": (describe("model", version=7), PREDICT, "version 7.*update"),
    "a pipeline of a newer version": (describe("pipeline", version=7), EXPORT, "run/pipeline.json.*version 7"),
    "a header that reaches beyond the file": (header("model", BEYOND), PREDICT, "run/model.safetensors.*weights"),
    "a header of shapes beyond all memory": (header("model", HUGE), PREDICT, "run/model.safetensors.*weights"),
    "a header of another model": (header("model", {}), EXPORT, "run/model.safetensors.*weights"),
    "weights of another byte": (
        lambda place: write("run/model.safetensors", (place / "run/model.safetensors").read_bytes()[:-1] + b"!")(
            place
        ),
        PREDICT,
        "checksum",
    ),
    "a method of another package": (describe("model", method="os:system"), PREDICT, "os is not a part of metapn"),
    "a method that is none": (describe("model", method="metapn.cli:main"), PREDICT, "is not a method"),
    "an impossible setting": (describe("model", settings={"hidden": -1}), PREDICT, "hidden must be"),
    "a description edited by hand": (
        change("run/model.json", lambda text: text.replace('"alpha": 0.1', '"alpha": 0.9')),
        PREDICT,
        "run/model.json is not what was written",
    ),
    "an encoder of no sense": (
        describe("pipeline", encoder={"version": 1, "sparse": False}),
        PREDICT,
        "fit the model",
    ),
    "a calibration of no sense": (describe("pipeline", calibration={"transduction": 0}), PREDICT, "fit the model"),
    "a truncated pipeline": (keep("run/pipeline.json", 99), EXPORT, "run/pipeline.json cannot be read as JSON"),
    "an empty pipeline": (keep("run/pipeline.safetensors", 0), PREDICT, "run/pipeline.safetensors"),
    # the nodes to label
    "a missing column": (without("x1"), PREDICT, "new.csv lacks the column 'x1'"),
    "several missing columns": (without("x1", "town"), PREDICT, "new.csv lacks the columns 'x1', 'town'"),
    "words in a column of numbers": (
        change("new.csv", lambda text: "\n".join((*text.splitlines()[:3], '"c1",many,1,1,1,"Ulm",true'))),
        PREDICT,
        "new.csv.*(many|x0)",
    ),
    "a column of another type": (
        parquet(x0=["a"] * 120),
        (*PREDICT[:3], "new.parquet", *PREDICT[4:]),
        "new.parquet.*'x0'",
    ),
    "lists in a column of numbers": (
        parquet(x0=[[1.0]] * 120),
        (*PREDICT[:3], "new.parquet", *PREDICT[4:]),
        "new.parquet.*'x0'",
    ),
    "numbers that are infinite": (
        parquet(x0=np.full(120, np.inf)),
        (*PREDICT[:3], "new.parquet", *PREDICT[4:]),
        "new.parquet.*'x0', row 1",
    ),
    "a table without rows": (
        change("new.csv", lambda text: text.splitlines()[0] + "\n"),
        PREDICT,
        "new.csv.*no rows",
    ),
    "an empty table": (keep("new.csv", 0), PREDICT, "new.csv"),
    "a truncated Parquet file": (
        keep("nodes.parquet", 700),
        (*PREDICT[:3], "nodes.parquet", *PREDICT[4:]),
        "nodes.parquet.*Parquet",
    ),
    "no such id": (nothing, (*PREDICT, "--id", "number"), "new.csv has no column 'number'"),
    "edges of unknown nodes": (
        change("edges.csv", lambda text: text + '"c1","nobody"\n'),
        (*PREDICT, "--edges", "edges.csv"),
        "edges.csv.*'(c1|nobody)'",
    ),
    "edges without nodes": (nothing, ("predict", "run", "--edges", "edges.csv", "--out", "labels.csv"), "x0|columns"),
    "no nodes at all": (nothing, ("predict", "run", "--out", "labels.csv"), "--nodes"),
    "a matrix for a model of columns": (
        lambda place: np.savez(place / "graph.npz", **matrix()),
        ("predict", "run", "graph.npz", "--out", "labels.csv"),
        "graph.npz.*missing",
    ),
}


def matrix():
    data = {
        "data": np.ones(2, np.float32),
        "indices": np.array([1, 0]),
        "indptr": np.array([0, 1, 2]),
        "shape": (2, 2),
    }
    return {f"adj_matrix.{part}": np.array(value) for part, value in data.items()} | {"attr_matrix": np.eye(2)}


@pytest.mark.parametrize("case", CASES)
def test_wrong_input_is_one_sentence_and_leaves_everything_as_it_was(metapn, place, case):
    breaks, line, words = CASES[case]
    breaks(place)
    before = contents(place)
    code, out, err = metapn(*line)
    assert code == 2, (code, out, err)
    assert err.startswith("Error: ") and err.count("\n") == 1 and "Traceback" not in out + err, err
    assert re.search(words, err), err
    assert contents(place) == before


def test_there_are_cases_enough():
    assert len(CASES) >= 35


def limited(*line, n_bytes):
    """Run a real process that may write no file larger than so many bytes: for it the disk is full."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))

    command = [sys.executable, "-B", "-c", "from metapn.cli import main; main()", *line]
    return subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("line", "n_bytes"), [((*FIT, "--no-calibrate"), 2000), (PREDICT, 1000)], ids=["fit", "predict"]
)
def test_a_full_disk_in_a_real_process(place, line, n_bytes):
    before = contents(place)
    done = limited(*line, n_bytes=n_bytes)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("Error: ") and done.stderr.count("\n") == 1, done.stderr
    assert "cannot be written (File too large" in done.stderr and line[-1 if line == PREDICT else 6] in done.stderr
    assert contents(place) == before


def test_a_folder_that_may_not_be_written(metapn, place, monkeypatch):
    """Told by the system (whoever runs the tests as root may write everywhere)."""

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("metapn.deploy.run_folder.tempfile.mkdtemp", refuse)
    before = contents(place)
    code, _, err = metapn(*FIT)
    assert code == 2 and "new-run cannot be written (Permission denied); choose another place" in err
    assert contents(place) == before


def test_debug_shows_where_an_error_comes_from(metapn, place):
    with pytest.raises(InputError, match="nowhere"):
        metapn("--debug", "predict", "nowhere", *PREDICT[2:])
