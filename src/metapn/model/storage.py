"""A fitted model on disk: numbers in safetensors, the rest in JSON, and nothing that is ever unpickled."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as tensor_bytes

from metapn.data.stored import read_stored, write_stored
from metapn.errors import InputError
from metapn.model.estimator import GraphClassifier
from metapn.model.features import FeatureScaling
from metapn.model.settings import check_settings

FORMAT, VERSION = "metapn-model", 1
NAME = "model"


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
    write_stored(place, NAME, description, tensor_bytes(tensors), format=FORMAT, version=VERSION)


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
    description, numbers = read_stored(place, NAME, format=FORMAT, version=VERSION)
    try:
        model: GraphClassifier = _method(description["method"])(**description["settings"])
        check_settings(model)
        model.classes_ = _classes(**description["classes"])
        model.n_features_in_ = int(description["n_features"])
        by_row = bool(description["scaling_by_row"])
    except (KeyError, TypeError, ValueError, AttributeError, ImportError, OverflowError) as error:
        raise InputError(
            f"{place / 'model.json'} does not describe a model ({type(error).__name__}: {error}); save the model anew"
        ) from None
    try:
        tensors = load_tensors(numbers)
        offset, factor = (tensors.pop(f"scaling.{part}").numpy() for part in ("offset", "factor"))
        if not offset.shape == factor.shape == (model.n_features_in_,):
            raise RuntimeError(f"{len(offset)} columns are scaled, {model.n_features_in_} described")
        model._scaling = FeatureScaling(by_row, offset, factor)
        # On the meta device nothing is allocated: the weights take their places only if every shape is right.
        with torch.device("meta"):
            network = model._network(model.n_features_in_, len(model.classes_), torch.Generator())
        state = {name.removeprefix("network."): value for name, value in tensors.items()}
        network.load_state_dict(state, assign=True)
    except (SafetensorError, KeyError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{place / 'model.safetensors'} does not hold the model's weights ({reason}); save the model anew"
        ) from None
    model._network_ = network.to(model._device()).eval()
    return model


def _classes(type: str, values: list[Any]) -> npt.NDArray[Any]:
    """Classes as they were in the model, shape (c,), c > 1."""
    classes = np.array(values, dtype=type)
    if classes.dtype.kind not in "iufbU" or classes.ndim != 1 or len(classes) < 2:
        raise ValueError(f"{values!r} are no classes")
    return classes


def _method(where: str) -> type[GraphClassifier]:
    """Find the class of a stored model; only metapn's own are ever imported."""
    module, _, name = where.partition(":")
    if not module.startswith("metapn."):
        raise ValueError(f"{module} is not a part of metapn")
    found = getattr(import_module(module), name)
    if not (isinstance(found, type) and issubclass(found, GraphClassifier)):
        raise ValueError(f"{where} is not a method")
    return found
