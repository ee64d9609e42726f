import json

import numpy as np
import pytest

import metapn
from metapn import InputError, MetaPN
from metapn.data.stored import write_stored
from metapn.data.synthetic import contextual_sbm

GRAPH = contextual_sbm(120, n_classes=3, n_features=6, separation=2.0, seed=4)


def fitted(labels=None, **settings):
    y = np.array([None] * 120, dtype=object)
    names = GRAPH.labels if labels is None else np.array(labels, dtype=object)[GRAPH.labels]
    y[:40] = names[:40]
    return MetaPN(max_epochs=5, random_state=0, **settings).fit(GRAPH.features, y, graph=GRAPH)


@pytest.mark.parametrize("labels", [None, ["a", "b", "c"], [10, 20, 30], [True, False, True]], ids=str)
@pytest.mark.parametrize("settings", [{}, {"propagator": "paper", "final": "transformer"}, {"propagator": "static"}])
def test_a_loaded_model_predicts_the_same_bits(tmp_path, labels, settings):
    model = fitted(labels, **settings)
    metapn.save(model, tmp_path)
    again = metapn.load(tmp_path)
    assert again.get_params() == model.get_params()
    assert again.classes_.tolist() == model.classes_.tolist()
    assert type(again.classes_.tolist()[0]) is type(model.classes_.tolist()[0])
    for graph in (None, GRAPH):
        one, two = (m.predict_proba(GRAPH.features, graph).tobytes() for m in (model, again))
        assert one == two
    assert again.embed(GRAPH.features).tobytes() == model.embed(GRAPH.features).tobytes()


def test_the_loaded_model_equals_the_fit_on_the_training_graph(tmp_path):
    model = fitted()
    metapn.save(model, tmp_path)
    again = metapn.load(tmp_path).predict_proba(GRAPH.features, GRAPH)
    assert again.tobytes() == model.label_distributions_.tobytes()


def test_settings_that_numpy_or_this_machine_made_are_stored_as_plain_ones(tmp_path):
    model = fitted(n_hops=np.int64(3), alpha=np.float32(0.25), balance=np.bool_(False), device="cpu")
    metapn.save(model, tmp_path)
    settings = metapn.load(tmp_path).get_params()
    assert (settings["n_hops"], settings["alpha"], settings["balance"], settings["device"]) == (
        3,
        0.25,
        False,
        "auto",
    )


def change(**entries):
    """Change entries of the description, and seal it anew, as whoever means harm would."""

    def apply(folder):
        path = folder / "model.json"
        description = json.loads(path.read_text()) | entries
        del description["sha256"]
        numbers = (folder / "model.safetensors").read_bytes()
        kind, version = description.pop("format"), description.pop("version")
        write_stored(folder, "model", description, numbers, format=kind, version=version)

    return apply


def flip(name, place):
    """Change one bit of a file."""

    def apply(folder):
        content = bytearray((folder / name).read_bytes())
        content[place] ^= 1
        (folder / name).write_bytes(content)

    return apply


def cut(name, keep):
    def apply(folder):
        path = folder / name
        path.write_bytes(path.read_bytes()[:keep])

    return apply


DAMAGE = {
    "no description": (lambda folder: (folder / "model.json").unlink(), "does not exist"),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), "weights"),
    "empty description": (cut("model.json", 0), "JSON"),
    "cut description": (cut("model.json", 100), "JSON"),
    "empty weights": (cut("model.safetensors", 0), "weights"),
    "cut weights": (cut("model.safetensors", 500), "weights"),
    "header of lies": (lambda folder: (folder / "model.safetensors").write_bytes(b"\xff" * 64), "weights"),
    "not a model": (change(format="other"), "not a metapn model"),
    "from the future": (change(version=99), "format version 99"),
    "no version": (change(version=None), "format version"),
    "foreign method": (change(method="os:system"), "describe"),
    "no method": (change(method="metapn.graph:Graph"), "describe"),
    "unknown setting": (change(settings={"no_such": 1}), "describe"),
    "other width": (change(n_features=5), "weights"),
    "a width beyond all memory": (change(n_features=10**15), "weights"),
    "an impossible setting": (change(settings={"hidden": 0}), "describe.*hidden"),
    "one class": (change(classes={"type": "<U1", "values": ["a"]}), "describe"),
    "classes that are objects": (change(classes={"type": "O", "values": ["a", "b"]}), "describe"),
    "a bit of a weight": (flip("model.safetensors", -1), "checksum"),
    "a bit of the description": (flip("model.json", 200), "checksum|JSON"),
    "a list": (lambda folder: (folder / "model.json").write_text("[]"), "not a metapn model"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_model_is_told_in_one_sentence(tmp_path, case):
    metapn.save(fitted(), tmp_path)
    damage, word = DAMAGE[case]
    damage(tmp_path)
    with pytest.raises(InputError, match=word) as caught:
        metapn.load(tmp_path)
    assert "\n" not in str(caught.value) and str(tmp_path) in str(caught.value)


def test_nothing_is_pickled(tmp_path):
    metapn.save(fitted(["a", "b", "c"]), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "model.safetensors"]
    description = json.loads((tmp_path / "model.json").read_text())
    assert description["classes"]["values"] == ["a", "b", "c"]
    assert description["report"]["n_labelled"] == 40
