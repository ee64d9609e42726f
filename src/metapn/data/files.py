"""Files that are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from metapn.errors import InputError


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name only once all is on disk.

    Written beside, then renamed: whoever reads the path finds the old content or the new, and after an
    error, Ctrl-C or a full disk the old one is still there.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "a"
    >>> with whole_file(place) as handle:
    ...     _ = handle.write(b"all of it")
    >>> place.read_bytes()
    b'all of it'
    """
    file = Path(path)
    if file.exists() and not file.is_file():
        raise InputError(f"{file} is there and is no file; choose another place")
    beside = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        beside.replace(file)
    except OSError as error:
        raise InputError(f"{file} cannot be written ({error.strerror}); choose another place") from None
    finally:
        with suppress(OSError):
            beside.unlink()
