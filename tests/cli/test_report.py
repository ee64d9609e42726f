import csv
import json

import pytest

from metapn.experiments.backlog import record
from metapn.experiments.cell import Cell
from metapn.experiments.ledger import append
from metapn.experiments.run import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A few real runs on a small graph."""
    made = tmp_path_factory.mktemp("results")
    for cell in (
        Cell("sbm-200", name, 3, protocol) for name in ("lp", "sgc") for protocol in ("paper", "no-validation")
    ):
        append(made, [record(cell, outcome) for outcome in run(cell, [0, 1])])
    return made


def test_the_page_lies_in_the_folder_unless_told_otherwise(metapn, folder, tmp_path):
    code, out, err = metapn("report", folder)
    assert (code, err) == (0, "") and str(folder / "report.html") in "".join(out.split("\n"))
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert metapn("report", folder, "--out", tmp_path / "page.html")[0] == 0
    assert (tmp_path / "page.html").read_text() == (folder / "report.html").read_text()


def test_every_format_has_the_means_of_the_ledger(metapn, folder, tmp_path):
    runs = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    for name in ("html", "md", "csv"):
        assert metapn("report", folder, "--format", name, "--out", tmp_path / f"report.{name}")[0] == 0
    with (tmp_path / "report.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 4
    for row in rows:
        inside = [r["accuracy"] for r in runs if (r["method"], r["protocol"]) == (row["method"], row["protocol"])]
        mean = sum(inside) / 2
        assert float(row["mean"]) == pytest.approx(mean)
        for name in ("html", "md"):
            assert f"{100 * mean:.2f}" in (tmp_path / f"report.{name}").read_text()


def test_a_folder_without_results_is_told_in_a_sentence(metapn, tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        code, out, err = metapn("report", folder)
        assert (code, out) == (2, "")
        assert err.startswith("Error: ") and err.count("\n") == 1 and "metapn reproduce" in err
        assert list(tmp_path.iterdir()) == []


def test_a_report_that_cannot_be_written_leaves_the_old_one(metapn, folder, tmp_path):
    code, _, err = metapn("report", folder, "--out", tmp_path / "no" / "such" / "folder.html")
    assert code == 2 and err.count("\n") == 1
    (tmp_path / "report.html").write_text("old")
    (folder / "datasets.json").write_text("damaged")
    try:
        assert metapn("report", folder, "--out", tmp_path / "report.html")[0] == 2
    finally:
        (folder / "datasets.json").unlink()
    assert (tmp_path / "report.html").read_text() == "old"
