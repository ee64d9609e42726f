"""Blocks of runs in processes: none outlives its parent, and a death is told."""

import multiprocessing
import os
import signal
import time
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metapn import InputError
from metapn.experiments.cell import Cell
from metapn.experiments.runner import blocks, run_all, run_blocks

LP = Cell("sbm-100", "lp", 3)


@given(st.sets(st.integers(0, 40)), st.sampled_from(["metapn", "static-lp", "lp", "gcn"]))
def test_every_seed_is_in_one_block_and_a_block_does_not_depend_on_the_others(seeds, method):
    size = 4 if method in ("metapn", "static-lp") else 1
    found = [block.seeds for block in blocks(Cell("digits", method), seeds)]
    assert sorted(seed for inside in found for seed in inside) == sorted(seeds)
    for inside in found:
        assert set(inside) == {s for s in seeds if s // size == inside[0] // size}


def test_a_graph_that_cannot_be_had_is_told_before_any_process_starts():
    with pytest.raises(InputError, match="2 nodes cannot have 4 classes"):
        list(run_all([Cell("sbm-2", "lp")], [0], jobs=2))
    assert multiprocessing.active_children() == []


def ended(workers):
    """Whether all of them are gone within a minute.

    Asked again and again: the pool waits for them too, and of two who wait for a process one hears of its end late.
    """
    deadline = time.monotonic() + 60
    while any(worker.is_alive() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(worker.is_alive() for worker in workers)


def test_leaving_early_ends_the_processes():
    with closing(run_blocks(blocks(LP, range(40)), jobs=2)) as done:
        next(done)
        workers = multiprocessing.active_children()
        assert len(workers) == 2
    assert ended(workers)


def test_a_process_that_dies_is_told_in_a_sentence():
    before = set(multiprocessing.active_children())  # those of another test may still be on their way out

    def ours():
        return set(multiprocessing.active_children()) - before

    with pytest.raises(InputError, match=r"a process ended in the middle of a run.*fewer --jobs"):
        for number, _ in enumerate(run_blocks(blocks(Cell("sbm-300", "metapn", 3), range(80)), jobs=2)):
            if number == 0:
                os.kill(ours().pop().pid, signal.SIGKILL)
    assert ended(ours())
