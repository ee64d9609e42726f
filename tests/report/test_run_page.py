"""The page of a run: every number on it is that of the run."""

import dataclasses

import numpy as np
import pytest

from metapn.report.blocks import Table, Tiles
from metapn.report.layout import plane, sampled
from metapn.report.page import html
from metapn.report.run_page import run_page


def section(page, title):
    return next(each for each in page.sections if each.title == title).blocks


def test_the_least_certain_come_first_and_nodes_with_a_label_are_not_doubted(run_view):
    (table,) = section(run_page(run_view), "Least certain")
    names = [row[0] for row in table.rows]
    doubted = np.flatnonzero(run_view.hops != 0)
    expected = doubted[np.argsort(run_view.confidence[doubted], kind="stable")][:20]
    assert names == [run_view.ids[node] for node in expected]
    node = expected[0]
    second, first = np.argsort(run_view.probabilities[node])[-2:]
    assert table.rows[0][1:4] == (
        run_view.classes[first],
        f"{run_view.probabilities[node, first]:.1%}",
        run_view.classes[second],
    )


def test_the_suggested_are_in_the_order_given(run_view):
    (table,) = section(run_page(run_view), "Worth labelling next")
    assert [row[0] for row in table.rows] == [run_view.ids[node] for node in run_view.suggested]


def test_tiles_count_what_there_is(run_view):
    tiles = next(block for block in section(run_page(run_view), "At a glance") if isinstance(block, Tiles)).tiles
    unreached = int((run_view.hops < 0).sum())
    assert [tile.value for tile in tiles[:2]] == ["9", "291"] and tiles[3].value == str(unreached)
    assert unreached > 0 and tiles[3].word == "bad"


def test_shares_of_the_sure_are_counted_by_class(run_view):
    table = next(block for block in section(run_page(run_view), "How sure it is") if isinstance(block, Table))
    for c, row in enumerate(table.rows):
        mine = run_view.confidence[run_view.predicted == c]
        assert row[:3] == (run_view.classes[c], f"{len(mine):,}", f"{(mine >= 0.5).mean():.0%}")


def test_names_of_nodes_and_classes_are_text_wherever_they_stand(run_view):
    ids = ["<script>alert(1)</script>", *run_view.ids[1:]]
    hops = run_view.hops.copy()
    hops[0] = 1
    suggested = np.array([0, 1])
    view = dataclasses.replace(run_view, ids=ids, hops=hops, suggested=suggested, classes=["<b>", "&amp;", "c"])
    text = html(run_page(view))
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text
    assert "<b>" not in text and "&lt;b&gt;" in text and "&amp;amp;" in text


def test_a_class_that_no_node_was_given_and_a_handful_of_nodes_are_no_trouble(run_view):
    few = {name: getattr(run_view, name)[:3] for name in ("ids", "probabilities", "hops", "hidden", "hop_weights")}
    view = dataclasses.replace(run_view, **few, suggested=np.array([], dtype=int), classes=["a", "b", "c"])
    view.probabilities[:] = [0.9, 0.1, 0.0]
    assert "too few for a map" in html(run_page(view))


@pytest.mark.parametrize("n_nodes", [3, 50])
def test_the_sample_of_the_map_holds_what_is_kept_and_no_node_twice(n_nodes):
    kept = np.array([2, 1])
    drawn = sampled(n_nodes, kept, most=10)
    assert set(kept) <= set(drawn) and len(set(drawn)) == len(drawn) == min(10, n_nodes)
    assert (np.diff(drawn) > 0).all()


def test_the_layout_is_the_same_each_time_and_works_for_rows_that_are_all_alike():
    hidden = np.repeat(np.eye(3, 4, dtype=np.float32), 4, axis=0)
    np.testing.assert_array_equal(plane(hidden), plane(hidden))
    assert np.isfinite(plane(np.zeros((6, 2), dtype=np.float32))).all()
