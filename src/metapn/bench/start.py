"""How long the command line takes to answer."""

from __future__ import annotations

import subprocess
import sys
import time

from metapn.bench.measure import Measure


def start_time() -> Measure:
    """Time ``metapn --help`` in a process of its own, against a Python that does nothing."""
    help_command = "import sys; sys.argv = ['metapn', '--help']; from metapn.cli import main; main()"
    seconds, nothing = (min(_seconds(code) for _ in range(7)) for code in (help_command, "pass"))
    return Measure(
        "start", "seconds until metapn --help has answered", seconds, 0.5, details={"python_alone_s": nothing}
    )


def _seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
