"""Every settings file: a known method and data set, settings the method takes, and the paper's number."""

import tomllib
from importlib.resources import files

import pytest

from metapn.baselines import method, methods
from metapn.data.registry import SOURCES
from metapn.experiments import tuned as package
from metapn.experiments.paper import DATASETS, METHODS, STATISTICS, published
from metapn.model.settings import check_settings

FILES = [
    (folder.name, file)
    for folder in files(package).iterdir()
    if folder.is_dir() and not folder.name.startswith("_")
    for file in folder.iterdir()
]


def test_there_is_one_for_every_method_and_data_set_of_the_paper():
    expected = {(method, f"{dataset}.toml") for method in METHODS for dataset in DATASETS}
    assert {(name, file.name) for name, file in FILES} == expected
    assert list(METHODS) == methods()


def test_the_paper_s_numbers_are_those_of_its_tables():
    """Twelve methods on four data sets, 3, 5, 10 and 20 labels a class; spot checks against the printed page."""
    cells = {(m, d, s): published(m, d, s) for m in METHODS for d in DATASETS for s in (3, 5, 10, 20)}
    printed = {cell for cell, number in cells.items() if number is not None}
    assert len(printed) == 12 * 4 * 4
    assert not {"static-lp", "ogbn-arxiv"} & {word for cell in printed for word in cell}
    assert cells["metapn", "cora_ml", 3] == (0.7494, 0.0025)
    assert cells["lp", "citeseer", 5] == (0.5573, 0.0119)
    assert cells["cs", "pubmed", 10] == (0.7447, 0.0018)
    assert cells["igcn", "ms_academic", 20] == (0.9160, 0.0003)
    assert published("metapn", "cora_ml", 5.0) == published("metapn", "cora_ml", 5)
    assert published("metapn", "cora_ml", 7) is None and published("metapn", "digits", 5) is None


def test_table_1_is_what_the_graphs_hold_but_for_the_slip():
    for name, counts in STATISTICS.items():
        if name != "ogbn-arxiv":
            assert counts == SOURCES[name].counts


@pytest.mark.parametrize(("name", "file"), FILES, ids=lambda value: getattr(value, "name", value))
def test_a_settings_file_is_valid(name, file):
    content = tomllib.loads(file.read_text())
    assert set(content) == {"settings", "search", "paper"}
    assert content["search"]["chosen_by"] and content["search"]["tried"]
    for shot, (mean, half_width) in content["paper"].items():
        assert shot in ("3", "5", "10", "20") and 40 < mean < 100 and 0 < half_width < 2
    estimator = method(name)(**content["settings"])
    check_settings(estimator)
    default = method(name)().get_params()
    assert all(value != default[key] for key, value in content["settings"].items()), "a default needs no entry"
