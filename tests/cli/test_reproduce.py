"""`metapn reproduce` and `metapn tune` on a command line: what they print, and what they say of bad input."""

import json

import pytest

LINE = ("reproduce", "table2", "--datasets", "sbm-200", "--methods", "lp", "--runs", 2)


def test_it_prints_what_it_made_and_keeps_the_command(metapn, tmp_path):
    code, out, err = metapn(*LINE, "--out", tmp_path / "results")
    assert (code, err) == (0, "")
    for words in (
        "sbm-200, 3-shot, protocol paper",
        "sbm-200, 5-shot, protocol no-validation",
        "LP",
        "metapn report",
    ):
        assert words in out
    noted = json.loads((tmp_path / "results" / "environment.json").read_text())
    assert noted["command"] == (
        "metapn reproduce table2 --datasets sbm-200 --methods lp --protocol both --runs 2 --jobs 1 --threads 1 "
        "--out results"
    )
    assert metapn(*LINE, "--out", tmp_path / "results")[1] == out, "again, from the folder"


def test_table_1_counts_the_data_sets(metapn, tmp_path):
    code, out, _ = metapn("reproduce", "table1", "--datasets", "digits,sbm-200", "--out", tmp_path)
    assert code == 0 and "1,797" in out and "12,339" in out and "not there" in out
    assert set(json.loads((tmp_path / "datasets.json").read_text())) == {"digits", "sbm-200"}


def test_a_data_set_that_cannot_be_had_is_told_and_the_others_are_made(metapn, tmp_path, monkeypatch):
    from metapn import InputError, datasets

    load = datasets.load

    def offline(name):
        if name == "cora_ml":
            raise InputError("there is no network")
        return load(name)

    monkeypatch.setattr(datasets, "load", offline)
    line = ("reproduce", "table2", "--methods", "lp", "--runs", 1, "--protocol", "paper", "--out", tmp_path)
    code, out, err = metapn(*line, "--datasets", "sbm-202,cora_ml")
    assert code == 0 and "sbm-202, 3-shot" in out and "Cora-ML" not in out
    assert err == "table2: without cora_ml, since there is no network\n"


REPRODUCE = {
    "an unknown data set": (("--datasets", "nope"), "there is no data set 'nope'"),
    "an unknown method": (("--methods", "metapm"), "metapn"),
    "an empty name": (("--datasets", "sbm-200,"), "there is no data set ''"),
    "a data set that the table does not have": (("--datasets", "ogbn-arxiv"), "none of the data sets ogbn-arxiv"),
    "a graph too small for so many labels": (("--datasets", "sbm-20", "--methods", "lp"), "20|shot|known"),
}


@pytest.mark.parametrize("case", REPRODUCE)
def test_bad_input_is_told_in_a_sentence(metapn, tmp_path, case):
    options, words = REPRODUCE[case]
    code, out, err = metapn("reproduce", "table2", *options, "--runs", 1, "--out", tmp_path / "new")
    assert code == 2 and err.startswith("Error: ") and err.count("\n") == 1, err
    assert any(word in err for word in words.split("|")) and "Traceback" not in out + err
    assert not (tmp_path / "new" / "runs.jsonl").exists()


@pytest.mark.parametrize(
    "options", [("table5",), ("table2", "--runs", 0), ("table2", "--jobs", 0), ("table2", "--protocol", "secret")]
)
def test_what_no_command_line_can_say_is_a_usage_error(metapn, tmp_path, options):
    code, _, err = metapn("reproduce", *options, "--out", tmp_path / "new")
    assert code == 2 and "Traceback" not in err and not (tmp_path / "new").exists()


@pytest.mark.parametrize("content", ["[]\n", '{"dataset": "x"}\n'])
def test_a_damaged_folder_is_told_and_left_alone(metapn, tmp_path, content):
    (tmp_path / "runs.jsonl").write_text(content)
    code, _, err = metapn(*LINE, "--out", tmp_path)
    assert code == 2 and "line 1" in err and "damaged" in err
    assert (tmp_path / "runs.jsonl").read_text() == content


def test_a_file_in_the_place_of_the_folder_is_told(metapn, tmp_path):
    (tmp_path / "taken").write_text("mine")
    for line in (LINE, ("tune", "--dataset", "sbm-200", "--method", "sgc", "--trials", 1, "--runs", 1)):
        code, _, err = metapn(*line, "--out", tmp_path / "taken")
        assert code == 2 and "choose another folder" in err and err.count("\n") == 1
    assert (tmp_path / "taken").read_text() == "mine"


TUNE = {
    "an unknown data set": (("--dataset", "cora"), "did you mean cora_ml"),
    "an unknown method": (("--method", "metapm"), "metapn"),
    "a method without a learning rate": (("--method", "lp"), "neither a learning rate nor a dropout"),
    "a grid without values": (("--grid", "n_hops="), "give a setting and its values"),
    "a grid of a setting that is not there": (("--grid", "n_hopss=1,2"), "n_hopss"),
    "a value that is not possible": (("--grid", "n_hops=1,many"), "n_hops"),
    "a shot that is no number": (("--shots", "3,,5"), "--shots 3,,5 cannot be read"),
    "too many shots": (("--shots", "1000"), "shot"),
}


@pytest.mark.parametrize("case", TUNE)
def test_tune_tells_bad_input_in_a_sentence(metapn, tmp_path, case):
    options, words = TUNE[case]
    line = ("tune", "--dataset", "sbm-200", "--trials", 1, "--runs", 1, "--out", tmp_path / "new")
    code, out, err = metapn(*line, *options)
    assert code == 2 and err.startswith("Error: ") and err.count("\n") == 1, err
    assert words in err and "Traceback" not in out + err
    assert not list(tmp_path.glob("new/*/*.toml"))


def test_tune_writes_what_it_has_chosen(metapn, tmp_path):
    line = ("tune", "--dataset", "sbm-200", "--method", "sgc", "--trials", 2, "--runs", 1, "--shots", "3")
    code, out, err = metapn(*line, "--out", tmp_path)
    assert (code, err) == (0, "")
    assert "the test nodes were not looked at" in out and "Chosen:" in out
    assert "metapn tune --dataset sbm-200 --method sgc" in (tmp_path / "sgc" / "sbm-200.toml").read_text()
