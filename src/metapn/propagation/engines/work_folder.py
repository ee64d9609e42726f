"""A folder of work that survives its process: parts that are whole or not there, and none of another input."""

from __future__ import annotations

import errno
import json
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metapn.data.files import whole_file
from metapn.errors import InputError

_MANIFEST = "manifest.json"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class WorkFolder:
    """A folder with parts, each a subfolder with a manifest that names the input it was made from.

    Parameters
    ----------
    path : path, optional
        Made if it is not there. By default a temporary folder, which goes with `close`, or with the object.

    Examples
    --------
    >>> work = WorkFolder()
    >>> part, manifest = work.part("graph", key="the edges of today")
    >>> manifest  # a new part
    {}
    >>> work.note(part, "the edges of today", n_nodes=3)
    >>> work.part("graph", key="the edges of today")[1]
    {'n_nodes': 3}
    >>> work.part("graph", key="other edges")[1]  # what was there is gone
    {}
    >>> work.close()
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="metapn-")) if path is None else path
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True) if path is None else None
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be made a folder ({error.strerror}); choose another place for the work"
            ) from None

    def part(self, name: str, key: str) -> tuple[Path, dict[str, Any]]:
        """Find a part and what was noted of it; one that was made with another key is removed and begun anew."""
        place = self.path / name
        manifest = _read(place / _MANIFEST)
        if manifest.get("key") != key:
            shutil.rmtree(place, ignore_errors=True)
            manifest = {}
        with room(self.path, f"beginning {name}"):
            place.mkdir(exist_ok=True)
        return place, manifest.get("noted", {})

    def note(self, part: Path, key: str, **noted: Any) -> None:
        """Write down what is complete in a part, whole or not at all."""
        with whole_file(part / _MANIFEST) as handle:
            handle.write(json.dumps({"format": "metapn-work", "key": key, "noted": noted}).encode())

    def close(self) -> None:
        """Remove a temporary folder."""
        if self._remove is not None:
            self._remove()


@contextmanager
def room(folder: Path, what: str) -> Iterator[None]:
    """Tell of a full disk in one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise InputError(
            f"there is no room left on the disk of {folder} ({what}; {error.strerror}); what is complete is kept: "
            "make room, and run the same command again"
        ) from None


def check_room(folder: Path, needed: int, what: str) -> None:
    """Refuse work that the disk cannot hold, before it starts."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InputError(
            f"{what} needs {needed / 1e9:.1f} GB on the disk of {folder}, where {free / 1e9:.1f} GB are free; "
            "make room, or choose another folder for the work"
        )


def _read(manifest: Path) -> dict[str, Any]:
    """Read a manifest; an empty one if there is none, or none of ours: the part is then begun anew."""
    try:
        content = json.loads(manifest.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    return content if isinstance(content, dict) and content.get("format") == "metapn-work" else {}
