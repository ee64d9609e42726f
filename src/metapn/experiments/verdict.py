"""What the runs of a cell say: their mean, how it compares with the paper's, and with that of other methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metapn.experiments.ledger import Record
from metapn.experiments.paper import Published
from metapn.experiments.statistics import bootstrap_interval, holm, paired_p_value


@dataclass(frozen=True)
class Summary:
    """Mean accuracy of n runs, and its 95 % bootstrap interval; shares of one."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Verdict:
    """How a cell compares with the paper.

    Parameters
    ----------
    word : {"reproduced", "above", "below", "not in the paper"}
        ``reproduced``: the paper's mean lies inside our interval, widened by the paper's own on either side.
    difference : float or None
        Our mean minus the paper's, a share of one; None for what the paper does not have.
    """

    word: str
    difference: float | None


@dataclass(frozen=True)
class PairedTest:
    """Meta-PN against one rival on the splits that both have.

    Parameters
    ----------
    difference : float
        Mean of Meta-PN's accuracy minus the rival's.
    p_value, p_corrected : float
        Of the two-sided paired t-test, as it is and after Holm's correction for the number of rivals.
    n : int
        Splits.
    """

    difference: float
    p_value: float
    p_corrected: float
    n: int


def summarise(records: Sequence[Record]) -> Summary:
    """Sum up the runs of a cell, at least one."""
    accuracies = [record.accuracy for record in records]
    low, high = bootstrap_interval(accuracies)
    return Summary(sum(accuracies) / len(accuracies), low, high, len(accuracies))


def verdict(summary: Summary, published: Published | None) -> Verdict:
    """Compare a cell with the paper's.

    Examples
    --------
    >>> verdict(Summary(0.80, 0.79, 0.81, 20), Published(0.82, 0.01))
    Verdict(word='reproduced', difference=-0.02)
    >>> verdict(Summary(0.80, 0.79, 0.81, 20), Published(0.83, 0.01)).word
    'below'
    """
    if published is None:
        return Verdict("not in the paper", None)
    difference = round(summary.mean - published.mean, 6)
    if published.mean > summary.high + published.half_width:
        return Verdict("below", difference)
    if published.mean < summary.low - published.half_width:
        return Verdict("above", difference)
    return Verdict("reproduced", difference)


def paired_tests(ours: Sequence[Record], rivals: Mapping[str, Sequence[Record]]) -> dict[str, PairedTest]:
    """Test Meta-PN against each rival on the same splits; a rival with fewer than two of them is left out.

    Parameters
    ----------
    ours : sequence of Record
        The runs of Meta-PN in a cell.
    rivals : mapping of method to its runs
        In the cell of the same data set, shot and protocol.
    """
    accuracies = {record.seed: record.accuracy for record in ours}
    pairs = {}
    for name, records in rivals.items():
        common = [(accuracies[r.seed], r.accuracy) for r in records if r.seed in accuracies]
        if len(common) > 1:
            pairs[name] = tuple(zip(*common, strict=True))
    p_values = [paired_p_value(one, other) for one, other in pairs.values()]
    tests = {}
    for (name, (one, other)), p, corrected in zip(pairs.items(), p_values, holm(p_values), strict=True):
        tests[name] = PairedTest((sum(one) - sum(other)) / len(one), p, corrected, len(one))
    return tests
