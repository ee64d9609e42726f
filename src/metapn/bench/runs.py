"""What whole runs cost: one from start to early stopping, and many at once."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from metapn.bench.measure import Measure
from metapn.experiments.cell import Cell
from metapn.experiments.run import load, run
from metapn.experiments.runner import blocks, run_blocks


def whole_run(dataset: str, seeds: Sequence[int], threads: int, published: float | None) -> Measure:
    """Time runs one after another, from the loaded graph to early stopping, paper protocol, 5-shot.

    Parameters
    ----------
    dataset : str
    seeds : sequence of int
    threads : int
    published : float, optional
        Seconds that the authors' code takes for such a run on the same machine, measured by the caller: it is
        no part of this project.
    """
    load(dataset)
    outcomes = [run(Cell(dataset), [seed], threads=threads)[0] for seed in seeds]
    seconds = float(np.mean([outcome.seconds for outcome in outcomes]))
    return Measure(
        name=f"run/{dataset}",
        what=f"published code / one whole run, {dataset}" if published else f"seconds of one whole run, {dataset}",
        value=published / seconds if published else seconds,
        bound=(10 if dataset == "pubmed" else 20) if published else None,
        at_most=False,
        details={
            "seconds": seconds,
            "epochs": float(np.mean([outcome.epochs for outcome in outcomes])),
            "accuracy": float(np.mean([outcome.accuracy for outcome in outcomes])),
            "seeds": list(seeds),
        },
    )


def throughput(dataset: str, n_runs: int, cores: int) -> Measure:
    """Time a cell of many runs, in blocks and processes, against the same runs one after another.

    One after another means: each run alone, with as many threads as there are cores. Every fifth run tells how
    long one takes. Beside it stands the time with one thread, which on a small graph is the quicker.
    """
    cell, seeds = Cell(dataset), range(n_runs)
    load(dataset)
    one_by_one, alone = _seconds_of_a_run(cell, seeds[::5], cores)
    one_thread, _ = _seconds_of_a_run(cell, seeds[::5], 1)
    start = time.perf_counter()
    together = [each.accuracy for _, some in run_blocks(blocks(cell, seeds), jobs=cores) for each in some]
    at_once = time.perf_counter() - start
    return Measure(
        name=f"throughput/{dataset}",
        what=f"{n_runs} runs one after another / in blocks on the same {cores} cores, {dataset}",
        value=n_runs * one_by_one / at_once,
        bound=3,
        at_most=False,
        details={
            "one_after_another_s_a_run": one_by_one,
            "by_one_thread_s_a_run": one_thread,
            "in_blocks_s_a_run": at_once / n_runs,
            "accuracy_one_after_another": float(np.mean(alone)),
            "accuracy_in_blocks": float(np.mean(together)),
        },
    )


def _seconds_of_a_run(cell: Cell, seeds: Sequence[int], threads: int) -> tuple[float, list[float]]:
    """Mean seconds of runs that are each alone, and their accuracies."""
    run(cell, [0], threads=threads)
    start = time.perf_counter()
    accuracies = [run(cell, [seed], threads=threads)[0].accuracy for seed in seeds]
    return (time.perf_counter() - start) / len(seeds), accuracies
