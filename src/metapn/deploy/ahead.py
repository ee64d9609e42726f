"""An iterator that works while its reader does."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any, TypeVar

T = TypeVar("T")


def ahead(items: Iterator[T], most: int = 2) -> Iterator[T]:
    """Yield what an iterator yields, which runs at most so many items ahead in a thread of its own.

    Examples
    --------
    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    ready: queue.Queue[tuple[bool, Any]] = queue.Queue(most)
    left = threading.Event()

    def put(more: bool, what: Any) -> bool:
        """Wait for a place, but not for a reader who has left; whether there was one."""
        while not left.is_set():
            try:
                ready.put((more, what), timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def run() -> None:
        end: BaseException | None = None
        try:
            for item in items:
                if not put(True, item):
                    return
        except BaseException as error:  # raised again where the items are wanted
            end = error
        put(False, end)

    thread = threading.Thread(target=run, name="metapn reads ahead", daemon=True)
    thread.start()
    try:
        while True:
            more, what = ready.get()
            if more:
                yield what
            elif what is None:
                return
            else:
                raise what
    finally:
        left.set()
        thread.join()
