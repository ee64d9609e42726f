"""The runs of some cells as a folder of results: what is there stays, what is missing is run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from metapn import __version__
from metapn.experiments import ledger
from metapn.experiments.cell import Cell
from metapn.experiments.ledger import CellKey, Record
from metapn.experiments.run import Outcome
from metapn.experiments.runner import Block, blocks, run_blocks


@dataclass(frozen=True)
class Progress:
    """How far the runs are."""

    cells: int
    all_cells: int
    runs: int
    all_runs: int

    def besides(self, done: int, all_: int) -> Progress:
        """Count in other pieces of work, each as a cell of one run."""
        return Progress(self.cells + done, self.all_cells + all_, self.runs + done, self.all_runs + all_)


class Backlog:
    """Which runs of some cells, seeds 0 to ``n_runs - 1``, are in a folder, and which are still to be made.

    Parameters
    ----------
    folder : path
        Of the results. The caller holds it, see `metapn.experiments.ledger.held`.
    wanted : iterable of Cell
        Cells that are the same to the last setting count as one.
    n_runs : int
    """

    def __init__(self, folder: Path, wanted: Iterable[Cell], n_runs: int) -> None:
        self.folder, self.n_runs = folder, n_runs
        self.cells = {cell.key(): cell for cell in wanted}
        self.seeds: dict[CellKey, set[int]] = {key: set() for key in self.cells}
        for old in ledger.read(folder):
            if old.key in self.seeds and old.seed < n_runs:
                self.seeds[old.key].add(old.seed)

    def progress(self) -> Progress:
        """Count what is there."""
        sizes = [len(seeds) for seeds in self.seeds.values()]
        n_full = sum(size == self.n_runs for size in sizes)
        return Progress(n_full, len(sizes), sum(sizes), len(sizes) * self.n_runs)

    def missing(self) -> list[Block]:
        """List the blocks that are to be run, those of a data set in a row.

        A block of which any run is missing is run again whole, so that the results are those of a command
        that was never interrupted.
        """
        order = list(dict.fromkeys(cell.dataset for cell in self.cells.values()))
        found = [
            block
            for key, cell in self.cells.items()
            for block in blocks(cell, range(self.n_runs))
            if not self.seeds[key].issuperset(block.seeds)
        ]
        return sorted(found, key=lambda block: order.index(block.cell.dataset))

    def work_off(self, *, jobs: int = 1, threads: int = 1) -> Iterator[Progress]:
        """Run what is missing, and yield the progress after each block.

        What is in the folder already is not written twice.
        """
        with closing(run_blocks(self.missing(), jobs=jobs, threads=threads)) as done:
            for block, outcomes in done:
                seeds = self.seeds[block.cell.key()]
                ledger.append(self.folder, [record(block.cell, run) for run in outcomes if run.seed not in seeds])
                seeds.update(block.seeds)
                yield self.progress()


def record(cell: Cell, outcome: Outcome) -> Record:
    """Make the line of the ledger for a run."""
    return Record(
        dataset=cell.dataset,
        method=cell.method,
        shot=cell.shot,
        protocol=cell.protocol,
        settings=cell.effective(),
        seed=outcome.seed,
        final=outcome.final,
        accuracy=outcome.accuracy,
        epochs=outcome.epochs,
        best_epoch=outcome.best_epoch,
        seconds=round(outcome.seconds, 3),
        megabytes=round(outcome.megabytes, 1),
        version=__version__,
        observations=outcome.observations,
        validation=None if outcome.validation is None else round(outcome.validation, 6),
    )
