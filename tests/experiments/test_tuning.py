"""The search for settings: what it tries, what it chooses, what it writes, and that it goes on where it stopped."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metapn import datasets
from metapn.baselines import methods
from metapn.errors import InputError
from metapn.experiments import run as runs
from metapn.experiments.settings_file import write_settings
from metapn.experiments.tuning import GRIDS, Search, Trial, choose, space_of, trials

GRID = {"learning_rate": (0.001, 0.05, 0.1)}
SEARCH = Search("sbm-200", "sgc", GRID, (3, 5), 2)


@pytest.mark.parametrize("name", [name for name in methods() if name != "lp"])
def test_the_space_is_the_paper_s_grid_and_the_method_s_own_value(name):
    space = space_of(name, {})
    defaults = Search("digits", name, space, (3,), 1).defaults
    assert "learning_rate" in space
    for setting, values in space.items():
        assert set(values) == {*GRIDS[setting], defaults[setting]} and list(values) == sorted(values)


@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("lp", {}, "neither a learning rate nor a dropout"),
        ("gcn", {"n_hopss": [1]}, "no setting 'n_hopss'"),
        ("gcn", {"dropout": [1.5]}, r"GCN\(dropout=1.5\) is not possible"),
    ],
)
def test_what_cannot_be_searched_is_told(name, more, words):
    with pytest.raises(InputError, match=words):
        space_of(name, more)


def test_all_settings_are_tried_where_there_are_few_the_defaults_first(tmp_path):
    done: list[int] = []
    tried = trials(SEARCH, tmp_path / "j", 20, jobs=1, on_trial=done.append)
    assert tried[0].settings == {"learning_rate": 0.05} and tried[0].complete
    assert {trial.settings["learning_rate"] for trial in tried} == set(GRID["learning_rate"])
    assert done == [1, 2, 3]
    assert all(len(trial.accuracies) == 4 for trial in tried if trial.complete)


def test_a_trial_is_the_accuracy_on_the_early_stopping_nodes(tmp_path):
    tried = trials(SEARCH, tmp_path / "j", 1, jobs=1, on_trial=lambda _: None)
    expected = []
    for shot in SEARCH.shots:
        cell = runs.Cell("sbm-200", "sgc", shot, "paper", {"learning_rate": 0.05})
        expected += [runs.run(cell, [seed])[0].validation for seed in (0, 1)]
    assert tried[0].accuracies == tuple(expected)


def test_the_labels_of_the_test_nodes_change_nothing(tmp_path, monkeypatch):
    """The search is the same to the bit when every test label is another one."""
    graph = datasets.load("sbm-200")
    poisoned = graph.labels.copy()
    hidden = np.intersect1d(*(datasets.split(graph, 3, seed).test for seed in (0, 1)))
    poisoned[hidden] = (poisoned[hidden] + 1) % graph.n_classes
    search = dataclasses.replace(SEARCH, shots=(3,))
    clean = trials(search, tmp_path / "clean", 3, jobs=1, on_trial=lambda _: None)
    outcome = runs.run(runs.Cell("sbm-200", "sgc", 3), [0])[0]

    swapped = dataclasses.replace(graph, labels=poisoned)
    split = datasets.split
    monkeypatch.setattr(runs, "load", lambda name: swapped)
    # The split itself draws so many nodes of each class: it is that of the true labels.
    monkeypatch.setattr(runs.datasets, "split", lambda _, shot, seed: split(graph, shot, seed))
    assert runs.run(runs.Cell("sbm-200", "sgc", 3), [0])[0].accuracy < outcome.accuracy
    assert trials(search, tmp_path / "poisoned", 3, jobs=1, on_trial=lambda _: None) == clean


def test_a_search_goes_on_with_the_trials_that_are_there(tmp_path):
    first = trials(SEARCH, tmp_path / "j", 2, jobs=1, on_trial=lambda _: None)
    both = trials(SEARCH, tmp_path / "j", 3, jobs=2, on_trial=lambda _: None)
    assert both[:2] == first and len(both) == 3
    other = dataclasses.replace(SEARCH, n_runs=1)
    assert len(trials(other, tmp_path / "j", 1, jobs=1, on_trial=lambda _: None)[0].accuracies) == 2


def test_a_killed_search_goes_on(tmp_path):
    options = ["--grid", "learning_rate=0.0001,0.001,0.01,0.05,0.1", "--runs", "3", "--trials", "6", "--shots", "3"]
    command = [sys.executable, "-c", "from metapn.cli import main; main()", "tune", "--dataset", "sbm-200"]
    command += ["--method", "gcn", "--grid", "dropout=0.2,0.5", "--out", str(tmp_path), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    journal = tmp_path / "gcn-sbm-200.journal"
    while not journal.exists() or journal.read_text().count('"step"') < 4:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = journal.read_text()
    assert not (tmp_path / "gcn").exists()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert journal.read_text().startswith(before[: before.rfind("\n") + 1])
    content = tomllib.loads((tmp_path / "gcn" / "sbm-200.toml").read_text())
    assert len(content["search"]["tried"]) == 6 and "Chosen:" in done.stdout
    assert not done.stderr, "a file that is no terminal gets no progress bar, and no warning"


accuracy = st.floats(0.2, 1.0)


@given(st.lists(st.tuples(st.lists(accuracy, min_size=4, max_size=4), st.booleans()), min_size=1, max_size=8))
def test_the_best_complete_trial_is_chosen_unless_it_is_noise(results):
    rates = [0.05, *(10.0**-place for place in range(2, 2 + len(results)))]
    tried = [Trial({"learning_rate": 0.05}, (0.6, 0.5, 0.6, 0.5), complete=True)]
    tried += [
        Trial({"learning_rate": rate}, tuple(values), complete)
        for rate, (values, complete) in zip(rates[1:], results, strict=True)
    ]
    search = Search("sbm-200", "sgc", {"learning_rate": tuple(sorted(rates))}, (3,), 4)
    chosen = choose(search, tried)
    assert chosen.complete and chosen.mean >= tried[0].mean
    best = max((trial for trial in tried if trial.complete), key=lambda trial: trial.mean)
    assert chosen in (best, tried[0])
    gain = np.subtract(best.accuracies, tried[0].accuracies)
    assert (chosen == best) == (gain.mean() > gain.std(ddof=1) / 2) or best == tried[0]


def test_the_file_says_what_was_tried_and_chosen(tmp_path):
    tried = [
        Trial({"learning_rate": 0.05}, (0.5, 0.5, 0.5, 0.5), complete=True),
        Trial({"learning_rate": 0.1}, (0.7, 0.6, 0.7, 0.8), complete=True),
        Trial({"learning_rate": 0.001}, (0.9, 0.9), complete=False),
    ]
    search = dataclasses.replace(SEARCH, dataset="cora_ml")
    path = write_settings(tmp_path, search, tried, choose(search, tried), "metapn tune")
    content = tomllib.loads(path.read_text())
    assert path == tmp_path / "sgc" / "cora_ml.toml" and content["settings"] == {"learning_rate": 0.1}
    assert content["search"]["space"] == {"learning_rate": [0.001, 0.05, 0.1]}
    assert [trial["validation"] for trial in content["search"]["tried"]] == [70.0, 50.0, 90.0]
    assert content["search"]["tried"][-1]["runs"] == 2
    assert content["paper"]["5"] == [67.24, 0.86]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--grid", "n_hops"], "--grid n_hops cannot be read"),
        (["--shots", "3,x"], "--shots 3,x cannot be read"),
        (["--method", "lp"], "neither a learning rate nor a dropout"),
    ],
)
def test_wrong_options_are_told_in_a_sentence(tmp_path, options, words):
    command = [sys.executable, "-c", "from metapn.cli import main; main()", "tune", "--dataset", "sbm-200"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "o"), *options], capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "o").exists()
