"""The state of a training on disk: tensors in safetensors, the rest in JSON, and nothing that is ever unpickled."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor

from metapn.model.learner import BilevelLearner
from metapn.model.training import History, StoppingRule, assign

_STATE, _TENSORS = "state.json", "state.safetensors"


def save_state(folder: Path, learner: BilevelLearner, rule: StoppingRule, history: History, *, done: bool) -> None:
    """Write all that the next epoch depends on."""
    moments = [each.state() for each in learner.optimisers]
    state = {
        "weights": [*learner.theta, *learner.phi],
        "moments": moments,
        "generator": learner.task.generator.get_state(),
        "rule": {name: value for name, value in vars(rule).items() if value is not None},
        "history": dataclasses.asdict(history),
        "done": done,
    }
    tensors: dict[str, Tensor] = {}
    (folder / _STATE).write_text(json.dumps(_without_tensors(state, tensors)))
    save_file(tensors, folder / _TENSORS)


def load_state(folder: Path, learner: BilevelLearner, rule: StoppingRule) -> tuple[History, bool]:
    """Put a learner and its rule where `save_state` has left them; return the history and whether it is the end."""
    tensors = load_file(folder / _TENSORS)
    state = _with_tensors(json.loads((folder / _STATE).read_text()), tensors)
    assign([*learner.theta, *learner.phi], state["weights"])
    for optimiser, moments in zip(learner.optimisers, state["moments"], strict=True):
        optimiser.restore(moments)
    learner.task.generator.set_state(state["generator"])
    for name, value in state["rule"].items():
        setattr(rule, name, tuple(value) if isinstance(getattr(rule, name), tuple) else value)
    return History(**state["history"]), state["done"]


def _without_tensors(value: Any, tensors: dict[str, Tensor]) -> Any:
    """The same with each tensor replaced by its name, under which it goes into ``tensors``."""
    if isinstance(value, Tensor):
        name = f"tensor-{len(tensors)}"
        tensors[name] = value.detach().clone().contiguous()
        return {"tensor": name}
    if isinstance(value, dict):
        return {key: _without_tensors(each, tensors) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_tensors(each, tensors) for each in value]
    return value


def _with_tensors(value: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, dict):
        if set(value) == {"tensor"}:
            return tensors[value["tensor"]]
        return {key: _with_tensors(each, tensors) for key, each in value.items()}
    return [_with_tensors(each, tensors) for each in value] if isinstance(value, list) else value
