"""What is in the folder stays, what is missing is run, and the whole is that of a command never interrupted."""

from dataclasses import replace

import pytest

from metapn import InputError
from metapn.experiments import ledger
from metapn.experiments.backlog import Backlog, Progress
from metapn.experiments.cell import Cell

LP = Cell("sbm-100", "lp", 3)
#: Blocks of four seeds, short.
QUICK = Cell("sbm-100", "metapn", 3, settings={"max_epochs": 4})


def work_off(folder, cells, n_runs):
    return list(Backlog(folder, cells, n_runs).work_off())


def without_costs(records):
    return sorted((replace(r, seconds=0.0, megabytes=0.0) for r in records), key=lambda r: (r.key, r.seed))


def test_everything_is_missing_from_an_empty_folder_and_nothing_from_a_full_one(tmp_path):
    backlog = Backlog(tmp_path, [QUICK, LP], 5)
    assert [block.seeds for block in backlog.missing() if block.cell == QUICK] == [(0, 1, 2, 3), (4,)]
    assert [block.seeds for block in backlog.missing() if block.cell == LP] == [(s,) for s in range(5)]
    states = list(backlog.work_off())
    assert [state.runs for state in states] == sorted(state.runs for state in states)
    assert states[-1] == backlog.progress() == Progress(2, 2, 10, 10)
    assert Backlog(tmp_path, [QUICK, LP], 5).missing() == backlog.missing() == []
    assert work_off(tmp_path, [QUICK, LP], 5) == []


def test_a_block_that_was_cut_in_two_is_run_whole_and_written_in_part(tmp_path):
    work_off(tmp_path / "whole", [QUICK], 4)
    whole = ledger.read(tmp_path / "whole")
    ledger.append(tmp_path / "cut", [whole[2], whole[0]])
    assert [block.seeds for block in Backlog(tmp_path / "cut", [QUICK], 4).missing()] == [(0, 1, 2, 3)]
    work_off(tmp_path / "cut", [QUICK], 4)
    resumed = ledger.read(tmp_path / "cut")
    assert resumed[:2] == [whole[2], whole[0]], "what is there stays"
    assert without_costs(resumed) == without_costs(whole)


def test_more_runs_add_to_those_that_are_there(tmp_path):
    work_off(tmp_path, [LP], 2)
    before = ledger.read(tmp_path)
    work_off(tmp_path, [LP], 3)
    assert ledger.read(tmp_path)[:2] == before
    assert [record.seed for record in ledger.read(tmp_path)] == [0, 1, 2]
    assert Backlog(tmp_path, [LP], 1).progress() == Progress(1, 1, 1, 1), "more than asked for do not count"


def test_a_changed_setting_is_a_new_cell(tmp_path):
    work_off(tmp_path, [LP], 1)
    changed = replace(LP, settings={"alpha": 0.3})
    backlog = Backlog(tmp_path, [changed], 1)
    assert backlog.progress().runs == 0
    list(backlog.work_off())
    one, other = ledger.read(tmp_path)
    assert (one.settings, other.settings) == ({}, {"alpha": 0.3}) and one.key != other.key


def test_cells_that_are_the_same_to_the_last_setting_are_one(tmp_path):
    default = replace(LP, settings={"alpha": 0.1})
    assert Backlog(tmp_path, [LP, default, Cell("SBM-100", "LP", 3.0)], 2).progress() == Progress(0, 1, 0, 2)


def test_blocks_of_a_data_set_are_in_a_row(tmp_path):
    other = replace(LP, dataset="sbm-90")
    cells = [LP, other, replace(LP, shot=5), replace(other, shot=5)]
    found = [block.cell.dataset for block in Backlog(tmp_path, cells, 1).missing()]
    assert found == ["sbm-100", "sbm-100", "sbm-90", "sbm-90"]


def test_a_run_that_fails_leaves_those_before_it(tmp_path):
    """Twenty labels a class are more than so small a graph has to give."""
    with pytest.raises(InputError):
        work_off(tmp_path, [LP, replace(LP, shot=20)], 2)
    assert [record.shot for record in ledger.read(tmp_path)] == [3, 3]


def test_other_work_counts_as_cells_of_one_run():
    assert Progress(1, 2, 30, 40).besides(1, 3) == Progress(2, 5, 31, 43)
