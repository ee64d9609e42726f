"""On what the results were computed: versions and machine, but no name or path of it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from metapn.data.files import whole_file

FILE = "environment.json"


def begin(folder: Path, command: str) -> None:
    """Write that a command has begun to fill a folder.

    A command that is run again goes on with the old start. Of several different ones that fill the same
    folder, ``command`` has a line each.
    """
    file = folder / FILE
    before: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    commands = dict.fromkeys([*before.get("command", "").splitlines(), command])
    started = before.get("started", _now())
    _write(file, {"command": "\n".join(commands), **describe(), "started": started, "finished": None})


def end(folder: Path) -> None:
    """Write that the command is done."""
    file = folder / FILE
    _write(file, json.loads(file.read_text(encoding="utf-8")) | {"finished": _now()})


def describe() -> dict[str, Any]:
    """Describe versions and machine.

    Examples
    --------
    >>> list(describe())  # doctest: +NORMALIZE_WHITESPACE
    ['metapn', 'python', 'torch', 'numpy', 'scipy', 'scikit_learn',
     'platform', 'processor', 'cores', 'memory_gb']
    """
    packages = ("metapn", "torch", "numpy", "scipy", "scikit_learn")
    versions = {name: importlib.metadata.version(name) for name in packages}
    return {
        "metapn": versions.pop("metapn"),
        "python": platform.python_version(),
        **versions,
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory_gb": _memory_gb(),
    }


def _processor() -> str:
    try:
        found = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def _memory_gb() -> float:
    """Memory of the machine in units of 10^9 bytes; 0 where the system does not say."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, ValueError, OSError):
        return 0.0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _write(file: Path, content: dict[str, Any]) -> None:
    with whole_file(file) as handle:
        handle.write((json.dumps(content, indent=1) + "\n").encode())
