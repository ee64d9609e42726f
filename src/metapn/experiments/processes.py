"""Work in several processes, one after another in each; Ctrl-C and a lost process leave nothing behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from metapn.errors import InputError

K = TypeVar("K")
R = TypeVar("R")


def in_processes(calls: Iterable[tuple[K, Callable[[], R]]], *, jobs: int = 1) -> Generator[tuple[K, R], None, None]:
    """Make calls and yield the result of each with its key as it ends, in any order.

    Parameters
    ----------
    calls : iterable of (key, callable)
        What is called must be picklable: a partial of a function.
    jobs : int
        Processes. With 1 the calls happen in this one.
    """
    if jobs == 1:
        for key, call in calls:
            yield key, call()
        return
    before = set(multiprocessing.active_children())
    # Spawned, not forked: a fork would inherit torch's thread pool in an unknown state.
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=start_worker)
    try:
        with _ctrl_c_waits():
            running = {pool.submit(call): key for key, call in calls}
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
