"""The paper's tables and figures as a folder of results: what is missing is run, what is there stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from metapn import __version__
from metapn.data.files import whole_file
from metapn.data.registry import Counts
from metapn.errors import InputError
from metapn.experiments import environment, ledger
from metapn.experiments.cell import PROTOCOLS, Cell
from metapn.experiments.ledger import CellKey, Record
from metapn.experiments.map import draw_map
from metapn.experiments.plan import cells, data_sets
from metapn.experiments.run import Outcome, load
from metapn.experiments.runner import Block, blocks, run_blocks

#: What the data sets hold, in the folder of results: a JSON object, by name.
STATISTICS = "datasets.json"


@dataclass(frozen=True)
class Request:
    """What is to be made, see `metapn.experiments.plan.cells`, and how many runs of each cell."""

    artefacts: Sequence[str]
    datasets: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    protocols: Sequence[str] = PROTOCOLS
    n_runs: int = 100

    def data_sets(self) -> dict[str, list[str]]:
        """List the data sets, each with the tables and figures that have it."""
        where: dict[str, list[str]] = {}
        for artefact in self.artefacts:
            for name in data_sets(artefact, self.datasets):
                where.setdefault(name, []).append(artefact)
        if not where:
            raise InputError(self._nothing("data sets", self.datasets))
        return where

    def cells(self, available: Container[str]) -> dict[str, list[Cell]]:
        """List the cells of each table and figure, on the data sets that are available."""
        planned = {}
        for artefact in self.artefacts:
            found = cells(artefact, datasets=self.datasets, methods=self.methods, protocols=self.protocols)
            planned[artefact] = [cell for cell in found if cell.dataset in available]
        if self.methods is not None and not any(planned.values()):
            raise InputError(self._nothing("methods", self.methods))
        return planned

    def _nothing(self, kind: str, wanted: Sequence[str] | None) -> str:
        return (
            f"{', '.join(self.artefacts)} of the paper has none of the {kind} {', '.join(wanted or ())}; "
            f"leave out --{kind.replace(' ', '')} to have all that it has"
        )


@dataclass(frozen=True)
class Progress:
    """How far the runs are."""

    cells: int
    all_cells: int
    runs: int
    all_runs: int


@dataclass(frozen=True)
class Result:
    """What has been made.

    Parameters
    ----------
    cells : dict
        Of each table and figure that is made of accuracies.
    records : dict
        The runs of each cell.
    """

    cells: dict[str, list[Cell]]
    records: dict[CellKey, list[Record]]


def look_up(request: Request) -> tuple[dict[str, Counts], dict[str, InputError]]:
    """Load every data set once, fetching it if need be: what each holds, or why it cannot be had.

    Raises
    ------
    InputError
        If none can be had.
    """
    counts, errors = {}, {}
    for name in request.data_sets():
        try:
            counts[name] = Counts.of(load(name))
        except InputError as error:
            errors[name] = error
    if not counts:
        raise next(iter(errors.values()))
    return counts, errors


def reproduce(
    request: Request,
    counts: dict[str, Counts],
    folder: Path,
    *,
    command: str,
    jobs: int = 1,
    threads: int = 1,
    on_progress: Callable[[Progress], None],
) -> Result:
    """Make what is asked for, as far as it is not in the folder yet.

    Parameters
    ----------
    request : Request
    counts : dict
        What each data set holds, see `look_up`; tables and figures go without any other.
    folder : path
        Of the results, made if need be.
    command : str
        The command line, to be kept with the results.
    jobs, threads : int
        Processes, and threads of torch in each.
    on_progress : callable
        Called with the `Progress` after each block of runs.
    """
    planned = request.cells(counts)
    maps = planned.pop("figure4", [])
    with ledger.held(folder):
        environment.begin(folder, command)
        if planned.pop("table1", None) is not None:
            _write_statistics(folder, counts)
        for state in fill(folder, chain(*planned.values()), request.n_runs, jobs=jobs, threads=threads):
            on_progress(state)
        for cell in maps:
            draw_map(cell, folder, threads=threads)
        environment.end(folder)
        records: dict[CellKey, list[Record]] = {}
        for run in ledger.read(folder):
            records.setdefault(run.key, []).append(run)
    return Result(planned, records)


def fill(folder: Path, wanted: Iterable[Cell], n_runs: int, *, jobs: int = 1, threads: int = 1) -> Iterator[Progress]:
    """Run what is missing of some cells, seeds 0 to ``n_runs - 1``, and yield the progress after each block.

    A block of which any run is missing is run again whole, so that the results are those of a run without
    interruption; what is in the folder already is not written twice.

    Parameters
    ----------
    folder : path
        Of the results. The caller holds it, see `metapn.experiments.ledger.held`.
    wanted : iterable of Cell
    n_runs : int
    jobs, threads : int
        Processes, and threads of torch in each.
    """
    by_key = {cell.key(): cell for cell in wanted}
    have: dict[CellKey, set[int]] = {key: set() for key in by_key}
    for old in ledger.read(folder):
        if old.key in have and old.seed < n_runs:
            have[old.key].add(old.seed)

    def progress() -> Progress:
        sizes = [len(seeds) for seeds in have.values()]
        return Progress(sum(size == n_runs for size in sizes), len(sizes), sum(sizes), len(sizes) * n_runs)

    yield progress()
    with closing(run_blocks(_missing(by_key, have, n_runs), jobs=jobs, threads=threads)) as done:
        for block, outcomes in done:
            seeds = have[block.cell.key()]
            ledger.append(folder, [record(block.cell, run) for run in outcomes if run.seed not in seeds])
            seeds.update(block.seeds)
            yield progress()


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


def _missing(by_key: dict[CellKey, Cell], have: dict[CellKey, set[int]], n_runs: int) -> list[Block]:
    """Blocks to be run, those of a data set in a row."""
    order = list(dict.fromkeys(cell.dataset for cell in by_key.values()))
    found = [
        block
        for key, cell in by_key.items()
        for block in blocks(cell, range(n_runs))
        if not have[key].issuperset(block.seeds)
    ]
    return sorted(found, key=lambda block: order.index(block.cell.dataset))


def _write_statistics(folder: Path, counts: dict[str, Counts]) -> None:
    """Write what data sets hold, beside those that are in the file already."""
    file = folder / STATISTICS
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    content = before | {name: asdict(found) for name, found in counts.items()}
    with whole_file(file) as handle:
        handle.write((json.dumps(content, indent=1) + "\n").encode())
