"""Where the results come from: command, versions, machine, seeds and settings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from metapn.experiments.ledger import CellKey
from metapn.experiments.paper import METHODS
from metapn.experiments.verdict import summarise
from metapn.report import blocks, words
from metapn.report.blocks import Block, Column
from metapn.report.results import Results

_TITLES = {
    "metapn": "metapn",
    "python": "Python",
    "torch": "PyTorch",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "scikit_learn": "scikit-learn",
    "platform": "Platform",
    "processor": "Processor",
    "cores": "Cores",
    "memory_gb": "Memory, GB",
    "started": "Started",
    "finished": "Finished",
}


def origin_blocks(results: Results) -> list[Block]:
    """Say what was typed, on what machine, with which seeds and settings."""
    known = results.environment
    told: list[Block] = []
    if known.get("command"):
        told.extend([blocks.Text("The exact command:"), blocks.Command(str(known["command"]))])
    if known:
        told.append(blocks.Facts(_facts(known)))
    for before in known.get("earlier", []):
        title = "Some of it was computed before, with other versions or on another machine"
        told.append(blocks.Fold(title, [blocks.Facts(_facts(before))]))
    if results.records:
        told.extend([blocks.Heading("Seeds and settings"), blocks.Items(_seeds(results)), _settings(results)])
    return told


def elsewhere_blocks(results: Results) -> list[Block]:
    """List the runs that belong to no table or figure of this version."""
    rows = [
        (
            METHODS.get(key.method, key.method),
            words.dataset(key.dataset),
            words.shot(key.shot),
            words.PROTOCOLS.get(key.protocol, key.protocol),
            _written(key),
            str(len(results.records[key])),
            words.interval(summarise(results.records[key])),
        )
        for key in results.elsewhere()
    ]
    if not rows:
        return []
    columns = [Column(title, left=True) for title in ("Method", "Data set", "Labels", "Protocol", "Settings")]
    return [
        blocks.Text(
            "These runs are in no table or figure: their settings are not those of this version of metapn, or they "
            "are of something that the paper does not have."
        ),
        blocks.Table("Other runs: mean accuracy in per cent", [*columns, "runs", "accuracy"], rows),
    ]


def _facts(known: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (title, "not yet" if known[name] is None else str(known[name]))
        for name, title in _TITLES.items()
        if name in known
    ]


def _seeds(results: Results) -> list[str]:
    """Say which seeds there are, and which versions of metapn made them."""
    seeds = Counter(words.ranges([run.seed for run in runs]) for runs in results.records.values())
    versions = Counter(run.version for runs in results.records.values() for run in runs)
    return [
        *(f"Seeds {which}: {words.count(number, 'cell')}" for which, number in seeds.most_common()),
        *(f"metapn {version}: {words.count(number, 'run')}" for version, number in versions.most_common()),
        "The seed of a run draws its split and starts its method; the test nodes are the same in all runs.",
    ]


def _settings(results: Results) -> Block:
    """List the settings that are not the defaults of their method, but for those that a figure varies."""
    found: dict[tuple[str, str], str] = {}
    for inside in results.cells.values():
        for cell in inside:
            if not cell.settings:
                found[cell.method, cell.dataset] = _written(cell.key())
    tuned = [(METHODS[m], words.dataset(d), settings) for (m, d), settings in found.items() if settings != "defaults"]
    if not tuned:
        return blocks.Text("All methods have their default settings.")
    columns = [Column(title, left=True) for title in ("Method", "Data set", "Settings")]
    return blocks.Table("Settings that are not the defaults; all others are", columns, tuned)


def _written(key: CellKey) -> str:
    return ", ".join(f"{name} = {value}" for name, value in json.loads(key.settings).items()) or "defaults"
