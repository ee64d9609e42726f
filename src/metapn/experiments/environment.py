"""On what the results were computed: versions and machine, but no name or path of it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from metapn.experiments.json_file import read_object, write_object

FILE = "environment.json"
#: What is noted besides versions and machine.
_OF_A_FOLDER = ("command", "started", "finished", "earlier")


@contextmanager
def noted(folder: Path, command: str) -> Iterator[None]:
    """Note in a folder that a command computes something for it, and in the end that it is done.

    A command that is run again goes on with the old start. Of several different ones that fill the same
    folder, ``command`` has a line each. Versions and machine are those of the last; where others have
    computed before it, these are in the list ``earlier``.
    """
    file = folder / FILE
    before, now = read_object(file), describe()
    then = {name: before[name] for name in now if name in before}
    earlier = [each for each in [*before.get("earlier", []), then] if each and each != now]
    content = {
        "command": "\n".join(dict.fromkeys([*before.get("command", "").splitlines(), command])),
        **now,
        "started": before.get("started", _now()),
        "finished": None,
        **({"earlier": earlier} if earlier else {}),
    }
    write_object(file, content)
    yield
    write_object(file, content | {"finished": _now()})


def together(environments: Iterable[dict[str, Any]]) -> dict[str, Any]:
    r"""Put together what `noted` has noted in several folders, as if it had been one.

    Examples
    --------
    >>> one = {"command": "a", "torch": "2.5", "started": "09:00", "finished": "10:00"}
    >>> other = {"command": "b", "torch": "2.6", "started": "08:00", "finished": None}
    >>> together([one, other])  # doctest: +NORMALIZE_WHITESPACE
    {'command': 'a\nb', 'torch': '2.6', 'started': '08:00', 'finished': None, 'earlier': [{'torch': '2.5'}]}
    """
    known = [each for each in environments if each]
    if not known:
        return {}
    machines = [{name: value for name, value in each.items() if name not in _OF_A_FOLDER} for each in known]
    earlier = [*(before for each in known for before in each.get("earlier", [])), *machines]
    others = [each for i, each in enumerate(earlier) if each != machines[-1] and each not in earlier[:i]]
    ends = [each["finished"] for each in known]
    return {
        "command": "\n".join(dict.fromkeys(line for each in known for line in each["command"].splitlines())),
        **machines[-1],
        "started": min(each["started"] for each in known),
        "finished": None if None in ends else max(ends),
        **({"earlier": others} if others else {}),
    }


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
        "platform": f"{platform.system()} {platform.machine()}",
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
