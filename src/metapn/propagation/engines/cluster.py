"""A Ray cluster for as long as it is needed: joined by its address, or started on this machine."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from metapn.errors import InputError


@contextmanager
def cluster(address: str | None = None) -> Iterator[Any]:
    """Ray, joined or started, and left or stopped in the end; where it is running already it is left alone.

    Parameters
    ----------
    address : str, optional
        Of a running cluster, such as ``10.0.0.1:6379``. By default what RAY_ADDRESS says, and where it says
        nothing Ray is started on this machine.
    """
    ray = imported()
    if ray.is_initialized():
        yield ray
        return
    place = address or os.environ.get("RAY_ADDRESS") or "local"
    more = {"include_dashboard": False} if place == "local" else {}
    os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's own 15 would starve the workers on a busy machine
    try:
        ray.init(place, log_to_driver=False, logging_level=logging.ERROR, **more)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(
            f"no Ray cluster answers at {place} ({reason}); start one with 'ray start --head', or give no address"
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def imported() -> Any:
    """Ray itself, which sends no usage statistics unless the user has asked for it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise InputError("engine='ray' needs Ray; install it with: pip install 'metapn[ray]'") from None
    return ray


def ray_data() -> Any:
    """Ray Data without its progress bars and log lines; warnings are still to be seen."""
    imported()
    import ray.data

    log = logging.getLogger("ray.data")
    log.setLevel(logging.ERROR)  # that there are no bars is itself worth a warning to Ray
    ray.data.DataContext.get_current().enable_progress_bars = False
    log.setLevel(logging.WARNING)
    return ray.data


def results(calls: Sequence[Any]) -> list[Any]:
    """What calls of workers return; a worker's InputError is raised as it was there."""
    try:
        returned: list[Any] = imported().get(list(calls))
    except InputError as error:
        raise InputError(str(getattr(error, "cause", error))) from None
    return returned
