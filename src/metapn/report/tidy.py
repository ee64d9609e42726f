"""The results as CSV: a row for each cell, a column for each number, accuracies as shares of one."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from metapn.experiments.ledger import CellKey, Record
from metapn.experiments.paper import published
from metapn.experiments.verdict import PairedTest, summarise, verdict
from metapn.report.calibration import calibration_error
from metapn.report.results import Results

COLUMNS = (
    *("artefacts", "dataset", "method", "shot", "protocol", "settings", "final", "runs", "seeds"),
    *("mean", "low", "high", "paper_mean", "paper_half_width", "difference", "verdict", "mark"),
    *("metapn_ahead_by", "p", "p_corrected", "pairs"),
    *("validation", "calibration_error", "seconds", "epochs", "best_epoch", "megabytes", "versions"),
)


def tidy(results: Results) -> str:
    """Write a row for each cell of the folder; empty is what a cell does not have.

    ``artefacts``, ``seeds`` and ``versions`` are lists with blanks between; ``settings`` is JSON. ``seconds``,
    ``epochs``, ``best_epoch`` and ``validation`` are means over the runs, ``megabytes`` is the most.
    """
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(results))
    return file.getvalue()


def _rows(results: Results) -> Iterator[dict[str, object]]:
    where: dict[CellKey, list[str]] = {}
    for artefact, cells in results.cells.items():
        for cell in cells:
            where.setdefault(cell.key(), []).append(artefact)
    marks, tests = _contested(results)
    for key, records in results.records.items():
        yield {
            "artefacts": " ".join(where.get(key, [])),
            "mark": marks.get(key, ""),
            **_own(key, records),
            **_compared(tests.get(key)),
        }


def _own(key: CellKey, records: Sequence[Record]) -> dict[str, object]:
    summary, printed = summarise(records), published(key.method, key.dataset, key.shot)
    found = verdict(summary, printed)
    scores = [run.validation for run in records if run.validation is not None]
    error = calibration_error(records)
    return {
        **key._asdict(),
        "final": records[0].final,
        "runs": summary.n,
        "seeds": " ".join(str(run.seed) for run in records),
        "mean": summary.mean,
        "low": summary.low,
        "high": summary.high,
        "paper_mean": "" if printed is None else printed.mean,
        "paper_half_width": "" if printed is None else printed.half_width,
        "difference": "" if found.difference is None else found.difference,
        "verdict": found.word,
        "validation": sum(scores) / len(scores) if scores else "",
        "calibration_error": "" if error is None else error,
        "seconds": sum(run.seconds for run in records) / len(records),
        "epochs": sum(run.epochs for run in records) / len(records),
        "best_epoch": sum(run.best_epoch for run in records) / len(records),
        "megabytes": max(run.megabytes for run in records),
        "versions": " ".join(sorted({run.version for run in records})),
    }


def _contested(results: Results) -> tuple[dict[CellKey, str], dict[CellKey, PairedTest]]:
    """Find the marks and the tests of all methods that are compared with each other."""
    marks, tests = {}, {}
    for places in results.contests.values():
        for contest in places.values():
            for score in (score for score in contest.scores if score.plain):
                key = score.cell.key()
                marks[key] = contest.mark(score)
                if score.cell.method in contest.tests:
                    tests[key] = contest.tests[score.cell.method]
    return marks, tests


def _compared(test: PairedTest | None) -> dict[str, object]:
    names = ("metapn_ahead_by", "p", "p_corrected", "pairs")
    values = ("",) * 4 if test is None else (test.difference, test.p_value, test.p_corrected, test.n)
    return dict(zip(names, values, strict=True))
