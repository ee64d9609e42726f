"""The paper's tables and figures as a folder of results: what is missing is made, what is there stays."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from metapn.data.registry import Counts
from metapn.experiments import environment, ledger
from metapn.experiments.backlog import Backlog, Progress
from metapn.experiments.cell import Cell
from metapn.experiments.json_file import read_object, write_object
from metapn.experiments.ledger import CellKey, Record
from metapn.experiments.map import draw_map, is_drawn
from metapn.experiments.request import Request

#: What the data sets hold, in the folder of results: a JSON object, by name.
STATISTICS = "datasets.json"


@dataclass(frozen=True)
class Result:
    """What has been made.

    Parameters
    ----------
    cells : dict
        Of each table and figure that is made of accuracies.
    records : dict
        The runs of each cell, as many as there are in the folder.
    maps : list of Cell
        What figure 4 is made of.
    """

    cells: dict[str, list[Cell]]
    records: dict[CellKey, list[Record]]
    maps: list[Cell]


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
        What each data set holds, see `metapn.experiments.request.look_up`; tables and figures go without any
        other.
    folder : path
        Of the results, made if need be.
    command : str
        The command line, to be kept with the results.
    jobs, threads : int
        Processes, and threads of torch in each.
    on_progress : callable
        Called with the `Progress` at the start, after each block of runs, and after each map.
    """
    planned = request.cells(counts)
    maps = planned.pop("figure4", [])
    statistics = counts if planned.pop("table1", None) is not None else {}
    with ledger.held(folder):
        backlog = Backlog(folder, chain(*planned.values()), request.n_runs)
        with closing(_fill(folder, backlog, maps, statistics, command, jobs=jobs, threads=threads)) as states:
            for state in states:
                on_progress(state)
        records: dict[CellKey, list[Record]] = {}
        for run in ledger.read(folder):
            records.setdefault(run.key, []).append(run)
    return Result(planned, records, maps)


def _fill(
    folder: Path,
    backlog: Backlog,
    maps: list[Cell],
    statistics: dict[str, Counts],
    command: str,
    *,
    jobs: int,
    threads: int,
) -> Generator[Progress, None, None]:
    """Make what is missing; yield the progress at the start, after each block of runs and after each map."""
    undrawn = [cell for cell in maps if not is_drawn(cell, folder)]
    n_drawn = len(maps) - len(undrawn)
    known = read_object(folder / STATISTICS)
    wanted = known | {name: asdict(found) for name, found in statistics.items()}
    yield backlog.progress().besides(n_drawn, len(maps))
    if not backlog.missing() and not undrawn and wanted == known:
        return
    with environment.noted(folder, command):
        if wanted != known:
            write_object(folder / STATISTICS, wanted)
        for state in backlog.work_off(jobs=jobs, threads=threads):
            yield state.besides(n_drawn, len(maps))
        for n_done, cell in enumerate(undrawn, n_drawn + 1):
            draw_map(cell, folder, threads=threads)
            yield backlog.progress().besides(n_done, len(maps))
