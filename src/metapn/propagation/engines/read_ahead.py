"""Read the next while the last is worked on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def read_ahead(read: Callable[[Key], Value], keys: Iterable[Key], depth: int = 2) -> Iterator[Value]:
    """Yield ``read(key)`` of each key in order; up to ``depth`` are read by a background thread meanwhile.

    Examples
    --------
    >>> list(read_ahead(lambda key: key * key, [1, 2, 3]))
    [1, 4, 9]
    """
    waiting: deque[Future[Value]] = deque()
    with ThreadPoolExecutor(1, thread_name_prefix="metapn-read") as pool:
        try:
            for key in keys:
                waiting.append(pool.submit(read, key))
                if len(waiting) > depth:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
