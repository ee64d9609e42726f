"""Settings as data: one file for each method and data set where the method's defaults are not the best.

``<method>/<dataset>.toml`` holds ``[settings]``, which replace the method's defaults; ``[search]``, what was tried
and how it was chosen, never by test accuracy; and ``[paper]``, the paper's accuracies in per cent, by shot.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def tuned(method: str, dataset: str) -> dict[str, Any]:
    """Return the settings of a method for a data set; nothing where its defaults hold.

    Examples
    --------
    >>> tuned("metapn", "ms_academic")["alpha"]
    0.2
    >>> tuned("metapn", "digits")
    {}
    """
    file = files(__name__) / method / f"{dataset}.toml"
    if not file.is_file():
        return {}
    settings: dict[str, Any] = tomllib.loads(file.read_text())["settings"]
    return settings
