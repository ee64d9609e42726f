"""How much memory this machine has left."""

from __future__ import annotations

import os
import re
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_LIMIT, _USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")


def free_memory() -> int | None:
    """Bytes that a new process can have without swapping; None where the system does not say.

    On Linux what the kernel calls available, or what the container still allows if that is less.

    Examples
    --------
    >>> free_memory() is None or free_memory() > 0
    True
    """
    known = [value for value in (_available(), _allowed()) if value is not None]
    return min(known) if known else None


def _available() -> int | None:
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", _MEMINFO.read_text(encoding="ascii"))
    except OSError:  # not Linux
        found = None
    if found:
        return int(found[1]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _allowed() -> int | None:
    """What is left of the container's own limit."""
    try:
        limit, used = _LIMIT.read_text(encoding="ascii").strip(), _USED.read_text(encoding="ascii").strip()
    except OSError:  # no container, or none with a limit
        return None
    return int(limit) - int(used) if limit.isdigit() else None
