"""Ctrl-C and kill -9 at any moment of a real `metapn fit`: a whole run folder, or none."""

import signal
import subprocess
import sys
import time

import pytest

from metapn.deploy.pipeline import Pipeline

FIT = "from metapn.cli import main; main()"
# What is there when the signal is sent; None: nothing yet, the process has just begun.
MOMENTS = {
    "at the start": None,
    "while it reads and fits": ".run.*.part",
    "when the model is written": ".run.*.part/model.json",
    "when predictions are written": ".run.*.part/predictions.parquet*",
    "when the card is written": ".run.*.part/README.md",
}


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def interrupted(own, place, pattern, number):
    """Start a fit, send a signal when a file is there, and wait for the end."""

    def deaf_to_nothing():
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # whatever started the tests may ignore it

    line = [sys.executable, "-c", FIT, "fit", *map(str, own.given), "--out", str(place), "--overwrite"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=deaf_to_nothing) as fit:
        if pattern is None:
            time.sleep(0.05)
        while pattern is not None and fit.poll() is None and not any(place.parent.glob(pattern)):
            time.sleep(0.002)
        fit.send_signal(number)
        _, err = fit.communicate(timeout=120)
    return fit.returncode, err.decode()


@pytest.mark.parametrize("moment", MOMENTS)
def test_control_c_leaves_a_whole_run_or_nothing(own, tmp_path, moment):
    code, err = interrupted(own, tmp_path / "run", MOMENTS[moment], signal.SIGINT)
    left = names(tmp_path)
    assert left in ([], ["run"]), left
    if left:
        assert Pipeline.load(tmp_path / "run").classes.tolist() == ["churn", "grow", "stay"]
    # Until the command line is there, Python itself answers.
    assert code in ((0, 130) if MOMENTS[moment] else (0, 1, 130, -signal.SIGINT)), err
    assert MOMENTS[moment] is None or "Traceback" not in err


def test_kill_leaves_the_old_run_and_a_hidden_folder_that_the_next_run_removes(own, tmp_path, metapn):
    assert metapn("fit", *own.given, "--out", tmp_path / "run", "--no-calibrate")[0] == 0
    before = (tmp_path / "run" / "model.json").read_bytes()
    code, _ = interrupted(own, tmp_path / "run", MOMENTS["while it reads and fits"], signal.SIGKILL)
    assert code == -signal.SIGKILL
    run, hidden = reversed(names(tmp_path))
    assert run == "run" and hidden.startswith(".run.") and (tmp_path / "run" / "model.json").read_bytes() == before
    assert metapn("fit", *own.given, "--out", tmp_path / "run", "--overwrite")[0] == 0
    assert names(tmp_path) == ["run"] and (tmp_path / "run" / "model.json").read_bytes() != before
