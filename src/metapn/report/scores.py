"""What the runs of a folder come to, cell by cell, and who is ahead of whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from metapn.experiments.cell import Cell
from metapn.experiments.ledger import Record
from metapn.experiments.paper import METHODS, Published, published
from metapn.experiments.verdict import PairedTest, Summary, Verdict, paired_tests, verdict

#: Data set, shot and protocol.
Place: TypeAlias = tuple[str, float, str]


@dataclass(frozen=True)
class Score:
    """A cell, its runs, and how it compares with the paper's."""

    cell: Cell
    records: Sequence[Record]
    summary: Summary
    published: Published | None
    verdict: Verdict

    @classmethod
    def of(cls, cell: Cell, records: Sequence[Record], summary: Summary) -> Score:
        """Compare a cell with the paper's."""
        printed = published(cell.method, cell.dataset, cell.shot)
        return cls(cell, records, summary, printed, verdict(summary, printed))

    @property
    def plain(self) -> bool:
        """Whether this is the method as it is, and not a variant of it."""
        return not self.cell.settings


@dataclass(frozen=True)
class Contest:
    """All methods on one data set, with as many labels, under one protocol.

    Parameters
    ----------
    scores : sequence of Score
        In the order of the paper.
    """

    scores: Sequence[Score]

    def mark(self, score: Score) -> str:
        """Whether a method is the best or the second best of them; variants of a method do not take part."""
        return _mark(score.summary.mean, [each.summary.mean for each in self.scores if each.plain], score.plain)

    @cached_property
    def tests(self) -> dict[str, PairedTest]:
        """Meta-PN against each other method on the same splits."""
        plain = {score.cell.method: score.records for score in self.scores if score.plain}
        ours = plain.pop("metapn", None)
        return {} if ours is None else paired_tests(ours, plain)


def paper_mark(method: str, dataset: str, shot: float) -> str:
    """Whether the paper marks a method as the best or the second best.

    Examples
    --------
    >>> paper_mark("metapn", "cora_ml", 5), paper_mark("mlp", "cora_ml", 5)
    ('best', '')
    """
    printed = {name: found.mean for name in METHODS if (found := published(name, dataset, shot)) is not None}
    return _mark(printed[method], list(printed.values()), True) if method in printed else ""


def _mark(mean: float, others: Sequence[float], takes_part: bool) -> str:
    """Mark by the number of those that are better; alone, nobody is the best."""
    if not takes_part or len(others) < 2:
        return ""
    return {0: "best", 1: "second"}.get(sum(other > mean for other in others), "")
