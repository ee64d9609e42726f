"""The plan of the reproduction: the paper's cells, all of them, and no others."""

import itertools

import pytest

from metapn.experiments.cell import PROTOCOLS
from metapn.experiments.paper import DATASETS, METHODS, published
from metapn.experiments.plan import ARTEFACTS, cells, data_sets

TABLES = ("table2", "table3", "table4")


def plain(found):
    return [(c.dataset, c.method, c.shot, c.protocol, *c.settings.items()) for c in found]


def test_the_tables_have_the_cells_that_the_paper_prints_a_number_for_and_no_others():
    """Both protocols; Meta-PN besides with the transformer's own prediction, which is the paper's text."""
    found = [cell for table in TABLES for cell in cells(table)]
    assert len(plain(found)) == len(set(plain(found)))
    printed = {
        (d, m, s)
        for d, m, s in itertools.product(DATASETS, METHODS, (3, 5, 10, 20))
        if published(m, d, s) is not None
    }
    for protocol in PROTOCOLS:
        defaults = [c for c in found if c.protocol == protocol and not c.settings]
        assert {(c.dataset, c.method, c.shot) for c in defaults} == printed
        others = [c for c in found if c.protocol == protocol and c.settings]
        assert {(c.dataset, c.method, c.shot) for c in others} == {cell for cell in printed if cell[1] == "metapn"}
        assert all(c.settings == {"final": "transformer"} for c in others)


@pytest.mark.parametrize(("table", "shots"), [("table2", {3, 5}), ("table3", {20}), ("table4", {10})])
def test_each_table_has_its_shots(table, shots):
    assert {cell.shot for cell in cells(table)} == shots


def test_figure_2_is_ogbn_arxiv_by_label_ratio():
    found = cells("figure2", protocols=["paper"])
    assert {c.dataset for c in found} == {"ogbn-arxiv"}
    assert {c.method for c in found} == set(METHODS) - {"mlp", "static-lp"}
    assert {c.shot for c in found} == {0.01, 0.015, 0.02, 0.025}
    assert len(found) == 11 * 4 and not any(c.settings for c in found)


def test_figure_3_is_accuracy_by_depth_of_three_methods():
    found = cells("figure3", protocols=["paper"])
    steps = (1, 2, 4, 6, 8, 10, 15, 20)
    expected = {
        (d, m, 0.01 if d == "ogbn-arxiv" else 5, "paper", (setting, k))
        for d in ("cora_ml", "citeseer", "pubmed", "ogbn-arxiv")
        for m, setting in (("gcn", "n_layers"), ("static-lp", "n_hops"), ("metapn", "n_hops"))
        for k in steps
    }
    assert set(plain(found)) == expected and len(found) == len(expected)


def test_figure_4_is_two_maps_for_one_protocol():
    assert plain(cells("figure4")) == [("cora_ml", "appnp", 5, "paper"), ("cora_ml", "metapn", 5, "paper")]


def test_table_1_is_counted_not_run():
    assert cells("table1") == [] and data_sets("table1") == list(DATASETS)


def test_what_is_asked_for_by_any_of_its_names_and_nothing_else():
    found = cells("table2", datasets=["Cora-ML", "SBM-200"], methods=["Meta-PN", "static-lp"], protocols=["paper"])
    assert {(c.dataset, c.method) for c in found} == set(
        itertools.product(("cora_ml", "sbm-200"), ("metapn", "static-lp"))
    )
    assert cells("table2", datasets=["ogbn-arxiv"]) == [], "the paper labels it by ratio"
    assert cells("figure2", datasets=["cora_ml", "digits"]) == []
    assert {c.dataset for c in cells("figure2", datasets=["arxiv-like"])} == {"arxiv-like"}
    assert cells("figure4", methods=["lp"]) == []


def test_every_table_and_figure_of_the_evaluation_is_there():
    assert list(ARTEFACTS) == ["table1", *TABLES, "figure2", "figure3", "figure4"]
