import pytest

from metapn import InputError, datasets
from metapn.data.registry import Counts
from metapn.experiments import request as module
from metapn.experiments.request import Request, look_up


def test_data_sets_know_what_they_are_in():
    found = Request(("table1", "table2", "figure2"), datasets=["Cora-ML", "ogbn-arxiv"]).data_sets()
    assert found == {"cora_ml": ["table1", "table2"], "ogbn-arxiv": ["table1", "figure2"]}


def test_what_cannot_be_had_is_left_out_and_the_rest_is_made(monkeypatch):
    def load(name):
        if name == "pubmed":
            raise InputError("no network")
        return datasets.load("sbm-100")

    monkeypatch.setattr(module, "load", load)
    request = Request(("table2",), datasets=["pubmed", "sbm-100"], methods=["lp"])
    counts, errors = look_up(request)
    assert counts == {"sbm-100": Counts(nodes=100, edges=500, features=16, classes=4)}
    assert [(name, str(error)) for name, error in errors.items()] == [("pubmed", "no network")]
    (planned,) = request.cells(counts).values()
    assert {cell.dataset for cell in planned} == {"sbm-100"} and len(planned) == 2 * 2


def test_nothing_to_be_had_is_an_error(monkeypatch):
    def load(name):
        raise InputError(f"no {name}")

    monkeypatch.setattr(module, "load", load)
    with pytest.raises(InputError, match="no cora_ml"):
        look_up(Request(("table2",)))


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request(("figure2",), datasets=["cora_ml"]), "figure2 of the paper has none of the data sets cora_ml"),
        (Request(("figure4",), methods=["lp"]), "figure4 of the paper has none of the methods lp"),
        (Request(("table2",), datasets=["cora"]), "did you mean cora_ml"),
        (Request(("table2",), methods=["metapm"]), "metapn"),
    ],
)
def test_what_the_paper_does_not_have_is_told(request_, words):
    with pytest.raises(InputError, match=words):
        request_.cells(request_.data_sets())
