"""`metapn evaluate`, `compare` and `suggest` on two CSV files."""

import json

import pytest


def test_evaluate_hides_one_s_own_labels(metapn, villages):
    code, out, err = metapn("evaluate", *villages, "--method", "lp", "--runs", 2)
    assert (code, err) == (0, "")
    assert "lp: 4 labels, each hidden once in each of 2 rounds" in out
    for words in ("Wilson, 4 labels", "left: ", "right: ", "as the model has it", "calibrated"):
        assert words in out


def test_as_json_it_is_one_object(metapn, villages):
    line = ("evaluate", *villages, "--method", "lp", "--runs", 2, "--json")
    code, out, err = metapn(*line)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["method"] == "lp" and (found["n_labels"], found["rounds"]) == (4, 2)
    assert found["low"] <= found["accuracy"] <= found["high"] and len(found["hits"]) == 4
    assert set(found["per_class"]) == {"left", "right"} and found["seconds"] > 0
    assert set(found["before"]) == set(found["after"]) == {"accuracy", "confidence", "ece", "brier"}
    # p0 and p1 are neighbours and of one vote, as are p3 and p5 of p4: labels propagate.
    assert found["accuracy"] == 1.0
    without = json.loads(metapn(*line, "--no-calibrate")[1])
    assert without["after"] is None and without["hits"] == found["hits"]


def test_settings_and_folds_reach_the_method(metapn, villages):
    line = ("evaluate", *villages, "--method", "lp", "--runs", 1, "--no-calibrate", "--json")
    plain, other = (json.loads(metapn(*line, *more)[1]) for more in ((), ("--set", "n_hops=1")))
    assert plain["before"] != other["before"]
    assert metapn(*line, "--folds", 2)[0] == 0


def test_compare_ranks_methods_on_the_same_hidden_labels(metapn, villages):
    line = ("compare", *villages, "--methods", "lp,sgc", "--runs", 1)
    code, out, err = metapn(*line)
    assert (code, err) == (0, "")
    assert "best" in out and "lp" in out and "sgc" in out and "calibrated" in out
    rows = json.loads(metapn(*line, "--json")[1])["rows"]
    assert {row["method"] for row in rows} == {"lp", "sgc"}
    assert rows[0]["accuracy"] >= rows[1]["accuracy"]
    assert rows[0]["p_value"] is None and 0 <= rows[1]["p_value"] <= 1


def test_processes_change_nothing(metapn, villages):
    line = ("compare", *villages, "--methods", "lp,sgc", "--runs", 2, "--no-calibrate", "--json")
    alone, together = (json.loads(metapn(*line, "--jobs", jobs)[1])["rows"] for jobs in (1, 2))
    for row in (*alone, *together):
        assert row.pop("seconds") > 0
    assert alone == together


def test_on_a_data_set_calibration_is_measured_on_the_test_nodes(metapn):
    line = ("evaluate", "--dataset", "sbm-300", "--method", "lp", "--shot", 3, "--runs", 2)
    code, out, _ = metapn(*line)
    assert code == 0 and "expected calibration error" in out and "--calibrate" in out
    code, out, _ = metapn(*line, "--calibrate")
    assert code == 0 and "as the method has it" in out and "calibrated" in out
    found = json.loads(metapn(*line, "--calibrate", "--json")[1])
    before, after = found["calibration"]["before"], found["calibration"]["after"]
    assert before["accuracy"] == after["accuracy"] == pytest.approx(found["mean"])
    assert before["ece"] != after["ece"]
    assert found["accuracies"] == json.loads(metapn(*line, "--json")[1])["accuracies"]


FORMS = {
    "nothing": ((), "nothing to evaluate on"),
    "both": (("--dataset", "sbm-300", "--edges", "e.csv"), "comes with its own edges"),
    "a data set and a column": (("--dataset", "sbm-300", "--label", "vote"), "comes with its own edges"),
    "shots of one's own": (("--edges", "e.csv", "--shot", "5"), "--shot goes with --dataset only"),
    "a protocol of one's own": (("--nodes", "n.csv", "--protocol", "paper"), "--protocol goes with --dataset only"),
    "folds of a data set": (("--dataset", "sbm-300", "--folds", "5"), "--folds goes with your own tables only"),
    "a column of nothing": (("--label", "vote"), "nothing to evaluate on"),
}


@pytest.mark.parametrize("command", ["evaluate", "compare"])
@pytest.mark.parametrize("case", FORMS)
def test_what_does_not_go_together_is_told(metapn, command, case):
    options, words = FORMS[case]
    code, out, err = metapn(command, *options)
    assert code == 2 and out == "" and err.count("\n") == 1 and words in err


def test_suggest_names_people_who_have_not_said(metapn, villages):
    code, out, err = metapn("suggest", "-n", 3, *villages)
    assert (code, err) == (0, "")
    assert "4 nodes have a label" in out and "taken for" in out
    rows = json.loads(metapn("suggest", "-n", 9, *villages, "--json")[1])["nodes"]
    assert {row["id"] for row in rows} == {"p2", "p4", "p6", "p7"}
    assert all(row["label"] in ("left", "right") and 0.5 <= row["probability"] <= 1 for row in rows)
    assert {row["id"]: row["neighbours"] for row in rows} == {"p2": 2, "p4": 2, "p6": 1, "p7": 1}


def test_a_table_in_which_all_is_labelled_needs_no_suggestion(metapn, villages):
    nodes = villages[3]
    nodes.write_text("".join(line.replace(",,", ",left,") for line in nodes.read_text().splitlines(keepends=True)))
    code, out, _ = metapn("suggest", *villages)
    assert code == 0 and "none to suggest" in out


def test_a_run_is_asked_without_a_new_fit(metapn, villages, tmp_path):
    """Its page names the same nodes in the same order."""
    run = tmp_path / "run"
    assert metapn("fit", *villages, "--out", run)[0] == 0
    code, out, err = metapn("suggest", run, *villages, "--json")
    assert (code, err) == (0, "")
    ids = [row["id"] for row in json.loads(out)["nodes"]]
    assert set(ids) == {"p2", "p4", "p6", "p7"}
    page = (run / "report.html").read_text()
    named = page[page.index("Worth labelling next") :]
    places = [named.index(f">{id}<") for id in ids]
    assert places == sorted(places)
    code, _, err = metapn("suggest", tmp_path / "nowhere", *villages)
    assert code == 2 and err.count("\n") == 1 and "nowhere" in err
