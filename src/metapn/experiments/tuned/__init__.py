"""Settings as data: one file for each method and data set.

``<method>/<dataset>.toml`` holds ``[settings]``, which replace the method's defaults; ``[search]``, what was tried
and how it was chosen, never by test accuracy; and ``[paper]``, the paper's accuracies in per cent, by shot, each as
``[mean, half width of the 95 % interval]`` (see `metapn.experiments.paper`).
"""

from __future__ import annotations

import tomllib
from functools import cache
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
    return dict(section("settings", method, dataset))


@cache
def section(name: str, method: str, dataset: str) -> dict[str, Any]:
    """Return a section of the file of a method and a data set; empty where there is no such file."""
    file = files(__name__) / method / f"{dataset}.toml"
    if not file.is_file():
        return {}
    content: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))[name]
    return content
