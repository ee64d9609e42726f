"""Options that several commands share."""

from __future__ import annotations

import enum
from typing import Annotated

import typer


class Protocol(enum.StrEnum):
    """Whether the method gets early-stopping nodes."""

    PAPER = "paper"
    NO_VALIDATION = "no-validation"


class Final(enum.StrEnum):
    """Meta-PN's final predictions."""

    PROPAGATED = "propagated"
    TRANSFORMER = "transformer"
    PSEUDO = "pseudo"


class Engine(enum.StrEnum):
    """Where labels travel."""

    MEMORY = "memory"
    DISK = "disk"
    RAY = "ray"


Dataset = Annotated[str, typer.Option(help="Data set, see 'metapn datasets list'.")]
Jobs = Annotated[int, typer.Option(min=1, help="Processes; the results do not depend on it.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]
EitherWay = Annotated[bool, typer.Option("--either-way", help="An edge stored in one direction counts in both.")]

# Of the commands that take a data set or one's own graph: what is None is said below to have a default.
MaybeDataset = Annotated[
    str | None, typer.Option("--dataset", help="Data set, see 'metapn datasets list'; or give --edges and --nodes.")
]
MaybeShot = Annotated[
    float | None,
    typer.Option("--shot", help="Labels a class; below 1 the labelled share of all nodes.", show_default="5"),
]
MaybeProtocol = Annotated[
    Protocol | None,
    typer.Option(
        "--protocol",
        help="paper: 500 more labelled nodes stop the training. no-validation: none do.",
        show_default="paper",
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        min=2,
        help="Parts that the labels are dealt into, each hidden once a round.",
        show_default="5",
        rich_help_panel="Your own graph",
    ),
]
Calibrate = Annotated[
    bool | None,
    typer.Option(
        "--calibrate/--no-calibrate",
        help="Also calibrate, which fits up to five times more.",
        show_default="on your own graph",
    ),
]
WhichEngine = Annotated[
    Engine | None,
    typer.Option(help="Where Meta-PN propagates: in memory (default), on disk, or by Ray; see docs/scale.md."),
]
