"""`metapn datasets`: which graphs there are, and fetching one."""

from __future__ import annotations

from typing import Annotated

import typer

from metapn.cli.console import console
from metapn.cli.options import Quiet

app = typer.Typer(help="List the data sets, or fetch one.", no_args_is_help=False)


@app.callback(invoke_without_command=True)
def _default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_()


@app.command("list")
def list_() -> None:
    """List the data sets, what is in them, and which are on this machine.

    Example: [bold]metapn datasets list[/bold]
    """
    from rich.table import Table

    from metapn.datasets import describe

    table = Table(box=None, header_style="bold")
    for column in ("name", "nodes", "edges", "features", "classes", "here", "from"):
        numeric = column in ("nodes", "edges", "features", "classes")
        table.add_column(column, justify="right" if numeric else "left", no_wrap=True)
    out, folders = console(), set()
    for data in describe():
        counts = data.counts
        sizes = (counts.nodes, counts.edges, counts.features, counts.classes) if counts else (None,) * 4
        if data.path:
            folders.add(str(data.path.parent))
        origin = "download" if data.origin.startswith("https:") else data.origin
        table.add_row(
            data.name, *("" if n is None else f"{n:,}" for n in sizes), "yes" if data.ready else "no", origin
        )
    out.print(table)
    if folders:
        out.print(f"Files are in {', '.join(sorted(folders))}.")


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="Name of the data set, see 'metapn datasets list'.")],
    quiet: Quiet = False,
) -> None:
    """Fetch a data set into the cache, unless it is on this machine already, and check it.

    Run it again to go on with a download that was cut off. Example: [bold]metapn datasets fetch cora_ml[/bold]
    """
    from metapn import datasets

    graph = datasets.load(name, progress=not quiet)
    console().print(f"{graph!r} is on this machine and as it should be.")
