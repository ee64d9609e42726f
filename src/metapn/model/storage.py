"""A fitted model on disk: numbers in safetensors, the rest in JSON, and nothing that is ever unpickled."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as tensor_bytes

from metapn.data.files import whole_file
from metapn.errors import InputError
from metapn.model.estimator import GraphClassifier
from metapn.model.features import FeatureScaling

FORMAT = "metapn-model"
VERSION = 1
DESCRIPTION, WEIGHTS = "model.json", "model.safetensors"


def save(model: GraphClassifier, folder: str | Path) -> None:
    """Write ``model.json`` and ``model.safetensors`` into a folder.

    What is kept is what predicts: settings, classes, scaling and weights. The training graph and its
    predictions are not. Each file appears whole or not at all; the description comes last, so that a
    folder without it is no model.

    Parameters
    ----------
    model : a fitted method
    folder : path
        Made if it is not there.
    """
    classes = model.classes_
    if classes.dtype.kind not in "iufbU":
        raise InputError(f"classes of type {classes.dtype} cannot be stored as JSON; use strings or whole numbers")
    tensors = {f"network.{name}": value.contiguous().cpu() for name, value in model._network_.state_dict().items()}
    tensors["scaling.offset"] = torch.from_numpy(model._scaling.offset)
    tensors["scaling.factor"] = torch.from_numpy(model._scaling.factor)
    settings = {name: getattr(value, "tolist", lambda v=value: v)() for name, value in model.get_params().items()}
    settings["random_state"] = settings["random_state"] if isinstance(settings["random_state"], int) else None
    settings["device"] = "auto"  # the machine that loads it may have others
    description = {
        "format": FORMAT,
        "version": VERSION,
        "method": f"{type(model).__module__}:{type(model).__name__}",
        "settings": settings,
        "classes": {"type": classes.dtype.str, "values": classes.tolist()},
        "n_features": model.n_features_in_,
        "scaling_by_row": model._scaling.by_row,
        "report": model.report_.as_dict(),
    }
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{place} cannot be made a folder ({error.strerror}); choose another place") from None
    for name, content in (
        (WEIGHTS, tensor_bytes(tensors)),
        (DESCRIPTION, json.dumps(description, indent=2).encode()),
    ):
        with whole_file(place / name) as handle:
            handle.write(content)


def load(folder: str | Path) -> GraphClassifier:
    """Read a model that `save` wrote; its predictions are the same to the bit.

    Parameters
    ----------
    folder : path

    Returns
    -------
    GraphClassifier
        Of the method that was saved, ready for ``predict``, ``predict_proba`` and ``embed``.
    """
    place = Path(folder)
    description = _read_description(place / DESCRIPTION)
    try:
        model: GraphClassifier = _method(description["method"])(**description["settings"])
        model.classes_ = np.array(description["classes"]["values"], dtype=description["classes"]["type"])
        model.n_features_in_ = int(description["n_features"])
        by_row = bool(description["scaling_by_row"])
    except (KeyError, TypeError, ValueError, AttributeError, ImportError) as error:
        raise InputError(
            f"{place / DESCRIPTION} does not describe a model ({type(error).__name__}: {error}); save the model anew"
        ) from None
    weights = place / WEIGHTS
    try:
        tensors = load_tensors(weights.read_bytes())
        model._scaling = FeatureScaling(
            by_row, tensors.pop("scaling.offset").numpy(), tensors.pop("scaling.factor").numpy()
        )
        network = model._network(model.n_features_in_, len(model.classes_), torch.Generator())
        network.load_state_dict({name.removeprefix("network."): value for name, value in tensors.items()})
    except (OSError, SafetensorError, KeyError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{weights} does not hold the model's weights ({reason}); save the model anew") from None
    model._network_ = network.to(model._device()).eval()
    return model


def _read_description(path: Path) -> dict[str, Any]:
    try:
        description = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; give a folder that 'metapn fit' or save() has written") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path} cannot be read as JSON ({error}); save the model anew") from None
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise InputError(f"{path} is not a metapn model; give a folder that 'metapn fit' or save() has written")
    if not isinstance(description.get("version"), int) or description["version"] > VERSION:
        raise InputError(
            f"{path} has format version {description.get('version')}, this metapn reads up to {VERSION}; update"
        )
    return description


def _method(where: str) -> type[GraphClassifier]:
    """Find the class of a stored model; only metapn's own are ever imported."""
    module, _, name = where.partition(":")
    if not module.startswith("metapn."):
        raise ValueError(f"{module} is not a part of metapn")
    found = getattr(import_module(module), name)
    if not (isinstance(found, type) and issubclass(found, GraphClassifier)):
        raise ValueError(f"{where} is not a method")
    return found
