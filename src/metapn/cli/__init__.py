"""The command line: parse, call, print. One file a command; nothing heavy is imported before it is needed."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from metapn.cli import (
    bench,
    compare,
    datasets,
    demo,
    estimate,
    evaluate,
    export,
    fit,
    inspect,
    predict,
    report,
    reproduce,
    suggest,
    tune,
)
from metapn.errors import InputError

app = typer.Typer(
    name="metapn",
    help="A graph with a handful of labels in, every node's label out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)
app.add_typer(datasets.app, name="datasets")
app.command()(evaluate.evaluate)
app.command()(compare.compare)
app.command()(reproduce.reproduce)
app.command()(report.report)
app.command()(tune.tune)
app.command()(bench.bench)
app.command()(estimate.estimate)
app.command()(inspect.inspect)
app.command()(fit.fit)
app.command()(predict.predict)
app.command()(export.export)
app.command()(suggest.suggest)


def _version(wanted: bool) -> None:
    if wanted:
        from metapn import __version__

        typer.echo(f"metapn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and leave.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options of all commands; ``debug`` is looked up in `main`, where errors end."""


def main() -> None:
    """Run a command; bad input is one sentence and exit code 2, Ctrl-C is quiet."""
    try:
        app()
    except InputError as error:
        if "--debug" in sys.argv[1:]:
            raise
        typer.echo(f"Error: {error}", err=True)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
