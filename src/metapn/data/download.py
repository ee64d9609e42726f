"""Where a benchmark file is on this machine, and how it gets there.

The folder named by the environment variable METAPN_DATA comes first, then the user's cache; what is in
neither is downloaded into the cache. A download grows in ``<file>.part``, which a later call continues, and
takes its name only when its checksum is right: a file under its own name is whole.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import platformdirs

from metapn.data.registry import Source
from metapn.errors import InputError

_CHUNK = 1 << 18
_TIMEOUT_S = 30


class _Tick(Protocol):
    def __call__(self, done: int, total: int | None) -> None: ...


def cache_dir() -> Path:
    """Folder of the user's cache where downloads are kept."""
    return Path(platformdirs.user_cache_dir("metapn", appauthor=False))


def find(source: Source) -> Path | None:
    """Look for a benchmark file, or the folder it unpacks to, on this machine; nothing is downloaded."""
    folders = [cache_dir()]
    if named := os.environ.get("METAPN_DATA"):
        folders.insert(0, Path(named).expanduser())
        if not folders[0].is_dir():
            raise InputError(f"METAPN_DATA names {named}, which is no folder; correct it, or unset it")
    for folder in folders:
        for candidate in (source.file, *source.folders):
            if (folder / candidate).exists():
                return folder / candidate
    return None


def locate(source: Source, progress: bool = True) -> Path:
    """Path of a benchmark file (or unpacked folder), downloaded first if this machine has none."""
    return find(source) or fetch(source, progress)


def fetch(source: Source, progress: bool = True) -> Path:
    """Download a benchmark file into the user's cache.

    Parameters
    ----------
    source : Source
    progress : bool
        Show a bar on standard error where that is a terminal.

    Returns
    -------
    path
        The whole file, its checksum verified.
    """
    target = cache_dir() / source.file
    partial = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _bar(source.file, progress) as tick:
            _continue(source.address, partial, tick)
        if not is_upstream(partial, source):
            partial.unlink()
            raise InputError(
                f"what {source.address} sent for {source.file} has the wrong checksum and was deleted; "
                f"try again, or put the published file into {target.parent}"
            )
        return partial.replace(target)
    except (OSError, http.client.HTTPException) as error:
        if target.exists():  # another process was at it too, and has finished first
            return target
        raise InputError(
            f"{source.file} is not on this machine and could not be downloaded ({_reason(error)}); "
            f"try again (what has arrived is kept), or get it from {source.address} and put it into "
            f"{target.parent} or into the folder that the environment variable METAPN_DATA names"
        ) from None


def is_upstream(path: Path, source: Source) -> bool:
    """Whether a file is byte for byte the published one, by every checksum that is known of it."""
    size = path.stat().st_size
    blob, plain = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False), hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            blob.update(chunk)
            plain.update(chunk)
    return source.blob_id in (None, blob.hexdigest()) and source.sha256 in (None, plain.hexdigest())


def _continue(address: str, partial: Path, tick: _Tick) -> None:
    """Append to a partial file what it lacks; a server that cannot do that sends it from the start."""
    have = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT_S)
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # nothing is lacking: the checksum decides
        raise
    partial.touch()
    # Each process writes at its own place in the file, so that two at once write the same bytes.
    with response, partial.open("r+b") as handle:
        if response.status != http.HTTPStatus.PARTIAL_CONTENT:
            have = 0
        handle.seek(have)
        length = response.headers.get("Content-Length")
        total = have + int(length) if length else None
        while chunk := response.read(_CHUNK):
            handle.write(chunk)
            have += len(chunk)
            tick(have, total)
        if total is not None and have < total:
            raise ConnectionError(f"the connection broke {total - have:,} bytes before the end")
        handle.truncate()


@contextmanager
def _bar(title: str, wanted: bool) -> Iterator[_Tick]:
    """Show how far a download is, on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    columns = ("{task.description}", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not (wanted and console.is_terminal)) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _reason(error: Exception) -> str:
    """Say why a download failed; urllib wraps the reason where no server has answered."""
    if isinstance(error, urllib.error.URLError) and not isinstance(error, urllib.error.HTTPError):
        return str(error.reason)
    return str(error)
