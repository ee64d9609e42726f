"""The file of results: what was appended is read, whatever becomes of the process that writes."""

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metapn import InputError
from metapn.experiments import ledger
from metapn.experiments.ledger import CellKey

numbers = st.floats(0, 1, allow_nan=False)
values = st.one_of(st.integers(-9, 9), st.booleans(), numbers, st.text(max_size=5), st.none())


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batches=st.lists(st.lists(numbers, max_size=3), max_size=4),
    chosen=st.dictionaries(st.text(max_size=8), values, max_size=3),
    validation=st.one_of(st.none(), numbers),
)
def test_what_is_appended_is_read_in_its_order(record, batches, chosen, validation):
    with tempfile.TemporaryDirectory() as folder:
        written = []
        for accuracies in batches:
            more = [
                record(len(written) + i, accuracy, settings=chosen, validation=validation)
                for i, accuracy in enumerate(accuracies)
            ]
            ledger.append(folder, more)
            written += more
            assert ledger.read(folder) == written


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_cut_anywhere_the_file_loses_the_line_that_was_cut_and_no_other(record, data):
    """As by kill -9 or a power cut in the middle of a write: the next append cuts the beginning of a line off."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [record(seed, settings={"name": "Ünïcode"}) for seed in range(3)]
        ledger.append(folder, runs)
        file = Path(folder) / ledger.FILE
        whole = file.read_bytes()
        cut = data.draw(st.integers(0, len(whole)), label="bytes that are left")
        file.write_bytes(whole[:cut])
        complete = runs[: whole[:cut].count(b"\n")]
        assert ledger.read(folder) == complete
        ledger.append(folder, [record(9)])
        assert ledger.read(folder) == [*complete, record(9)]
        assert file.read_bytes().count(b"\n") == len(complete) + 1


def test_a_folder_without_results_has_none(tmp_path):
    assert ledger.read(tmp_path) == ledger.read(tmp_path / "nowhere") == []


def test_a_line_from_before_validation_was_kept_is_read(tmp_path, record):
    ledger.append(tmp_path, [record(0)])
    file = tmp_path / ledger.FILE
    content = json.loads(file.read_text())
    del content["validation"]
    file.write_text(json.dumps(content) + "\n")
    assert ledger.read(tmp_path) == [record(0)]


@pytest.mark.parametrize(
    "line",
    [b"", b"{}", b"[1]", b"not JSON", b"\xff\xfe", b'{"dataset": "digits"}', b"null"],
    ids=["empty", "no fields", "a list", "text", "no unicode", "a field alone", "null"],
)
def test_a_damaged_line_is_told_with_its_number_and_file(tmp_path, record, line):
    ledger.append(tmp_path, [record(0)])
    with (tmp_path / ledger.FILE).open("ab") as handle:
        handle.write(line + b"\n")
    with pytest.raises(InputError, match=r"line 2 of .*runs\.jsonl is damaged.*remove the line"):
        ledger.read(tmp_path)


def test_a_line_with_one_field_more_is_damaged(tmp_path, record):
    ledger.append(tmp_path, [record(0)])
    file = tmp_path / ledger.FILE
    file.write_text(json.dumps(json.loads(file.read_text()) | {"secret": 1}) + "\n")
    with pytest.raises(InputError, match=r"line 1 .* is damaged"):
        ledger.read(tmp_path)


def test_a_run_that_is_there_twice_is_told(tmp_path, record):
    ledger.append(tmp_path, [record(0), record(1), record(0, 0.7)])
    with pytest.raises(InputError, match=r"line 3 of .* repeats the run of line 1"):
        ledger.read(tmp_path)


def test_a_number_that_json_does_not_have_is_never_written(tmp_path, record):
    with pytest.raises(ValueError, match="JSON"):
        ledger.append(tmp_path, [record(0), record(1, math.nan)])
    assert ledger.read(tmp_path) == []


def test_the_key_knows_the_settings_whatever_their_order(record):
    one, same = record(settings={"a": 1, "b": 2}), record(seed=3, settings={"b": 2, "a": 1})
    assert one.key == same.key == CellKey("sbm-100", "lp", 5, "paper", '{"a": 1, "b": 2}')
    changed = [{"settings": {"a": 1, "b": 3}}, {"shot": 3}, {"protocol": "no-validation"}, {"method": "gcn"}]
    assert len({record(**({"settings": {"a": 1, "b": 2}} | each)).key for each in changed} | {one.key}) == 5


def test_a_folder_held_by_another_process_is_refused(tmp_path):
    code = (
        "import sys\nfrom metapn.experiments.ledger import held\n"
        "with held(sys.argv[1]):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "new")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(InputError, match=r"another process is writing to .*new"),
            ledger.held(tmp_path / "new"),
        ):
            pass
        other.kill()  # whatever becomes of the other, the hold ends with it
    with ledger.held(tmp_path / "new"):
        pass


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path, record):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot be written"):
        ledger.append(tmp_path, [record(0)])


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path, record):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="choose another folder"), ledger.held(tmp_path / "taken"):
        pass
    with pytest.raises(InputError, match="choose another folder"):
        ledger.append(tmp_path / "taken", [record(0)])
    assert (tmp_path / "taken").read_text() == ""
