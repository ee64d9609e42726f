"""A folder of results: what is asked for is made, once."""

import json
from dataclasses import asdict

import pytest

from metapn import InputError
from metapn.experiments import ledger
from metapn.experiments.backlog import Progress
from metapn.experiments.reproduce import reproduce
from metapn.experiments.request import Request, look_up

REQUEST = Request(("table1", "table2", "figure4"), datasets=["sbm-100"], methods=["lp", "appnp"], n_runs=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder, states = tmp_path_factory.mktemp("results") / "new", []
    result = make(REQUEST, folder, states)
    return folder, result, states


def make(request, folder, states=None, command="metapn reproduce"):
    states = [] if states is None else states
    counts, _ = look_up(request)
    return reproduce(request, counts, folder, command=command, on_progress=states.append)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_cell_has_its_runs(made):
    folder, result, _ = made
    (cells,) = result.cells.values()
    assert list(result.cells) == ["table2"] and len(cells) == 2 * 2 * 2  # methods, shots, protocols
    for cell in cells:
        assert sorted(run.seed for run in result.records[cell.key()]) == [0, 1]
    assert len(ledger.read(folder)) == 16
    assert [(cell.dataset, cell.method) for cell in result.maps] == [("sbm-100", "appnp")]
    assert (folder / "map-sbm-100-appnp.npz").exists()


def test_the_data_sets_are_counted(made):
    folder, _, _ = made
    counts, _ = look_up(REQUEST)
    assert json.loads((folder / "datasets.json").read_text()) == {"sbm-100": asdict(counts["sbm-100"])}


def test_progress_starts_with_nothing_and_ends_with_everything(made):
    _, _, states = made
    assert states[0] == Progress(0, 9, 0, 17) and states[-1] == Progress(9, 9, 17, 17)
    assert [state.runs for state in states] == list(range(18))


def test_again_it_computes_nothing_and_leaves_every_file_as_it_is(made):
    folder, result, _ = made
    before = contents(folder)
    states = []
    again = make(REQUEST, folder, states, command="another")
    assert contents(folder) == before
    assert states == [Progress(9, 9, 17, 17)]
    assert again == result


def test_another_command_adds_to_the_folder(made, tmp_path):
    folder, _, _ = made
    for name, content in contents(folder).items():
        (tmp_path / name).write_bytes(content)
    make(Request(("table2",), datasets=["sbm-100"], methods=["mlp"], n_runs=1), tmp_path, command="another")
    assert len(ledger.read(tmp_path)) == 16 + 4
    noted = json.loads((tmp_path / "environment.json").read_text())
    assert noted["command"] == "metapn reproduce\nanother" and noted["finished"]
    assert "sbm-100" in json.loads((tmp_path / "datasets.json").read_text())


def test_a_held_folder_is_refused_and_left_alone(made):
    folder, _, _ = made
    before = contents(folder)
    with ledger.held(folder), pytest.raises(InputError, match="another process"):
        make(Request(("table2",), datasets=["sbm-100"], methods=["sgc"], n_runs=1), folder)
    assert contents(folder) == before
