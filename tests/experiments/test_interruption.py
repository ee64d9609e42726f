"""`metapn reproduce` as a real process, stopped in every rude way."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from metapn.experiments import ledger
from metapn.experiments.reproduce import reproduce
from metapn.experiments.request import Request, look_up

METHODS, N_RUNS = ["metapn", "lp"], 6
REQUEST = Request(("table2",), datasets=["sbm-200"], methods=METHODS, protocols=["paper"], n_runs=N_RUNS)
COMMAND = [sys.executable, "-c", "from metapn.cli import main; main()", "reproduce", "table2"]
COMMAND += ["--datasets", "sbm-200", "--methods", ",".join(METHODS), "--protocol", "paper", "--runs", str(N_RUNS)]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks processes up in /proc")


def start(folder, jobs):
    """Run the command in a session of its own, as a terminal would."""
    command = [*COMMAND, "--jobs", str(jobs), "--out", str(folder)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def alive(session):
    """Processes of a session, whoever their parent is by now, without those that have ended."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, of = (place / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has ended meanwhile
            continue
        if int(of) == session and state not in "ZX":
            found.append(int(place.name))
    return found


def wait_until(condition, what):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(f"waited five minutes in vain until {what}")


def n_lines(folder):
    file = folder / ledger.FILE
    return file.read_bytes().count(b"\n") if file.exists() else 0


def results(folder):
    """All runs but for what they cost, in the order of their cells and seeds."""
    records = [replace(record, seconds=0.0, megabytes=0.0) for record in ledger.read(folder)]
    return sorted(records, key=lambda record: (record.key, record.seed))


def test_killed_and_resumed_it_gives_the_results_of_a_command_that_was_left_alone(tmp_path):
    counts, _ = look_up(REQUEST)
    reproduce(REQUEST, counts, tmp_path / "alone", command="", on_progress=lambda _: None)
    folder, random = tmp_path / "killed", np.random.default_rng()
    n_kills = 0
    for _ in range(3):
        running, before = start(folder, jobs=2), n_lines(folder)
        wait_until(lambda n=before, p=running: n_lines(folder) > n or p.poll() is not None, "there is a line more")
        time.sleep(random.uniform(0, 0.3))
        n_kills += running.poll() is None
        running.send_signal(signal.SIGKILL)
        running.communicate()
        wait_until(lambda session=running.pid: not alive(session), "its workers have followed it")
    assert n_kills > 0, "it was done before it could be killed"
    last = start(folder, jobs=2)
    out, err = last.communicate(timeout=300)
    assert (last.returncode, err) == (0, "") and "Meta-PN" in out
    assert results(folder) == results(tmp_path / "alone")
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "environment.json", ledger.FILE]


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_leaves_quietly_and_nobody_behind(tmp_path, jobs):
    running = start(tmp_path / "out", jobs)
    wait_until(lambda: n_lines(tmp_path / "out") > 0 or running.poll() is not None, "there is a line")
    os.killpg(running.pid, signal.SIGINT)  # to all processes of the terminal, as the key does
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, "") and "Traceback" not in out
    wait_until(lambda: not alive(running.pid), "all processes have left")
    with ledger.held(tmp_path / "out"):
        assert len(ledger.read(tmp_path / "out")) < 4 * N_RUNS * len(METHODS)
