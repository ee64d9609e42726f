"""Whatever bytes are in a model folder: an InputError or the very model, and nothing else."""

import json
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import metapn
from metapn import InputError, MetaPN
from metapn.data.stored import write_stored
from metapn.data.synthetic import contextual_sbm

GRAPH = contextual_sbm(60, n_classes=2, n_features=4, seed=0)
EXAMPLES = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A good model folder, and what its model predicts."""
    folder = tmp_path_factory.mktemp("good")
    y = np.where(np.arange(60) < 20, GRAPH.labels, -1)
    model = MetaPN(max_epochs=2, random_state=0).fit(GRAPH.features, y, graph=GRAPH)
    metapn.save(model, folder)
    return folder, model.predict_proba(GRAPH.features, GRAPH)


def copied(saved, tmp_path):
    folder = tmp_path / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(saved[0], folder)
    return folder


def loads_the_same_or_says_why(folder, expected):
    try:
        model = metapn.load(folder)
    except InputError as error:
        assert "\n" not in str(error) and str(folder) in str(error)
        return
    assert model.predict_proba(GRAPH.features, GRAPH).tobytes() == expected.tobytes()


# A place, what is done there, and with which bytes.
EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from(["replace", "insert", "delete", "cut"]), st.binary(max_size=9)),
    min_size=1,
    max_size=3,
)


def edited(content, edits):
    for where, how, new in edits:
        place = int(where * len(content))
        if how == "cut":
            content = content[:place]
        else:
            gone = {"replace": len(new), "insert": 0, "delete": len(new)}[how]
            content = content[:place] + (b"" if how == "delete" else new) + content[place + gone :]
    return content


@pytest.mark.parametrize("name", ["model.json", "model.safetensors"])
@EXAMPLES
@given(edits=EDITS)
def test_edited_bytes(saved, tmp_path, name, edits):
    folder = copied(saved, tmp_path)
    (folder / name).write_bytes(edited((folder / name).read_bytes(), edits))
    loads_the_same_or_says_why(folder, saved[1])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**20) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@EXAMPLES
@given(data=st.data())
def test_any_description_that_is_sealed_anew(saved, tmp_path, data):
    """The checksums hold, but an entry is not what it was: it is refused, or is of no account to the prediction."""
    folder = copied(saved, tmp_path)
    description = json.loads((folder / "model.json").read_text())
    del description["sha256"]
    inner = data.draw(st.sampled_from([description, description["settings"], description["classes"]]))
    entry = data.draw(st.sampled_from(sorted(inner)))
    inner[entry] = data.draw(JSON)
    kind, version = description.pop("format"), description.pop("version")
    numbers = (folder / "model.safetensors").read_bytes()
    write_stored(folder, "model", description, numbers, format=kind, version=version)
    try:
        model = metapn.load(folder)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert model.predict_proba(GRAPH.features).shape == (60, 2)


@EXAMPLES
@given(edits=EDITS)
def test_any_numbers_that_are_sealed_anew(saved, tmp_path, edits):
    folder = copied(saved, tmp_path)
    description = json.loads((folder / "model.json").read_text())
    del description["sha256"]
    kind, version = description.pop("format"), description.pop("version")
    numbers = edited((folder / "model.safetensors").read_bytes(), edits)
    write_stored(folder, "model", description, numbers, format=kind, version=version)
    try:
        model = metapn.load(folder)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert model.predict_proba(GRAPH.features).shape == (60, 2)
