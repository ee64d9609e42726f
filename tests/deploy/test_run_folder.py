"""A run folder is whole or not there, whatever happens while it is written."""

import errno
import os
import subprocess
import sys

import pytest

from metapn import InputError
from metapn.deploy import run_folder
from metapn.deploy.run_folder import whole_folder


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def write_run(place, content="one", **options):
    with whole_folder(place, **options) as folder:
        (folder / "model.json").write_text(content)


def test_it_appears_when_all_is_written_and_not_before(tmp_path):
    with whole_folder(tmp_path / "run") as folder:
        (folder / "model.json").write_text("{}")
        assert not (tmp_path / "run").exists() and folder.parent == tmp_path
    assert names(tmp_path) == ["run"] and names(tmp_path / "run") == ["model.json"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_nothing_not_even_the_folders_above(tmp_path, error):
    with pytest.raises(error), whole_folder(tmp_path / "deep" / "er" / "run") as folder:
        (folder / "model.json").write_text("{}")
        raise error
    assert names(tmp_path) == []


def test_a_run_that_is_there_is_refused_or_replaced(tmp_path):
    write_run(tmp_path / "run")
    with pytest.raises(InputError, match=r"there already.*--overwrite"):
        write_run(tmp_path / "run", "two")
    assert (tmp_path / "run" / "model.json").read_text() == "one"
    (tmp_path / "run" / "notes").write_text("mine")
    write_run(tmp_path / "run", "two", overwrite=True)
    assert names(tmp_path) == ["run"] and names(tmp_path / "run") == ["model.json"]
    assert (tmp_path / "run" / "model.json").read_text() == "two"


def test_a_run_that_came_meanwhile_is_not_replaced(tmp_path):
    with pytest.raises(InputError, match="there already"), whole_folder(tmp_path / "run"):
        write_run(tmp_path / "run", "theirs")
    assert names(tmp_path) == ["run"] and (tmp_path / "run" / "model.json").read_text() == "theirs"


def test_an_error_while_replacing_keeps_the_old_run(tmp_path):
    write_run(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path / "run", overwrite=True) as folder:
        (folder / "model.json").write_text("two")
        raise KeyboardInterrupt
    assert names(tmp_path) == ["run"] and (tmp_path / "run" / "model.json").read_text() == "one"


def test_only_what_metapn_wrote_is_ever_replaced(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter").write_text("years of work")
    with pytest.raises(InputError, match="no run folder"):
        write_run(tmp_path / "thesis", overwrite=True)
    (tmp_path / "file").write_text("a file")
    with pytest.raises(InputError, match="no folder"):
        write_run(tmp_path / "file", overwrite=True)
    assert (tmp_path / "thesis" / "chapter").read_text() == "years of work"


def test_a_link_to_a_run_stays_one(tmp_path):
    write_run(tmp_path / "run")
    (tmp_path / "link").symlink_to(tmp_path / "run")
    write_run(tmp_path / "link", "two", overwrite=True)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "run" / "model.json").read_text() == "two"


def test_where_names_cannot_be_exchanged_the_old_run_steps_aside(tmp_path, monkeypatch):
    def cannot(one, two):
        raise OSError(errno.EINVAL, "not on this file system")

    monkeypatch.setattr(run_folder, "_exchange", cannot)
    write_run(tmp_path / "run")
    write_run(tmp_path / "run", "two", overwrite=True)
    assert names(tmp_path) == ["run"] and (tmp_path / "run" / "model.json").read_text() == "two"


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    code = (
        "import os, sys\nfrom metapn.deploy.run_folder import whole_folder\n"
        "with whole_folder(sys.argv[1]) as folder:\n"
        "    (folder / 'half').write_text('half')\n    os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, tmp_path / "run"], check=False)
    assert killed.returncode == -9
    (left,) = names(tmp_path)
    assert left.startswith(".run.") and left.endswith(".part")
    with whole_folder(tmp_path / "run") as folder:
        assert names(tmp_path) == [folder.name] != [left]
        write_run(tmp_path / "run.2")
        with pytest.raises(ValueError, match="mine"), whole_folder(tmp_path / "run"):
            assert len(names(tmp_path)) == 3 and folder.exists()
            raise ValueError("mine")
        assert folder.exists()
    assert names(tmp_path) == ["run", "run.2"]


def test_others_may_read_a_run_if_they_may_read_other_files(tmp_path):
    write_run(tmp_path / "run")
    (tmp_path / "plain").mkdir()
    assert (tmp_path / "run").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_name_of_glob_letters_is_a_name(tmp_path):
    write_run(tmp_path / "run[1]*")
    assert names(tmp_path) == ["run[1]*"]


def test_a_place_below_a_file_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("a file")
    with pytest.raises(InputError, match="choose another place"):
        write_run(tmp_path / "file" / "run")
    assert names(tmp_path) == ["file"]


def test_the_mask_of_the_process_is_left_as_it_was():
    before = os.umask(0o027)
    try:
        assert run_folder._umask() == 0o027 and os.umask(0o027) == 0o027
    finally:
        os.umask(before)
