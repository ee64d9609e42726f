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


Dataset = Annotated[str, typer.Option(help="Data set, see 'metapn datasets list'.")]
Shot = Annotated[float, typer.Option(help="Labels a class; below 1 the labelled share of all nodes.")]
Jobs = Annotated[int, typer.Option(min=1, help="Processes; the results do not depend on it.")]
WhichProtocol = Annotated[
    Protocol, typer.Option(help="paper: 500 more labelled nodes stop the training. no-validation: none do.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]
EitherWay = Annotated[bool, typer.Option("--either-way", help="An edge stored in one direction counts in both.")]
