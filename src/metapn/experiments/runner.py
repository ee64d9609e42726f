"""Many runs, in processes, one thread each; the results do not depend on how many processes there are."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed

from metapn import datasets
from metapn.experiments.run import Cell, Outcome, run


def run_all(cell: Cell, seeds: Iterable[int], *, jobs: int = 1) -> Iterator[Outcome]:
    """Run a cell for each seed and yield the outcomes as they come, in any order.

    Parameters
    ----------
    cell : Cell
    seeds : iterable of int
    jobs : int
        Processes. With 1 the runs happen in this one.
    """
    # Once here, before any process starts: a download must not happen twice, nor an error many times.
    datasets.load(cell.dataset)
    if jobs == 1:
        for seed in seeds:
            yield run(cell, seed)
        return
    # Spawned, not forked: a fork would inherit torch's thread pool in an unknown state.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        try:
            for done in as_completed([pool.submit(run, cell, seed) for seed in seeds]):
                yield done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
