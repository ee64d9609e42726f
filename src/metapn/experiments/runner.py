"""Many runs, in processes, one thread each; the results do not depend on how many processes there are."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from metapn.experiments.cell import Cell
from metapn.experiments.processes import in_processes
from metapn.experiments.run import Outcome, block_size, load, run


@dataclass(frozen=True)
class Block:
    """Seeds of a cell that are run in one go, by one process."""

    cell: Cell
    seeds: tuple[int, ...]


def blocks(cell: Cell, seeds: Iterable[int]) -> list[Block]:
    """Deal seeds into blocks, each within a range that starts at a multiple of its length.

    Examples
    --------
    >>> [block.seeds for block in blocks(Cell("digits", "metapn"), range(8, 13))]
    [(8, 9, 10, 11), (12,)]
    """
    size = block_size(cell.method)
    return [Block(cell, tuple(inside)) for _, inside in groupby(sorted(seeds), lambda seed: seed // size)]


def run_all(
    cells: Iterable[Cell], seeds: Iterable[int], *, jobs: int = 1, calibrated: bool = False
) -> Iterator[tuple[Cell, Outcome]]:
    """Run each cell for each seed and yield the outcomes as they come, in any order.

    Parameters
    ----------
    cells : iterable of Cell
    seeds : iterable of int
    jobs : int
        Processes. With 1 the runs happen in this one.
    calibrated : bool
        See `metapn.experiments.run.run`.
    """
    cells, seeds = list(cells), list(seeds)
    # Once here, before any process starts: a download must not happen twice, nor an error many times.
    for dataset in {cell.dataset for cell in cells}:
        load(dataset)
    wanted = [block for cell in cells for block in blocks(cell, seeds)]
    for block, outcomes in run_blocks(wanted, jobs=jobs, calibrated=calibrated):
        for outcome in outcomes:
            yield block.cell, outcome


def run_blocks(
    wanted: Iterable[Block], *, jobs: int = 1, threads: int = 1, calibrated: bool = False
) -> Generator[tuple[Block, list[Outcome]], None, None]:
    """Run blocks and yield the outcomes of each as it ends, in any order.

    Each process keeps the graph of its last block: blocks of the same data set are best given in a row.

    Parameters
    ----------
    wanted : iterable of Block
    jobs : int
        Processes. With 1 the runs happen in this one.
    threads : int
        Of torch, in each process.
    calibrated : bool
        See `metapn.experiments.run.run`.
    """
    once = partial(run, threads=threads, calibrated=calibrated)
    calls = ((block, partial(once, block.cell, block.seeds)) for block in wanted)
    yield from in_processes(calls, jobs=jobs)
