"""`metapn export`: a model for those who have neither metapn nor Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metapn.cli.console import console


def export(
    run: Annotated[Path, typer.Argument(help="Folder that 'metapn fit' wrote.")],
    onnx: Annotated[Path, typer.Option(help="File to write, .onnx.")],
) -> None:
    """Write a fitted model as ONNX: what it predicts of nodes without their edges.

    Where all columns are numbers, filling and scaling them is part of the graph.

    Example: [bold]metapn export run --onnx model.onnx[/bold]
    """
    from metapn.deploy.onnx import export_onnx
    from metapn.deploy.pipeline import Pipeline

    pipeline = Pipeline.load(run)
    exported = export_onnx(pipeline, onnx)
    console().print(f"{exported}; written to {onnx}", markup=False)
