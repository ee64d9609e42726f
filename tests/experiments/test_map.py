import json

import numpy as np
import pytest

from metapn.experiments.cell import Cell
from metapn.experiments.map import draw_map, is_drawn

CELL = Cell("sbm-100", "metapn", settings={"max_epochs": 5})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("map")
    assert not is_drawn(CELL, folder)
    draw_map(CELL, folder)
    return folder


def test_a_map_has_a_place_for_every_node(folder):
    with np.load(folder / "map-sbm-100-metapn.npz", allow_pickle=False) as found:
        assert found["places"].shape == (100, 2) and np.isfinite(found["places"]).all()
        assert sorted(np.unique(found["labels"])) == [0, 1, 2, 3] and found["labels"].shape == (100,)
        assert 0 <= found["accuracy"] <= 1
        assert json.loads(str(found["cell"])) == list(CELL.key())


def test_it_is_drawn_anew_only_when_a_setting_has_changed(folder):
    assert is_drawn(CELL, folder)
    assert not is_drawn(Cell("sbm-100", "metapn", settings={"max_epochs": 6}), folder)
    assert not is_drawn(Cell("sbm-100", "appnp"), folder)


def test_the_same_cell_gives_the_same_bits(folder, tmp_path):
    draw_map(CELL, tmp_path)
    one, other = (np.load(each / "map-sbm-100-metapn.npz")["places"] for each in (folder, tmp_path))
    assert one.tobytes() == other.tobytes()
