"""Every settings file: a known method and data set, settings the method takes, and the paper's number."""

import tomllib
from importlib.resources import files

import pytest

from metapn import datasets
from metapn.baselines import method, methods
from metapn.experiments import tuned as package
from metapn.model.settings import check_settings

FILES = [
    (folder.name, file)
    for folder in files(package).iterdir()
    if folder.is_dir() and not folder.name.startswith("_")
    for file in folder.iterdir()
]


def test_there_are_some():
    assert len(FILES) > 2


@pytest.mark.parametrize(("name", "file"), FILES, ids=lambda value: getattr(value, "name", value))
def test_a_settings_file_is_valid(name, file):
    assert name in methods()
    assert file.name.removesuffix(".toml") in datasets.names()
    content = tomllib.loads(file.read_text())
    assert set(content) == {"settings", "search", "paper"}
    assert content["search"]["chosen_by"] and content["search"]["tried"]
    assert all(0 < accuracy < 100 for accuracy in content["paper"].values())
    estimator = method(name)(**content["settings"])
    check_settings(estimator)
    default = method(name)().get_params()
    assert all(value != default[key] for key, value in content["settings"].items()), "a default needs no entry"
