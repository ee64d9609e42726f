import json
import os
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

COMMANDS = (
    (),
    ("demo",),
    ("datasets",),
    ("datasets", "list"),
    ("datasets", "fetch"),
    ("evaluate",),
    ("compare",),
    ("fit",),
    ("predict",),
    ("export",),
    ("inspect",),
    ("suggest",),
)


def process(*arguments, cwd=None, **environment):
    command = [sys.executable, "-c", "from metapn.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=os.environ | environment, check=False)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_names_an_example(metapn, command):
    code, out, _ = metapn(*command, "--help")
    assert code == 0
    assert "metapn" in out
    if len(command) == 2 or command not in ((), ("datasets",)):
        assert "Example: metapn" in " ".join(out.split())


def test_help_does_not_wait_for_torch():
    code = "import sys; sys.argv = ['metapn', '--help']\nfrom metapn.cli import main\n"
    code += "try: main()\nexcept SystemExit: pass\n"
    heavy = "assert not {'torch', 'scipy', 'sklearn', 'numpy', 'matplotlib'} & set(sys.modules), sorted(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code + heavy], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-300:]


def test_list_names_every_data_set(metapn):
    code, out, _ = metapn("datasets", "list")
    assert code == 0
    for name in ("cora_ml", "citeseer", "pubmed", "ms_academic", "ogbn-arxiv", "digits", "arxiv-like"):
        assert name in out
    assert "169,343" in out


def test_fetch_of_what_needs_no_network(metapn):
    code, out, _ = metapn("datasets", "fetch", "digits")
    assert code == 0 and "1,797 nodes" in out


def test_evaluate_prints_one_json_object_with_the_promised_fields(metapn):
    code, out, err = metapn("evaluate", "--dataset", "sbm-300", "--shot", 3, "--runs", 2, "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    fields = "method dataset shot protocol final accuracies mean ci95 seconds seeds"
    assert sorted(result) == sorted(fields.split())
    assert result["seeds"] == [0, 1] and len(result["accuracies"]) == 2
    assert result["ci95"][0] <= result["mean"] <= result["ci95"][1]
    assert (result["shot"], result["protocol"], result["final"]) == (3, "paper", "propagated")
    assert min(result["accuracies"]) > 0.6


def test_the_results_do_not_depend_on_the_number_of_jobs():
    """Real processes; the same bits."""
    arguments = ("evaluate", "--dataset", "sbm-300", "--shot", "3", "--runs", "3", "--json")
    alone, together = (json.loads(process(*arguments, "--jobs", jobs).stdout) for jobs in (1, 2))
    assert alone.pop("seconds") > 0 and together.pop("seconds") > 0
    assert alone == together


def test_evaluate_sets_what_it_is_told_to_set(metapn):
    line = ("evaluate", "--dataset", "sbm-300", "--runs", 1, "--json")
    code, out, _ = metapn(*line, "--set", "max_epochs=3", "--set", "propagator=paper", "--set", "balance=false")
    assert code == 0
    changed = json.loads(out)
    assert changed["settings"] == {"max_epochs": 3, "propagator": "paper", "balance": False}
    assert changed["accuracies"] != json.loads(metapn(*line)[1])["accuracies"]


def test_compare_ranks_the_methods(metapn):
    line = ("compare", "--dataset", "sbm-300", "--shot", 3, "--runs", 2, "--methods", "metapn, mlp,lp")
    code, out, _ = metapn(*line, "--json")
    assert code == 0
    result = json.loads(out)
    assert result["seeds"] == [0, 1] and result["protocol"] == "paper"
    rows = result["rows"]
    assert {row["method"] for row in rows} == {"metapn", "mlp", "lp"}
    assert [row["mean"] for row in rows] == sorted((row["mean"] for row in rows), reverse=True)
    assert rows[0]["p_value"] is None and all(0 <= row["p_value"] <= 1 for row in rows[1:])
    assert all(row["seconds"] > 0 and row["megabytes"] > 10 and len(row["accuracies"]) == 2 for row in rows)
    code, out, _ = metapn(*line)
    assert code == 0 and "best" in out and "peak MB" in out


@pytest.mark.parametrize("final", ["propagated", "transformer", "pseudo"])
@pytest.mark.parametrize("protocol", ["paper", "no-validation"])
def test_evaluate_says_what_it_measured(metapn, final, protocol):
    code, out, _ = metapn("evaluate", "--dataset", "sbm-300", "--runs", 1, "--final", final, "--protocol", protocol)
    assert code == 0
    assert final in out and protocol in out and "95 % interval" in out


def test_fit_then_predict_gives_the_same_bits_in_another_process(tmp_path, own_graph):
    path, truth = own_graph
    first = process("fit", path, "--out", tmp_path / "run", "--quiet")
    assert first.returncode == 0, first.stderr
    assert "final prediction: propagated" in first.stdout and first.stderr == ""
    second = process("predict", tmp_path / "run", path, "--out", tmp_path / "again.parquet")
    assert second.returncode == 0, second.stderr
    fitted = pq.read_table(tmp_path / "run" / "predictions.parquet")
    again = pq.read_table(tmp_path / "again.parquet")
    assert again.equals(fitted.drop_columns(["hops", "reached"]))
    assert fitted.column_names[1:5] == ["label", "p_blue", "p_green", "p_red"]
    names = np.array(["red", "green", "blue"])[truth]
    assert (fitted["label"].to_numpy() == names).mean() > 0.8


def test_predict_without_the_graph_judges_by_features_alone(metapn, tmp_path, own_graph):
    path, _ = own_graph
    assert metapn("fit", path, "--out", tmp_path / "run")[0] == 0
    code, out, _ = metapn("predict", tmp_path / "run", path, "--out", tmp_path / "alone.parquet", "--no-graph")
    assert code == 0 and "by their features alone" in out
    alone = pq.read_table(tmp_path / "alone.parquet")
    joined = pq.read_table(tmp_path / "run" / "predictions.parquet")
    assert alone["p_red"] != joined["p_red"]
    sums = sum(alone[name].to_numpy() for name in ("p_red", "p_green", "p_blue"))
    np.testing.assert_allclose(sums, 1, rtol=1e-5)


def test_the_demo_tells_and_draws(metapn, tmp_path, monkeypatch):
    monkeypatch.setattr("metapn.cli.demo.DRAWS", 1)
    picture = tmp_path / "demo.png"
    code, out, _ = metapn("demo", "--picture", picture)
    assert code == 0
    for word in ("logistic regression", "LabelSpreading", "Meta-PN", "Next:"):
        assert word in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_no_progress_where_there_is_no_terminal(metapn):
    _, out, err = metapn("evaluate", "--dataset", "sbm-300", "--runs", 1)
    assert err == "" and "\x1b" not in out


def test_progress_with_time_left_on_a_terminal():
    """A pseudo-terminal on standard error shows the bar; --quiet shows nothing."""
    pty = pytest.importorskip("pty")
    shown = {}
    for quiet in (False, True):
        parent, child = pty.openpty()
        command = [sys.executable, "-c", "from metapn.cli import main; main()", "evaluate", "--dataset", "sbm-300"]
        command += ["--runs", "2", "--json", *(["--quiet"] if quiet else [])]
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
        with subprocess.Popen(command, stderr=child, stdout=subprocess.PIPE, env=environment) as running:
            os.close(child)
            chunks = []
            try:
                while chunk := os.read(parent, 4096):
                    chunks.append(chunk)
            except OSError:  # Linux says so when the other end closes
                pass
            json.loads(running.stdout.read())
        os.close(parent)
        shown[quiet] = b"".join(chunks).decode()
    assert "metapn on sbm-300" in shown[False] and "left" in shown[False] and "2/2" in shown[False]
    assert shown[True] == ""
