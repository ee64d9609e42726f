"""What `metapn fit` does: tables in, a run folder out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from metapn.data.prepared import Prepared
from metapn.data.tables import Tables
from metapn.deploy.card import model_card
from metapn.deploy.pipeline import Pipeline
from metapn.deploy.predictions import prediction_file, prediction_table
from metapn.errors import InputError
from metapn.graph import FloatArray, IntArray
from metapn.model.estimator import GraphClassifier
from metapn.model.training import OnEpoch
from metapn.report.page import html
from metapn.report.run_page import RunView, run_page
from metapn.trust.calibration import Calibration, calibrate
from metapn.trust.reach import hops_to_label
from metapn.trust.suggestion import suggest

CARD, PAGE, PREDICTIONS = "README.md", "report.html", "predictions"
#: Nodes that the page names as worth labelling.
_SUGGESTED = 20


@dataclass(frozen=True, eq=False)
class Run:
    """One's own graph, and what was learnt from it.

    Parameters
    ----------
    tables : Tables
    data : Prepared
    pipeline : Pipeline
    """

    tables: Tables
    data: Prepared
    pipeline: Pipeline

    @property
    def labelled(self) -> IntArray:
        """Nodes that have a label, shape (g,)."""
        return np.flatnonzero([label is not None for label in self.tables.known_labels()])

    def hops(self) -> IntArray:
        """Edges to the nearest label of each node, -1 where there is no way, shape (n,)."""
        return hops_to_label(self.data.graph, self.labelled)

    def write(self, folder: Path, formats: Sequence[str] = ("parquet",), *, page: bool = True) -> None:
        """Write the pipeline, the predictions in each format, the model card, and the page for people."""
        self.pipeline.save(folder)
        probabilities, hops = self.pipeline.transduction(), self.hops()
        table = prediction_table(self.tables.ids, self.pipeline.classes, probabilities, hops)
        for name in formats:
            with prediction_file(folder / f"{PREDICTIONS}.{name}") as write:
                write(table)
        (folder / CARD).write_text(model_card(self.tables, self.data, self.pipeline), encoding="utf-8")
        if page:
            (folder / PAGE).write_text(html(run_page(self.view(probabilities, hops))), encoding="utf-8")

    def view(self, probabilities: FloatArray, hops: IntArray) -> RunView:
        """Gather what the page shows."""
        model: Any = self.pipeline.model
        return RunView(
            name=self.data.graph.name or "the graph",
            summary=[*str(model.report_).splitlines(), str(self.pipeline.calibration)],
            ids=[str(each) for each in self.tables.ids.to_pylist()],
            classes=[str(each) for each in self.pipeline.classes.tolist()],
            probabilities=probabilities,
            hops=hops,
            hidden=model.embed(self.data.X, self.data.graph),
            hop_weights=model.hop_weights_,
            suggested=suggest(probabilities, self.data.graph, self.labelled, _SUGGESTED),
        )


def fit_run(
    model: GraphClassifier,
    tables: Tables,
    data: Prepared,
    *,
    class_prior: Mapping[Any, float] | None = None,
    calibrated: bool = True,
    on_epoch: OnEpoch | None = None,
    on_fit: OnEpoch | None = None,
) -> Run:
    """Fit a model to tables, and calibrate it.

    Parameters
    ----------
    model : GraphClassifier
    tables : Tables
    data : Prepared
        What was made of the tables.
    class_prior : mapping of class to share, optional
    calibrated : bool
        Whether to fit again without each fifth of the labels, to see how far the probabilities are off.
    on_epoch, on_fit : callable, optional
        Called with what is done, and how much there is to do, of the fit and of the calibration.
    """
    labels = tables.known_labels()
    try:
        model.fit(data.X, labels, graph=data.graph, on_epoch=on_epoch)
    except InputError as error:
        raise InputError(f"{tables.name}: {error}") from None
    calibration = Calibration()
    if calibrated or class_prior is not None:
        calibration = calibrate(model, data.X, labels, data.graph, class_prior=class_prior, on_fit=on_fit)
    return Run(tables, data, Pipeline(model, data.encoder, calibration, data.structural))


def check_classes(tables: Tables, declared: Sequence[str]) -> None:
    """Refuse a label that is none of the declared classes, and a class that no node is labelled with."""
    labels = tables.known_labels()
    for row, label in enumerate(labels):
        if label is not None and str(label) not in declared:
            raise InputError(
                f"{tables.name}, row {row + 1}: the label {str(label)!r} is none of --classes {','.join(declared)}; "
                "correct it, or add it to them"
            )
    for name in declared:
        if name not in tables.graph.class_names:
            raise InputError(
                f"{tables.name} labels no node {name!r}, which --classes names; label one, or leave the name out"
            )
