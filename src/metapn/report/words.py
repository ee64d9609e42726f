"""How things are called and numbers written in the report; accuracies are shares of one, and printed in per cent."""

from __future__ import annotations

from collections.abc import Sequence

from metapn.experiments.cell import Cell
from metapn.experiments.paper import DATASETS, METHODS
from metapn.experiments.plan import OTHER_FINAL
from metapn.experiments.verdict import Summary

#: The paper's tables and figures.
TITLES = {
    "table1": "Table 1: the data sets",
    "table2": "Table 2: 3 and 5 labels a class",
    "table3": "Table 3: 20 labels a class",
    "table4": "Table 4: 10 labels a class",
    "figure2": "Figure 2: accuracy by the share of labelled nodes",
    "figure3": "Figure 3: accuracy by the number of propagation steps",
    "figure4": "Figure 4: maps of the representations",
}
#: What stands where there is no number.
NONE = "–"  # noqa: RUF001
PROTOCOLS = {"paper": "the paper's protocol", "no-validation": "no validation nodes"}


def dataset(name: str) -> str:
    """Title of a data set; its name if the paper does not have it."""
    return DATASETS.get(name, name)


def method(cell: Cell) -> str:
    """Title of a method, with what sets the cell apart from the method's other cells.

    Examples
    --------
    >>> method(Cell("cora_ml", "metapn", settings={"final": "transformer"}))
    'Meta-PN, transformer alone'
    >>> method(Cell("cora_ml", "gcn", settings={"n_layers": 4}))
    'GCN, n_layers = 4'
    """
    if cell.settings == OTHER_FINAL:
        return f"{METHODS[cell.method]}, transformer alone"
    return ", ".join([METHODS[cell.method], *(f"{name} = {value}" for name, value in cell.settings.items())])


def shot(value: float) -> str:
    """How much is labelled.

    Examples
    --------
    >>> shot(5), shot(0.015)
    ('5 labels a class', '1.5 % labelled')
    """
    return f"{100 * value:g} % labelled" if value < 1 else f"{value:g} label{'s' * (value != 1)} a class"


def percent(share: float) -> str:
    """Write a share of one in per cent.

    Examples
    --------
    >>> percent(0.79468)
    '79.47'
    """
    return f"{100 * share:.2f}"


def signed(difference: float) -> str:
    """Write a difference of shares in points of per cent, with its sign.

    Examples
    --------
    >>> signed(0.0041), signed(-0.0041), signed(-1e-9)
    ('+0.41', '−0.41', '0.00')
    """
    written = f"{100 * difference:+.2f}"
    return "0.00" if written in ("+0.00", "-0.00") else written.replace("-", "−")  # noqa: RUF001


def interval(summary: Summary) -> str:
    """Write a mean and half the width of its interval; of a single run there is none.

    Examples
    --------
    >>> interval(Summary(0.7947, 0.791, 0.798, 20)), interval(Summary(0.7947, 0.7947, 0.7947, 1))
    ('79.47 ± 0.35', '79.47')
    """
    half = (summary.high - summary.low) / 2
    return percent(summary.mean) if summary.n == 1 else f"{percent(summary.mean)} ± {percent(half)}"


def p_value(p: float) -> str:
    """Write a p.

    Examples
    --------
    >>> p_value(0.0321), p_value(1e-9)
    ('p = 0.032', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def count(number: int, noun: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> count(1, "run"), count(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def listed(names: Sequence[str]) -> str:
    """Join names by commas and an 'and'.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def ranges(seeds: Sequence[int]) -> str:
    """Write whole numbers as ranges.

    Examples
    --------
    >>> ranges([0, 1, 2, 3, 7, 9, 10])
    '0 to 3, 7, 9 to 10'
    """
    found: list[list[int]] = []
    for seed in sorted(seeds):
        if found and found[-1][-1] == seed - 1:
            found[-1] = [found[-1][0], seed]
        else:
            found.append([seed])
    return ", ".join(" to ".join(map(str, part)) for part in found)
