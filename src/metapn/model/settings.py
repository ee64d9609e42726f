"""An estimator's settings: each with its default and its check beside it, told in one sentence when wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch

from metapn.errors import InputError

Check = tuple[Callable[[Any], bool], str]


def setting(default: Any, check: Check | None = None) -> Any:
    """Declare a field of an estimator: its default, and what its value must be."""
    return dataclasses.field(default=default, metadata={"check": check})


def whole(low: int) -> Check:
    """Return the check for a whole number from ``low`` upwards."""
    return (lambda v: _is(v, Integral) and v >= low, f"a whole number from {low} upwards")


def number(low: float, high: float = float("inf"), *, open_high: bool = False) -> Check:
    """Return the check for a finite real number between two bounds."""
    text = f"a number from {low:g}" + (" upwards" if high == float("inf") else f" to {high:g}")
    if open_high:
        return (lambda v: _is(v, Real) and low <= v < high, text + " (but not it)")
    return (lambda v: _is(v, Real) and low <= v <= high and v != float("inf"), text)


def one_of(choices: Iterable[str]) -> Check:
    """Return the check for one of several words."""
    names = tuple(choices)
    return (lambda v: isinstance(v, str) and v in names, "one of " + ", ".join(map(repr, names)))


def flag() -> Check:
    """Return the check for True or False."""
    return (lambda v: isinstance(v, bool | np.bool_), "True or False")


def seed() -> Check:
    """Return the check for what scikit-learn seeds a generator with."""
    return (
        lambda v: v is None or isinstance(v, np.random.RandomState) or (_is(v, Integral) and 0 <= v < 2**32),
        "None, a whole number from 0 to 4294967295 or a numpy RandomState",
    )


def device() -> Check:
    """Return the check for a device that torch finds on this machine."""
    return (_is_device, "'auto', 'cpu' or another device that torch finds on this machine")


def check_settings(estimator: Any) -> None:
    """Raise for the first setting of the estimator that its check does not allow."""
    for spec in dataclasses.fields(estimator):
        check = spec.metadata.get("check")
        value = getattr(estimator, spec.name)
        if check is not None and not check[0](value):
            raise InputError(
                f"{type(estimator).__name__}({spec.name}={value!r}) is not possible: {spec.name} must be {check[1]}"
            )


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _is_device(value: Any) -> bool:
    """Whether torch finds it: trying is the only way to know."""
    try:
        return isinstance(value, str) and (value == "auto" or torch.empty(0, device=value).numel() == 0)
    except (RuntimeError, AssertionError, NotImplementedError):
        return False
