"""The results, one line of JSON a run: appended as runs end, and whole whatever becomes of the process.

A line is on disk when `append` returns. A process that is killed in the middle of a line leaves a beginning without
an end; readers pass over it, and the next `append` cuts it off. Whoever appends holds the folder (`held`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from metapn.errors import InputError

FILE = "runs.jsonl"


class CellKey(NamedTuple):
    """What runs have in common that differ in their seed alone; ``settings`` as JSON, so that it can be a key."""

    dataset: str
    method: str
    shot: float
    protocol: str
    settings: str

    @classmethod
    def of(cls, dataset: str, method: str, shot: float, protocol: str, settings: dict[str, Any]) -> CellKey:
        """Key of a cell with these settings, in whatever order they are.

        Examples
        --------
        >>> CellKey.of("digits", "mlp", 5, "paper", {"l2": 0.1, "dropout": 0}).settings
        '{"dropout": 0, "l2": 0.1}'
        """
        return cls(dataset, method, shot, protocol, json.dumps(settings, sort_keys=True))


@dataclass(frozen=True)
class Record:
    """One run: a line of the file.

    Parameters
    ----------
    dataset, method : str
    shot : int or float
        Labels a class; below 1, the share of all nodes that is labelled.
    protocol : {"paper", "no-validation"}
    settings : dict
        Of the method, where they differ from its defaults.
    seed : int
        Of the split and of the method.
    final : str
        Which prediction was scored, see `metapn.MetaPN`; for a method that has one alone, its class.
    accuracy : float
        On the test nodes, a share of one.
    epochs, best_epoch : int
        Epochs done, and the one whose weights were kept.
    seconds, megabytes : float
        Time of the fit, and the most memory that the process held in it.
    version : str
        Of metapn.
    observations : dict
        See `metapn.experiments.observe`.
    validation : float or None
        Accuracy on the early-stopping nodes at the epoch that was kept, where there were any. Settings may be
        chosen by this, and by nothing else that is in a line.
    """

    dataset: str
    method: str
    shot: float
    protocol: str
    settings: dict[str, Any]
    seed: int
    final: str
    accuracy: float
    epochs: int
    best_epoch: int
    seconds: float
    megabytes: float
    version: str
    observations: dict[str, Any] = field(repr=False)
    validation: float | None = None

    @property
    def key(self) -> CellKey:
        """The cell that this is a run of."""
        return CellKey.of(self.dataset, self.method, self.shot, self.protocol, self.settings)


_FIELDS = {item.name for item in fields(Record)}
#: A line without it is from before it was kept.
_LATER = {"validation"}


def read(folder: str | Path) -> list[Record]:
    """Read all runs of a folder, in the order in which they ended; none if there is no file yet."""
    file = Path(folder) / FILE
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror}); choose another folder") from None
    records: list[Record] = []
    seen: dict[tuple[CellKey, int], int] = {}
    # What follows the last line end is a line that nobody has finished.
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        record = _parse(line, f"line {number} of {file}")
        first = seen.setdefault((record.key, record.seed), number)
        if first != number:
            raise InputError(f"line {number} of {file} repeats the run of line {first}; remove one of them")
        records.append(record)
    return records


def append(folder: str | Path, records: Sequence[Record]) -> None:
    """Write runs at the end of the file, on disk when this returns; a line cut off before is removed."""
    file = Path(folder) / FILE
    lines = [json.dumps(asdict(record), allow_nan=False) + "\n" for record in records]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab+") as handle:
            _cut_off_unfinished(handle)
            handle.write("".join(lines).encode())
            handle.flush()
            os.fsync(handle.fileno())
    except OSError as error:
        raise InputError(f"{file} cannot be written ({error.strerror}); choose another folder") from None


@contextmanager
def held(folder: str | Path) -> Iterator[None]:
    """Hold a folder, made if need be, against every other process; the hold ends with the process at the latest."""
    lock = FileLock(Path(folder) / ".lock")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise InputError(
            f"another process is writing to {folder}; wait until it is done, or choose another folder"
        ) from None
    except OSError as error:
        raise InputError(f"{folder} cannot be written to ({error.strerror}); choose another folder") from None
    try:
        yield
    finally:
        lock.release()


def _parse(line: bytes, place: str) -> Record:
    try:
        content = json.loads(line)
    except ValueError:
        content = None
    if not isinstance(content, dict) or set(content) | _LATER != _FIELDS:
        raise InputError(f"{place} is damaged: it does not hold a run; remove the line, and its run is made again")
    return Record(**content)


def _cut_off_unfinished(handle: Any) -> None:
    size = handle.seek(0, os.SEEK_END)
    if size == 0:
        return
    handle.seek(size - 1)
    if handle.read() != b"\n":
        handle.seek(0)
        handle.truncate(handle.read().rfind(b"\n") + 1)
