"""Many runs, in processes, one thread each; the results do not depend on how many processes there are."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed

from metapn import datasets
from metapn.experiments.run import Cell, Outcome, run


def run_all(cells: Iterable[Cell], seeds: Iterable[int], *, jobs: int = 1) -> Iterator[tuple[Cell, Outcome]]:
    """Run each cell for each seed and yield the outcomes as they come, in any order.

    Parameters
    ----------
    cells : iterable of Cell
    seeds : iterable of int
    jobs : int
        Processes. With 1 the runs happen in this one.
    """
    cells, seeds = list(cells), list(seeds)
    # Once here, before any process starts: a download must not happen twice, nor an error many times.
    for dataset in {cell.dataset for cell in cells}:
        datasets.load(dataset)
    wanted = [(cell, seed) for cell in cells for seed in seeds]
    if jobs == 1:
        for cell, seed in wanted:
            yield cell, run(cell, seed)
        return
    # Spawned, not forked: a fork would inherit torch's thread pool in an unknown state.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        try:
            running = {pool.submit(run, cell, seed): cell for cell, seed in wanted}
            for done in as_completed(running):
                yield running[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
