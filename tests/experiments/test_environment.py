import json
import platform
from pathlib import Path

import pytest

from metapn import InputError
from metapn.experiments import environment
from metapn.experiments.environment import describe, noted


def read(folder):
    return json.loads((folder / environment.FILE).read_text())


def test_it_is_noted_before_and_finished_after(tmp_path):
    with noted(tmp_path, "metapn reproduce table2"):
        during = read(tmp_path)
        assert during["command"] == "metapn reproduce table2" and during["finished"] is None
    after = read(tmp_path)
    assert after["finished"] >= after["started"] == during["started"]
    assert {name: after[name] for name in describe()} == describe()


def test_what_is_stopped_is_not_finished(tmp_path):
    with pytest.raises(KeyboardInterrupt), noted(tmp_path, "metapn reproduce"):
        raise KeyboardInterrupt
    assert read(tmp_path)["finished"] is None


def test_several_commands_have_a_line_each_and_the_same_one_once(tmp_path):
    for command in ("one", "two", "one"):
        with noted(tmp_path, command):
            pass
    assert read(tmp_path)["command"] == "one\ntwo"
    assert "earlier" not in read(tmp_path)


def test_another_machine_or_version_does_not_hide_the_earlier_one(tmp_path, monkeypatch):
    for version in ("0.1", "0.2", "0.2", "0.3"):
        monkeypatch.setattr(environment, "describe", lambda version=version: {"metapn": version, "cores": 2})
        with noted(tmp_path, "metapn reproduce"):
            pass
    found = read(tmp_path)
    assert found["metapn"] == "0.3"
    assert [each["metapn"] for each in found["earlier"]] == ["0.1", "0.2"]


def test_neither_the_machine_s_name_nor_a_path_of_it_is_kept(tmp_path):
    with noted(tmp_path, "metapn reproduce"):
        pass
    text = (tmp_path / environment.FILE).read_text()
    for secret in (platform.node(), str(Path.home()), str(tmp_path), str(Path.cwd())):
        assert secret not in text


@pytest.mark.parametrize("content", ["", "[]", "{", "\x00"])
def test_a_damaged_note_is_told(tmp_path, content):
    (tmp_path / environment.FILE).write_text(content)
    with pytest.raises(InputError, match=r"environment\.json is damaged.*remove it"), noted(tmp_path, "metapn"):
        pass
