"""The report says what the ledger says, of whatever part of the paper is in the folder."""

import csv
import io
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn.errors import InputError
from metapn.experiments import ledger
from metapn.experiments.cell import Cell
from metapn.experiments.paper import published
from metapn.experiments.plan import ARTEFACTS, cells
from metapn.report import blocks
from metapn.report.calibration import calibration_error
from metapn.report.contents import contents
from metapn.report.markdown import markdown
from metapn.report.page import html
from metapn.report.results import Results
from metapn.report.tidy import COLUMNS, tidy
from metapn.report.words import NONE
from metapn.trust.reliability import expected_calibration_error, reliability

MINUS = "\N{MINUS SIGN}"


@pytest.fixture(scope="module")
def results(whole):
    return Results.read(whole)


@pytest.fixture(scope="module")
def page(results):
    return contents(results)


def every(kind, parts):
    """All blocks of a kind, also those inside of others."""
    for block in parts:
        if isinstance(block, kind):
            yield block
        if isinstance(block, blocks.Fold):
            yield from every(kind, block.blocks)


def tables(page, title):
    section = next(section for section in page.sections if section.title.startswith(title))
    return list(every(blocks.Table, section.blocks))


def test_every_part_of_the_paper_has_its_section(page):
    titles = [section.title for section in page.sections]
    for start in ("Verdict", "Table 1", "Table 2", "Table 3", "Table 4", "Figure 2", "Figure 3", "Figure 4"):
        assert sum(title.startswith(start) for title in titles) == 1, start
    assert titles[8:] == ["Learning curves", "What the propagator learned", "Calibration", "Cost", "Environment"]
    assert all(list(every((blocks.Table, blocks.Figure), section.blocks)) for section in page.sections)


def test_a_row_is_the_mean_of_the_runs_and_its_distance_from_the_paper(results, page):
    table = next(table for table in tables(page, "Table 2") if table.caption.startswith("CiteSeer, 3 labels"))
    row = next(row for row in table.body() if row[0].text == "DAGNN")
    mean = np.mean([run.accuracy for run in results.records[Cell("citeseer", "dagnn", 3).key()]])
    printed = published("dagnn", "citeseer", 3).mean
    assert float(row[1].text.split(" ± ")[0]) == pytest.approx(100 * mean, abs=0.006)
    assert row[2].text.startswith(f"{100 * printed:.2f} ± ")
    difference, word = row[3].text.split()
    assert float(difference.replace(MINUS, "-")) == pytest.approx(100 * (mean - printed), abs=0.006)
    assert word == row[3].word in ("reproduced", "above", "below")


def test_best_and_second_best_are_those_with_the_highest_means(page):
    for title in ("Table 2", "Table 3", "Table 4"):
        for table in tables(page, title):
            rows = [row for row in table.body() if "alone" not in row[0].text]
            for column, head in enumerate(table.heads()):
                if head.title in ("ours", "the paper's"):
                    means = {
                        row[column]: float(row[column].text.split()[0]) for row in rows if row[column].text != NONE
                    }
                    ranked = sorted(means.values(), reverse=True)
                    assert {means[cell] for cell in means if cell.mark == "best"} == {ranked[0]}
                    assert {means[cell] for cell in means if cell.mark == "second"} <= {ranked[1]}


def test_the_marks_of_the_paper_are_the_papers(page):
    table = next(table for table in tables(page, "Table 2") if table.caption.startswith("Cora-ML, 5 labels"))
    marks = {row[0].text: row[2].mark for row in table.body() if row[2].mark}
    assert marks == {"Meta-PN": "best", "APPNP": "second"}


def test_the_verdict_counts_the_cells(results, page):
    tiles = next(every(blocks.Tiles, page.sections[0].blocks)).tiles
    counted = {tile.label.split()[0]: int(tile.value) for tile in tiles}
    rows = list(csv.DictReader(io.StringIO(tidy(results))))
    judged = [
        row["verdict"]
        for row in rows
        if row["protocol"] == "paper" and "table" in row["artefacts"] and "transformer" not in row["settings"]
        if row["paper_mean"]
    ]
    for word in ("reproduced", "above", "below"):
        assert counted[word] == judged.count(word)
    assert counted["not"] == 0 and len(judged) == 192


def test_csv_holds_every_cell_with_all_its_numbers(results):
    rows = list(csv.DictReader(io.StringIO(tidy(results))))
    assert list(rows[0]) == list(COLUMNS)
    assert len(rows) == len(results.records)
    for row in rows:
        shot = float(row["shot"])
        key = ledger.CellKey(row["dataset"], row["method"], shot, row["protocol"], row["settings"])
        runs = results.records[key]
        assert float(row["mean"]) == pytest.approx(np.mean([run.accuracy for run in runs]), abs=1e-12)
        assert row["seeds"].split() == [str(run.seed) for run in runs] and int(row["runs"]) == len(runs)
        assert float(row["seconds"]) == pytest.approx(np.mean([run.seconds for run in runs]))
        printed = published(row["method"], row["dataset"], shot)
        assert row["paper_mean"] == ("" if printed is None else str(printed.mean))
        json.loads(row["settings"])


def test_markdown_has_the_same_tables(page):
    text = markdown(page)
    wanted = [table for section in page.sections for table in every(blocks.Table, section.blocks)]
    found = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    assert len(found) == len(wanted)
    for table, written in zip(wanted, found, strict=True):
        lines = written.strip().split("\n")
        assert len(lines) == 2 + len(table.rows)
        assert {len(re.split(r"(?<!\\)\|", line)) for line in lines} == {len(table.columns) + 2}
        for row, line in zip(table.body(), lines[2:], strict=True):
            assert all(cell.text.replace("_", r"\_").replace("*", r"\*") in line for cell in row)


def test_what_comes_from_outside_is_escaped(whole, tmp_path):
    evil = "<script>alert(1)</script>"
    run = next(iter(Results.read(whole).records.values()))[0]
    strange = [
        ledger.Record(**{**vars(run), "method": evil, "dataset": evil, "settings": {evil: evil}}),
        ledger.Record(**{**vars(run), "settings": {"a|b": "*x*"}}),
    ]
    results = Results.of([run, *strange], environment={"command": evil, "platform": evil, "finished": None})
    assert "<script" not in html(contents(results))
    assert not re.search(r"(?<!\\)<script", markdown(contents(results)).replace(f"```\n{evil}\n```", ""))
    assert contents(results).sections[-2].title == "Other runs"
    assert len(list(csv.reader(io.StringIO(tidy(results))))) == 4


ALL_CELLS = list({cell.key(): cell for each in ARTEFACTS for cell in cells(each)}.values())


@given(drawn=st.lists(st.tuples(st.sampled_from(ALL_CELLS), st.integers(0, 3)), unique_by=str, max_size=12))
@settings(max_examples=20, deadline=None)
def test_any_part_of_the_results_renders(drawn, made_up_run):
    results = Results.of([made_up_run(cell, seed) for cell, seed in drawn])
    page = contents(results)
    assert html(page).count("<section") == len(page.sections)
    drawn_only = [s for s in page.sections if all(isinstance(block, blocks.Figure) for block in s.blocks)]
    assert markdown(page).count("\n## ") == len(page.sections) - len(drawn_only)
    assert len(list(csv.reader(io.StringIO(tidy(results))))) == 1 + len(results.records)


def test_what_is_missing_is_said(made_up, tmp_path):
    folder = made_up(tmp_path, ["table3"], datasets=["citeseer", "pubmed"], methods=["gcn", "metapn"])
    page = contents(Results.read(folder))
    (said,) = (found.items for found in every(blocks.Items, page.sections[0].blocks) if "Table 1" in found.items[0])
    assert said[0] == "Table 1: nothing is there; make it with metapn reproduce table1."
    table3 = next(item for item in said if item.startswith("Table 3"))
    assert "Cora-ML" in table3 and "MS-CS" in table3 and "LP" in table3 and "Meta-PN" not in table3
    assert [section.title for section in page.sections if section.title.startswith(("Table", "Figure"))] == [
        "Table 3: 20 labels a class"
    ]


def test_runs_that_go_on_are_told(whole):
    found = Results.read(whole)
    going_on = Results(found.records, found.statistics, found.maps, found.environment | {"finished": None})
    items = [item for found in every(blocks.Items, contents(going_on).sections[0].blocks) for item in found.items]
    assert any("has not ended" in item for item in items)


def test_settings_of_another_version_are_not_mixed_in(whole):
    run = Results.read(whole).records[Cell("cora_ml", "gcn", 5).key()][0]
    other = ledger.Record(**{**vars(run), "settings": {"dropout": 0.123}})
    results = Results.of([run, other])
    assert results.elsewhere() == [other.key]
    assert "dropout = 0.123" in html(contents(results))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("runs.jsonl", b"{}\n"),
        ("datasets.json", b'{"cora_ml": {"nodes": 1}}'),
        ("environment.json", b"[]"),
        ("map-cora_ml-metapn.npz", b"PK"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=name):
        Results.read(tmp_path)


def test_the_calibration_error_is_that_of_the_probabilities(whole):
    random = np.random.default_rng(0)
    run = next(iter(Results.read(whole).records.values()))[0]
    errors, runs = [], []
    for _ in range(3):
        confidence = random.uniform(0.2, 1, 400)
        right = random.random(400) < confidence**2
        runs.append(ledger.Record(**{**vars(run), "observations": {"calibration": reliability(confidence, right)}}))
        errors.append(expected_calibration_error(confidence, right))
    assert calibration_error(runs) == pytest.approx(np.mean(errors), abs=1e-4)
    assert calibration_error([ledger.Record(**{**vars(run), "observations": {}})]) is None


def test_several_folders_make_one_report(made_up, tmp_path):
    one = made_up(tmp_path / "one", ["table1", "table3"], datasets=["citeseer"], methods=["gcn"])
    other = made_up(tmp_path / "other", ["table3", "figure4"], datasets=["cora_ml"], methods=["gcn", "metapn"])
    both = Results.read(one, other)
    parts = [Results.read(one), Results.read(other)]
    assert both.records == parts[0].records | parts[1].records
    assert both.statistics == parts[0].statistics and [each.key for each in both.maps] == [parts[1].maps[0].key]
    assert both.environment["finished"] is not None and "earlier" not in both.environment
    again = made_up(tmp_path / "again", ["table3"], datasets=["citeseer"], methods=["gcn"])
    assert Results.read(one, other, again).records == both.records
    lines = (again / "runs.jsonl").read_text()
    (again / "runs.jsonl").write_text(lines.replace('"accuracy": 0.', '"accuracy": 0.0', 1))
    with pytest.raises(InputError, match="differ in the run of gcn on citeseer, seed 0"):
        Results.read(one, other, again)
    with pytest.raises(InputError, match="empty holds no results"):
        Results.read(one, tmp_path / "empty")
