"""The model card: what a model is, what it was made from, and how to use it, in one page of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from metapn.data.prepared import Prepared
from metapn.data.tables import Tables
from metapn.deploy.pipeline import Pipeline

_MOST_ROWS = 50


def model_card(tables: Tables, data: Prepared, pipeline: Pipeline) -> str:
    """Write the card of a fitted pipeline; it ends in a newline."""
    sections = (
        f"# A model that labels the nodes of {_code(data.graph.name or 'a graph')}\n\n{_summary(data, pipeline)}",
        f"## Data\n\n{_items(_notes(data))}\n\n{_classes(tables)}",
        f"## Columns\n\n{_columns(data, pipeline)}",
        f"## Method\n\n{_method(pipeline)}",
        f"## Probabilities\n\n{_items([str(pipeline.calibration)])}\n\n{_HOW_WELL}",
        f"## Limits\n\n{_limits(pipeline)}",
        f"## Use\n\n{_use(pipeline)}",
    )
    return "\n\n".join(sections) + "\n"


_HOW_WELL = """A probability is an estimate. How often the label is right is measured, with labels hidden in turn, by
`metapn evaluate` on the same tables."""


def _summary(data: Prepared, pipeline: Pipeline) -> str:
    report = pipeline.model.report_
    return (
        f"It gives a node one of {len(pipeline.classes):,} labels, each with a probability. It was fitted on "
        f"{report.n_nodes:,} nodes and {data.graph.n_edges:,} edges; {report.n_labelled:,} of the nodes had a label. "
        "It needs no graph to predict."
    )


def _notes(data: Prepared) -> list[str]:
    """What was done to the input, but for the columns, which have a table of their own."""
    plans = set() if data.encoder is None else set(map(str, data.encoder.plan_))
    return [note for note in data.notes if note not in plans]


def _classes(tables: Tables) -> str:
    labels = tables.graph.labels
    assert labels is not None
    counts = np.bincount(labels[labels >= 0], minlength=len(tables.graph.class_names))
    rows = [(_code(name), f"{count:,}") for name, count in zip(tables.graph.class_names, counts, strict=True)]
    return _table(("class", "labelled nodes"), rows)


def _columns(data: Prepared, pipeline: Pipeline) -> str:
    if pipeline.encoder is None:
        return f"A matrix of {pipeline.model.n_features_in_:,} numbers for each node, as it was given."
    rows = [
        (_code(plan.name), plan.kind, f"{plan.n_features:,}", _plain(plan.told)) for plan in pipeline.encoder.plan_
    ]
    return _table(("column", "kind", "features", "how"), rows)


def _method(pipeline: Pipeline) -> str:
    model = pipeline.model
    rows = [(_code(name), _code(str(value))) for name, value in model.get_params().items()]
    return f"{_items(str(model.report_).splitlines())}\n\n{_table(('setting', 'value'), rows)}"


def _limits(pipeline: Pipeline) -> str:
    report = pipeline.model.report_
    limits = [
        "It knows the classes above and no other: a node of another one is given one of these.",
        "Without their edges nodes are judged by their features alone, and less well.",
        "What is unlike the nodes it was fitted on is labelled with a probability that nothing was there to check.",
    ]
    if report.n_unreached:
        limits.append(
            f"{report.n_unreached:,} of the nodes had no way to any label: theirs come from features alone (see the "
            "column reached of the predictions)."
        )
    return _items(limits)


def _use(pipeline: Pipeline) -> str:
    if pipeline.encoder is None:
        command, code = "metapn predict . new.npz --out labels.parquet", _MATRIX
    else:
        command, code = "metapn predict . --nodes new.csv --out labels.parquet", _TABLE
    return f"In this folder, on the command line:\n\n```\n{command}\n```\n\nFrom Python:\n\n```python\n{code}\n```"


_TABLE = """import pandas as pd
from metapn import Pipeline

pipeline = Pipeline.load(".")
new = pd.read_csv("new.csv")
print(pipeline.predict(new), pipeline.predict_proba(new))"""

_MATRIX = """from metapn import Pipeline

pipeline = Pipeline.load(".")
print(pipeline.predict(X), pipeline.predict_proba(X))  # X: a row of numbers for each node"""


def _items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {_plain(line)}" for line in lines)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows[:_MOST_ROWS]]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    more = len(rows) - _MOST_ROWS
    return text + (f"\n\nand {more:,} more" if more > 0 else "")


def _code(text: str) -> str:
    """Text as it is, in Markdown: names of columns and classes are the user's and may hold anything."""
    shown = " ".join(text.split()).replace("|", "\\|")
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def _plain(text: str) -> str:
    """Text of one line in which no character is taken for Markdown's or HTML's."""
    shown = " ".join(text.split())
    for letter in "\\`*_|[]<>":
        shown = shown.replace(letter, f"\\{letter}")
    return shown
