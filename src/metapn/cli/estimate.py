"""`metapn estimate`: what a graph of any size would take, on one machine or on many."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from metapn.cli.console import console
from metapn.cli.options import Json


def estimate(
    nodes: Annotated[float, typer.Option(min=1, help="Nodes, such as 1e9.")],
    edges: Annotated[float, typer.Option(min=0, help="Edges, each counted once, such as 1e10.")],
    classes: Annotated[int, typer.Option(min=1, help="Classes.")] = 16,
    hops: Annotated[int, typer.Option(min=1, help="Hops that labels travel.")] = 10,
    features: Annotated[int, typer.Option(min=1, help="Features of a node.")] = 128,
    workers: Annotated[int, typer.Option(min=1, help="Machines; one is engine disk, more are engine ray.")] = 1,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs until the training comes to rest.")] = 200,
    half: Annotated[bool, typer.Option("--half", help="Keep and send label matrices in float16.")] = False,
    gather: Annotated[float, typer.Option(help="GB a second that a hop gathers, see 'metapn bench disk'.")] = 1.0,
    network: Annotated[float, typer.Option(help="GB a second that a machine receives.")] = 1.25,
    disk: Annotated[float, typer.Option(help="GB a second that a machine writes to its disk.")] = 1.0,
    speed: Annotated[float, typer.Option(help="Nodes a second that a machine trains on.")] = 1e5,
    as_json: Json = False,
) -> None:
    """Work out memory, disk, network and hours from speeds that were measured; docs/scale.md has the formulae.

    Example: [bold]metapn estimate --nodes 1e9 --edges 1e10 --classes 16 --hops 10 --workers 16[/bold]
    """
    from metapn.bench.estimate import Size, Speeds
    from metapn.errors import InputError

    for name, value in {"--gather": gather, "--network": network, "--disk": disk, "--speed": speed}.items():
        if not value > 0:
            raise InputError(f"{name} {value:g} is no speed; give more than 0")
    size = Size(round(nodes), round(edges), classes, hops, features, workers, epochs, half)
    figures = size.estimate(Speeds(gather * 1e9, network * 1e9, disk * 1e9, speed))
    if as_json:
        typer.echo(json.dumps(figures))
        return
    out = console()
    where = f"{workers} machines (engine ray)" if workers > 1 else "one machine (engine disk)"
    out.print(f"{size.nodes:,} nodes, {size.edges:,} edges, {classes} classes, {hops} hops on {where}", style="bold")
    for name, text in {"memory_of_a_worker": "memory of each machine", "disk_of_all": "disk, all together"}.items():
        out.print(f"{text:<24}{_bytes(figures[name]):>12}")
    if workers > 1:
        out.print(f"{'network, a hop':<24}{_bytes(figures['network_a_hop']):>12}")
        out.print(f"{'network, in all':<24}{_bytes(figures['network_in_all']):>12}")
    for name in ("hop", "loading", "propagation", "training", "prediction", "all"):
        label = {"hop": "time, a hop", "all": "time, in all"}.get(name, f"time, {name}")
        out.print(f"{label:<24}{_time(figures[f'{name}_seconds']):>12}")


def _bytes(value: float) -> str:
    return f"{value / 1e12:,.1f} TB" if value >= 1e12 else f"{value / 1e9:,.2f} GB"


def _time(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} h" if seconds >= 3600 else f"{seconds / 60:,.1f} min"
