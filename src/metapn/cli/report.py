"""`metapn report`: a folder of results as a page, as Markdown or as a table of numbers."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from metapn.cli.console import console


class Format(enum.StrEnum):
    """What the report is written as."""

    HTML = "html"
    MD = "md"
    CSV = "csv"


def report(
    folder: Annotated[
        list[Path], typer.Argument(help="Filled by 'metapn reproduce', wholly or in part; several are put together.")
    ],
    format_: Annotated[
        Format, typer.Option("--format", help="html: one page. md: its tables. csv: a row for each cell.")
    ] = Format.HTML,
    out: Annotated[
        Path | None, typer.Option(help="File to write; report.html, .md or .csv in the first folder.")
    ] = None,
) -> None:
    """Set the results beside the paper's: tables, figures, verdicts and cost, as one page that needs no network.

    Example: [bold]metapn report results[/bold]
    """
    from metapn.data.files import whole_file
    from metapn.report.contents import contents
    from metapn.report.markdown import markdown
    from metapn.report.page import html
    from metapn.report.results import Results
    from metapn.report.tidy import tidy

    results = Results.read(*folder)
    if format_ is Format.CSV:
        written = tidy(results)
    else:
        page = contents(results)
        written = html(page) if format_ is Format.HTML else markdown(page)
    path = out or folder[0] / f"report.{format_.value}"
    with whole_file(path) as handle:
        handle.write(written.encode())
    console().print(f"The report is in {path}")
