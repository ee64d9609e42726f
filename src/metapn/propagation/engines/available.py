"""How much memory this process may still take."""

from __future__ import annotations

import os
import re
from pathlib import Path


def available_memory(system: Path = Path("/")) -> int:
    """Return the bytes that are free, or easily made so, within the limit of the container if there is one.

    Where the system does not tell, it is half of the memory of the machine.

    Examples
    --------
    >>> available_memory() > 0
    True
    """
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", (system / "proc/meminfo").read_text())
    except OSError:
        found = None
    half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    free = 1024 * int(found[1]) if found else half
    group = system / "sys/fs/cgroup"
    try:
        limit, used = int((group / "memory.max").read_text()), int((group / "memory.current").read_text())
        # The page cache counts as used, and is given back when it is needed.
        cached = re.search(r"^inactive_file (\d+)", (group / "memory.stat").read_text(), re.MULTILINE)
    except (OSError, ValueError):  # no such group, or the limit is "max"
        return free
    return min(free, max(limit - used + (int(cached[1]) if cached else 0), 0))
