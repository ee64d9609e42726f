"""A folder that is whole or not there, whatever stops the process that writes it."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from metapn.errors import InputError

#: What a folder must hold to be replaced: only what metapn has written is ever removed.
_MARK = "model.json"


@contextmanager
def whole_folder(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Give an empty folder to fill, which takes its place once the block is left without an error.

    It is filled beside its place, as ``.<name>.<random>.part``, then renamed. An error, Ctrl-C or a full disk
    removes it. After ``kill -9`` or a power cut it stays, and the next run for the same place removes it: its
    writer holds a lock on it, which the system takes back when the writer is gone.

    Parameters
    ----------
    path : path
        Must not be there yet; folders above it are made.
    overwrite : bool
        Whether a run folder in its place is replaced, in one step.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "run"
    >>> with whole_folder(place) as folder:
    ...     _ = (folder / "a").write_text("all of it")
    ...     place.exists()
    False
    >>> [each.name for each in place.iterdir()]
    ['a']
    """
    place = Path(path).resolve()
    _check_free(place, overwrite)
    made = [parent for parent in place.parents if not parent.exists()]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(place)
        beside = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".part", dir=place.parent))
    except OSError as error:
        _remove_empty(made)
        raise InputError(f"{path} cannot be written ({error.strerror}); choose another place") from None
    lock = os.open(beside, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield beside
        beside.chmod(0o777 & ~_umask())  # mkdtemp's own mode lets nobody else read
        os.fsync(lock)
        _check_free(place, overwrite)
        _into_place(beside, place)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{path} cannot be written ({reason}); make room or choose another place") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        os.close(lock)
        _remove_empty(made)


def _check_free(place: Path, overwrite: bool) -> None:
    if not place.exists():
        return
    if not place.is_dir():
        raise InputError(f"{place} is there and is no folder; choose another place")
    if not overwrite:
        raise InputError(f"{place} is there already; choose another place, or give --overwrite to replace it")
    if not (place / _MARK).is_file():
        raise InputError(
            f"{place} is no run folder ({_MARK} is not in it), so it is not replaced; choose another place"
        )


def _into_place(beside: Path, place: Path) -> None:
    """Rename; where a run is in its place, exchange the two, so that there is one at every moment."""
    if place.exists():
        try:
            _exchange(beside, place)
            return
        except OSError as error:
            if error.errno not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
                raise
        # A file system that cannot exchange: for a moment there is neither.
        old = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".part", dir=place.parent))
        place.replace(old)
        beside.replace(place)
        shutil.rmtree(old, ignore_errors=True)
    else:
        beside.rename(place)


def _exchange(one: Path, two: Path) -> None:
    """Swap the names of two folders in one step: Linux's renameat2 with RENAME_EXCHANGE."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    here, exchange = -100, 2
    if call(here, os.fsencode(one), here, os.fsencode(two), exchange) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _remove_abandoned(place: Path) -> None:
    """Remove what killed processes have left beside this place: nobody holds its lock."""
    for left in place.parent.glob(f".{escape(place.name)}.*.part"):
        with suppress(OSError):
            lock = os.open(left, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(lock)


def _remove_empty(made: list[Path]) -> None:
    """Take back the folders that were made on the way, deepest first, if nothing has come into them."""
    for folder in made:
        with suppress(OSError):
            folder.rmdir()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
