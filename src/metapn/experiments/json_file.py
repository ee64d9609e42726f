"""Small JSON objects beside the ledger: whole or not there, and told in one sentence when damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from metapn.data.files import whole_file
from metapn.errors import InputError


def read_object(file: Path) -> dict[str, Any]:
    """Read a JSON object; an empty one if there is no file."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror}); choose another folder") from None
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise InputError(f"{file} is damaged: it does not hold a JSON object; remove it, and it is made again")
    return content


def write_object(file: Path, content: dict[str, Any]) -> None:
    """Write a JSON object, a line for each entry."""
    with whole_file(file) as handle:
        handle.write((json.dumps(content, indent=1) + "\n").encode())
