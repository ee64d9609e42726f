"""What is kept on disk: a description in JSON beside numbers in safetensors, sealed by checksums; never a pickle.

::

    <name>.json           {"format": ..., "version": ..., <entries>, "sha256": {"description": ..., "numbers": ...}}
    <name>.safetensors    the numbers

The checksums say that both files are what was written, so that a byte that went bad is told rather than
predicted with. They are no signature: whoever may write the folder may seal it anew.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from metapn.data.files import whole_file
from metapn.errors import InputError

_ANEW = "copy the folder again, or save the model anew"


def write_stored(
    folder: Path, name: str, description: dict[str, Any], numbers: bytes, *, format: str, version: int
) -> None:
    """Write ``<name>.safetensors``, then ``<name>.json``: a folder without the description is none.

    Parameters
    ----------
    folder : path
        Must be there.
    name : str
    description : dict
        What JSON can hold; ``format``, ``version`` and ``sha256`` are added.
    numbers : bytes
        The content of a safetensors file.
    format, version : str, int
        What `read_stored` will ask for.
    """
    entries = {"format": format, "version": version} | description
    entries["sha256"] = {"description": _digest(entries), "numbers": hashlib.sha256(numbers).hexdigest()}
    for suffix, content in ((".safetensors", numbers), (".json", json.dumps(entries, indent=2).encode())):
        with whole_file(folder / f"{name}{suffix}") as handle:
            handle.write(content)


def read_stored(folder: Path, name: str, *, format: str, version: int) -> tuple[dict[str, Any], bytes]:
    """Read what `write_stored` wrote: the description, and the bytes of the safetensors file.

    Parameters
    ----------
    folder : path
    name : str
    format : str
        Anything else is told apart from a damaged file.
    version : int
        The newest one that can be read.
    """
    path = folder / f"{name}.json"
    description = _read_json(path)
    if not isinstance(description, dict) or description.get("format") != format:
        raise InputError(
            f"{path} is not a {format.replace('-', ' ')}; give a folder that 'metapn fit' or save() has written"
        )
    found = description.get("version")
    if not isinstance(found, int) or found > version:
        raise InputError(f"{path} has format version {found}, this metapn reads up to {version}; update metapn")
    seal = description.pop("sha256", None)
    if not isinstance(seal, dict) or seal.get("description") != _digest(description):
        raise InputError(f"{path} is not what was written (its checksum differs); {_ANEW}")
    weights = folder / f"{name}.safetensors"
    try:
        numbers = weights.read_bytes()
    except OSError as error:
        raise InputError(f"{weights} with the weights cannot be read ({error.strerror}); {_ANEW}") from None
    if seal.get("numbers") != hashlib.sha256(numbers).hexdigest():
        raise InputError(
            f"{weights} does not hold the weights that were written (its {len(numbers):,} bytes have another "
            f"checksum); {_ANEW}"
        )
    return description, numbers


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; give a folder that 'metapn fit' or save() has written") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check the path") from None
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:80]
        raise InputError(f"{path} cannot be read as JSON ({reason}); {_ANEW}") from None


def _digest(description: dict[str, Any]) -> str:
    """SHA-256 of what the description says, however its JSON is laid out."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()
