"""What every command shares: where it prints, and a progress bar that knows when to keep quiet."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console


class Advance(Protocol):
    """Report progress: how much is done, of how much (0: nobody knows), and what else there is to say of it."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Report."""


def console() -> Console:
    """Return the console for results, on standard output."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


@contextmanager
def progress(what: str, *, quiet: bool) -> Iterator[Advance]:
    """Show a bar with the time left, on standard error; nothing if quiet or if that is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total, note="": None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=600) as bar:
        task = bar.add_task(what, total=None, note="")

        def advance(done: int, total: int, note: str = "") -> None:
            bar.update(task, completed=done, total=total or None, note=note)

        yield advance
