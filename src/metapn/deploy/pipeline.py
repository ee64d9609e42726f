"""All that a prediction needs, from the columns of a table to calibrated probabilities, kept in a folder.

::

    columns  ->  ColumnEncoder  ->  X  ->  scaling and network (the model)  ->  calibration  ->  P
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as array_bytes

from metapn.data.columns import ColumnEncoder
from metapn.data.stored import read_stored, write_stored
from metapn.data.tables.frames import Frame
from metapn.errors import InputError
from metapn.graph import Features, FloatArray
from metapn.model.estimator import GraphClassifier
from metapn.model.storage import load as load_model
from metapn.model.storage import save as save_model
from metapn.trust.calibration import Calibration

FORMAT, VERSION = "metapn-pipeline", 1
NAME = "pipeline"


@dataclass(frozen=True, eq=False)
class Pipeline:
    """A fitted model with what stands before and behind it.

    Parameters
    ----------
    model : GraphClassifier
    encoder : ColumnEncoder or None
        None where X was given as a matrix.
    calibration : Calibration
    structural : bool
        Whether X was made from the graph alone: then no node of another graph can be judged.
    """

    model: GraphClassifier
    encoder: ColumnEncoder | None = None
    calibration: Calibration = field(default_factory=Calibration)
    structural: bool = False

    @property
    def classes(self) -> npt.NDArray[Any]:
        """Classes in the order of the probabilities, shape (c,)."""
        classes: npt.NDArray[Any] = self.model.classes_
        return classes

    def transduction(self) -> FloatArray:
        """Calibrated probabilities of the nodes that were fitted, shape (n, c); `load` does not bring them back."""
        return self.calibration.transduction.apply(self.model.label_distributions_)

    def predict_proba(self, X: Any, graph: Any = None) -> FloatArray:
        """Calibrated probabilities, shape (m, c).

        Parameters
        ----------
        X : table with the columns of fit (pandas, polars, pyarrow), or a matrix (m, f) if a matrix was fitted
        graph : Graph, optional
            How these nodes are joined. Without it each is judged by its features alone.
        """
        return self.judged(self.encoded(X), graph)

    def encoded(self, X: Any) -> Features:
        """Features of the nodes of a table, shape (m, f); a matrix is that already."""
        return X if self.encoder is None else self.encoder.transform(Frame.of(X, "the nodes").content)

    def judged(self, features: Features, graph: Any = None) -> FloatArray:
        """Calibrated probabilities from features, shape (m, c)."""
        adjustment = self.calibration.unseen if graph is None else self.calibration.transduction
        return adjustment.apply(self.model.predict_proba(features, graph))

    def predict(self, X: Any, graph: Any = None) -> npt.NDArray[Any]:
        """Most probable class of each node, shape (m,); parameters as in `predict_proba`."""
        best: npt.NDArray[Any] = self.classes[self.predict_proba(X, graph).argmax(axis=1)]
        return best

    def save(self, folder: Path) -> None:
        """Write ``model.*`` and ``pipeline.*`` into a folder."""
        described, arrays = (None, {}) if self.encoder is None else self.encoder.to_parts()
        description = {
            "encoder": described,
            "calibration": self.calibration.as_dict(),
            "structural": self.structural,
        }
        numbers = array_bytes({name: np.ascontiguousarray(array) for name, array in arrays.items()})
        save_model(self.model, folder)
        write_stored(folder, NAME, description, numbers, format=FORMAT, version=VERSION)

    @classmethod
    def load(cls, folder: str | Path) -> Pipeline:
        """Read what `save` wrote, or a model alone that `metapn.save` wrote; predictions are the same to the bit."""
        place = Path(folder)
        model = load_model(place)
        if not (place / f"{NAME}.json").exists():
            return cls(model)
        description, numbers = read_stored(place, NAME, format=FORMAT, version=VERSION)
        try:
            described, arrays = description["encoder"], load_arrays(numbers)
            encoder = None if described is None else ColumnEncoder.from_parts(described, arrays)
            calibration = Calibration.from_dict(description["calibration"])
            structural = bool(description["structural"])
        except (SafetensorError, InputError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{place / NAME}.json does not describe what stands before and behind a model "
                f"({type(error).__name__}: {' '.join(str(error).split())}); fit the model anew"
            ) from None
        return cls(model, encoder, calibration, structural)
