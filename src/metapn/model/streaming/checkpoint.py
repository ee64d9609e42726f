"""Where a training stands, in one file that is whole or not there: tensors and JSON, and nothing ever unpickled."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save as tensor_bytes
from torch import Tensor

from metapn.data.files import whole_file
from metapn.model.learner import BilevelLearner
from metapn.model.training import History, StoppingRule, assign
from metapn.propagation.engines.work_folder import room


class Checkpoint:
    """The last epoch of a training of one run, from which the next one follows to the bit.

    Parameters
    ----------
    file : path
    key : str
        Names the data, the settings and the seed; a checkpoint with another key is passed over.
    every : float
        Seconds between two writings at least.
    """

    def __init__(self, file: Path, key: str, *, every: float = 10.0) -> None:
        self.file, self.key, self.every = file, key, every
        self._written = time.monotonic()

    def resume(self, learner: BilevelLearner, rule: StoppingRule) -> History:
        """Put learner and rule where they were, if there is a checkpoint; return the history up to then."""
        try:
            with safe_open(self.file, framework="pt") as content:
                state = json.loads((content.metadata() or {}).get("state", "{}"))
                if state.get("key") != self.key:
                    return History()
                state = _filled(state, {name: content.get_tensor(name) for name in content.keys()})  # noqa: SIM118
        except (OSError, SafetensorError, ValueError):
            return History()
        assign([*learner.theta, *learner.phi], state["weights"])
        for optimiser, moments in zip(learner.optimisers, state["moments"], strict=True):
            optimiser.restore(moments)
        learner.task.generator.set_state(state["generator"])
        for name, value in state["rule"].items():
            setattr(rule, name, tuple(value) if isinstance(getattr(rule, name), tuple) else value)
        return History(**state["history"])

    def keep(self, learner: BilevelLearner, rule: StoppingRule, history: History) -> None:
        """Write the state after an epoch, if the last writing was long enough ago.

        The end of a training is not written: from the epoch before, it comes to the same end.
        """
        if history.seconds > 0 or time.monotonic() - self._written < self.every:
            return
        tensors: dict[str, Tensor] = {}
        state = {
            "key": self.key,
            "weights": [*learner.theta, *learner.phi],
            "moments": [each.state() for each in learner.optimisers],
            "generator": learner.task.generator.get_state(),
            "rule": {name: value for name, value in vars(rule).items() if value is not None},
            "history": dataclasses.asdict(history),
        }
        content = json.dumps(_emptied(state, tensors))
        with room(self.file.parent, "keeping the training"), whole_file(self.file) as handle:
            handle.write(tensor_bytes(tensors, metadata={"state": content}))
        self._written = time.monotonic()


def _emptied(value: Any, tensors: dict[str, Tensor]) -> Any:
    """The same with each tensor replaced by its name, under which it goes into ``tensors``."""
    if isinstance(value, Tensor):
        name = f"tensor-{len(tensors)}"
        tensors[name] = value.detach().clone().contiguous()
        return {"tensor": name}
    if isinstance(value, dict):
        return {key: _emptied(each, tensors) for key, each in value.items()}
    return [_emptied(each, tensors) for each in value] if isinstance(value, list | tuple) else value


def _filled(value: Any, tensors: dict[str, Tensor]) -> Any:
    """The opposite of `_emptied`."""
    if isinstance(value, dict):
        if set(value) == {"tensor"}:
            return tensors[value["tensor"]]
        return {key: _filled(each, tensors) for key, each in value.items()}
    return [_filled(each, tensors) for each in value] if isinstance(value, list) else value
