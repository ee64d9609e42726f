"""What a search has found, as a file of `metapn.experiments.tuned`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from metapn.data.files import whole_file
from metapn.experiments.paper import DATASETS, METHODS
from metapn.experiments.tuned import section
from metapn.experiments.tuning import Search, Trial


def write_settings(folder: Path, search: Search, tried: Sequence[Trial], chosen: Trial, command: str) -> Path:
    """Write ``<method>/<dataset>.toml`` into the folder; return its path.

    Settings are what was chosen, where it differs from the method's default; the trials are listed best
    first, those that were ended early last.
    """
    defaults = search.defaults
    settings = {name: value for name, value in chosen.settings.items() if value != defaults[name]}
    order = sorted(tried, key=lambda trial: (trial.complete, trial.mean), reverse=True)
    what = " and ".join(f"{shot:g}-shot" for shot in search.shots)
    lines = [
        f"# {METHODS.get(search.method, search.method)} on {DATASETS.get(search.dataset, search.dataset)}, "
        f"written by: {command}",
        "",
        "[settings]",
        *_assignments(settings),
        "",
        "[search]",
        f'chosen_by = "mean accuracy on the early-stopping nodes, {what}, seeds 0 to {search.n_runs - 1}"',
        f"space = {_value(search.space)}",
        "# Best first; 'runs' says after how many runs a trial was given up as worse than the best.",
        "tried = [",
        *(f"  {_value(_summary(trial))}," for trial in order),
        "]",
        "",
    ]
    paper = section("paper", search.method, search.dataset)
    if not paper:
        lines.append("# No table of the paper has it.")
    lines += ["[paper]", *_assignments(paper)]
    path = folder / search.method / f"{search.dataset}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as handle:
        handle.write(("\n".join(lines) + "\n").encode())
    return path


def _summary(trial: Trial) -> dict[str, Any]:
    given_up = {} if trial.complete else {"runs": len(trial.accuracies)}
    return {"validation": round(100 * trial.mean, 2), **given_up, **trial.settings}


def _assignments(content: Mapping[str, Any]) -> list[str]:
    return [f"{name} = {_value(value)}" for name, value in content.items()]


def _value(value: Any) -> str:
    """TOML of a value; JSON's, but for tables, where a name is followed by an equals sign."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_assignments(value)) + " }"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)
