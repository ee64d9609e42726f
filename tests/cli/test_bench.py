import json

import pytest

from metapn.bench import start
from metapn.bench.measure import Measure


@pytest.fixture
def answers(monkeypatch):
    """Let the start of the command line take so long."""

    def take(seconds):
        measure = Measure("start", "seconds until metapn --help has answered", seconds, 0.5)
        monkeypatch.setattr(start, "start_time", lambda: measure)

    return take


def test_json_holds_every_measure_with_its_bound(metapn, answers):
    answers(0.2)
    code, out, err = metapn("bench", "start", "--json")
    assert (code, err) == (0, "")
    (measure,) = json.loads(out)
    assert (measure["name"], measure["value"], measure["bound"], measure["holds"]) == ("start", 0.2, 0.5, True)


@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_check_fails_with_a_line_for_what_is_missed(metapn, answers, json_too):
    answers(0.75)
    code, out, err = metapn("bench", "start", "--check", *json_too)
    assert code == 1
    assert "0.75" in out
    assert err == "missed: seconds until metapn --help has answered is 0.75, and should be at most 0.5\n"
    answers(0.25)
    assert metapn("bench", "start", "--check", *json_too)[::2] == (0, "")


def test_without_check_a_miss_is_only_told(metapn, answers):
    answers(0.75)
    code, out, err = metapn("bench", "start")
    assert (code, err) == (0, "")
    assert "missed" in out and "at most 0.5" in out


def test_seconds_of_the_published_code_that_cannot_be_read_are_one_sentence(metapn):
    code, _, err = metapn("bench", "run", "--published", "cora_ml:26")
    assert code == 2
    assert "cora_ml:26 cannot be read" in err and err.count("\n") == 1


@pytest.mark.parametrize("free, warned", [(10**6, True), (10**15, False)])
def test_evaluate_warns_before_it_starts_what_will_not_fit(metapn, monkeypatch, free, warned):
    monkeypatch.setattr("metapn.propagation.engines.available.available_memory", lambda: free)
    line = ("evaluate", "--dataset", "sbm-300", "--runs", 1, "--set", "max_epochs=1", "--json")
    code, out, err = metapn(*line)
    assert code == 0 and json.loads(out)["seeds"] == [0]
    assert err.startswith("Warning: about 0.") == warned
    assert err.count("\n") == warned
    # Of a method whose memory is not known nothing is said.
    assert metapn("evaluate", "--dataset", "sbm-300", "--runs", 1, "--method", "lp", "--json")[2] == ""
