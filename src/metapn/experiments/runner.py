"""Many runs, in processes, one thread each; the results do not depend on how many processes there are."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby

from metapn.errors import InputError
from metapn.experiments.cell import Cell
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
        load(dataset)
    for block, outcomes in run_blocks([block for cell in cells for block in blocks(cell, seeds)], jobs=jobs):
        for outcome in outcomes:
            yield block.cell, outcome


def run_blocks(
    wanted: Iterable[Block], *, jobs: int = 1, threads: int = 1
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
    """
    if jobs == 1:
        for block in wanted:
            yield block, run(block.cell, block.seeds, threads=threads)
        return
    before = set(multiprocessing.active_children())
    # Spawned, not forked: a fork would inherit torch's thread pool in an unknown state.
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=start_worker)
    try:
        with _ctrl_c_waits():
            running = {pool.submit(run, block.cell, block.seeds, threads=threads): block for block in wanted}
        for done in as_completed(list(running)):
            yield running.pop(done), done.result()
        pool.shutdown()
    except BaseException as reason:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(multiprocessing.active_children()) - before:
            worker.terminate()
        if isinstance(reason, BrokenProcessPool):
            raise InputError(
                "a process ended in the middle of a run, for want of memory most likely; "
                "give fewer --jobs, or free some memory"
            ) from None
        raise


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Hold Ctrl-C back; a process started meanwhile never hears it, and leaves it to its parent."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_worker() -> None:
    """Leave Ctrl-C to the parent, and do not outlive it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
