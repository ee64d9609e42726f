"""`metapn bench`: what is fast, as ratios that were measured in one run on this machine."""

from __future__ import annotations

import enum
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metapn.cli.console import console, progress
from metapn.cli.options import Json, Quiet

if TYPE_CHECKING:
    from collections.abc import Callable

    from metapn.bench.measure import Measure


class Part(enum.StrEnum):
    """What can be measured by itself."""

    EPOCH = "epoch"
    RUN = "run"
    THROUGHPUT = "throughput"
    BANDWIDTH = "bandwidth"
    GROWTH = "growth"
    READING = "reading"
    ARXIV = "arxiv"
    MEMORY = "memory"
    START = "start"
    RAY = "ray"
    PREDICT = "predict"
    DISK = "disk"


def bench(
    parts: Annotated[list[Part] | None, typer.Argument(help="What to measure; all but ray by default.")] = None,
    datasets: Annotated[
        str, typer.Option(help="Comma-separated, for epoch, run, throughput and memory.")
    ] = "cora_ml",
    runs: Annotated[int, typer.Option(min=2, help="Runs of run and throughput.")] = 20,
    edges: Annotated[int, typer.Option(min=10_000, help="Largest graph of growth, and graph of ray.")] = 1_000_000,
    rows: Annotated[int, typer.Option(min=1_000, help="Rows of the edge table of reading.")] = 10_000_000,
    nodes: Annotated[
        int | None,
        typer.Option(
            min=1, help="Nodes of disk; by default graphs of 10^6 edges and more, up to --edges.", show_default=False
        ),
    ] = None,
    memory: Annotated[float, typer.Option(min=0.1, help="GB that disk may have resident.")] = 4.0,
    work: Annotated[
        Path | None,
        typer.Option(help="Folder for the work of disk, which goes on from it; a temporary one by default."),
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="Whether disk keeps the hop stack in float16.")] = False,
    threads: Annotated[int, typer.Option(min=1, help="Cores to use.")] = 2,
    published: Annotated[
        str | None, typer.Option(help="Seconds of a run of the authors' code, such as cora_ml=26,citeseer=20.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Leave with exit code 1 if a ratio is missed.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure on this machine what docs/performance.md says of another; nothing else should be running.

    Example: [bold]metapn bench epoch start --datasets cora_ml,pubmed[/bold]
    """
    names = [name.strip() for name in datasets.split(",")]
    # Ray is an extra that may not be installed, and starts a cluster: only when it is asked for.
    chosen = parts or [part for part in Part if part != Part.RAY]
    actions = _work(chosen, names, runs, edges, rows, threads, _seconds(published))
    if Part.DISK in chosen:
        actions.append(partial(_disk, nodes, edges, memory, work, half, threads, quiet))
    measures: list[Measure] = []
    with progress("measuring", quiet=quiet) as advance:
        for done, action in enumerate(actions):
            advance(done, len(actions))
            measures += action()
    if as_json:
        typer.echo(json.dumps([measure.as_dict() for measure in measures]))
    else:
        _show(measures)
    if check and (missed := [measure for measure in measures if measure.holds is False]):
        for measure in missed:
            typer.echo(f"missed: {measure.what} is {measure.value:.3g}, and should be {_aim(measure)}", err=True)
        raise typer.Exit(1)


def _work(
    parts: list[Part], names: list[str], runs: int, edges: int, rows: int, threads: int, published: dict[str, float]
) -> list[Callable[[], list[Measure]]]:
    """Make one action of each measurement."""
    from metapn.bench.bandwidth import bandwidth_share
    from metapn.bench.epoch import epoch_ratio
    from metapn.bench.growth import end_to_end, growth, memory
    from metapn.bench.predict import predict_speed
    from metapn.bench.reading import reading
    from metapn.bench.runs import throughput, whole_run
    from metapn.bench.start import start_time

    work: list[Callable[[], list[Measure]]] = []
    for name in names:
        if Part.EPOCH in parts:
            work.append(partial(_each, epoch_ratio, [(name, 1), (name, 4)]))
        if Part.RUN in parts:
            work.append(partial(_each, whole_run, [(name, range(runs), threads, published.get(name))]))
        if Part.THROUGHPUT in parts:
            work.append(partial(_each, throughput, [(name, runs, threads)]))
    if Part.BANDWIDTH in parts:
        work.append(lambda: [bandwidth_share("arxiv-like", threads=threads)])
    if Part.GROWTH in parts:
        work.append(lambda: growth([size for size in _SIZES if size <= edges], threads=threads))
    if Part.READING in parts:
        work.append(lambda: reading(rows, threads=threads))
    if Part.RAY in parts:
        from metapn.bench.cluster import ray_overhead

        work.append(lambda: [ray_overhead(edges, threads=threads)])
    if Part.ARXIV in parts:
        work.append(lambda: end_to_end(threads=threads))
    if Part.MEMORY in parts:
        work.append(lambda: memory(names, threads=threads))
    if Part.START in parts:
        work.append(lambda: [start_time()])
    if Part.PREDICT in parts:
        work.append(lambda: predict_speed(_ROWS, threads))
    return work


def _disk(
    nodes: int | None, edges: int, memory: float, work: Path | None, half: bool, threads: int, quiet: bool
) -> list[Measure]:
    """Propagate on disk: one graph, whose hops tell the time left, or graphs of up to that many edges."""
    import time

    import torch

    from metapn.bench.disk import disk_growth, disk_run

    torch.set_num_threads(threads)
    if nodes is None:
        sizes = [size for size in _SIZES if 1_000_000 <= size < edges] + [edges]
        return disk_growth(sizes, memory=memory * 1e9, half=half)
    start = time.perf_counter()

    def tell(done: int, total: int) -> None:
        left = (time.perf_counter() - start) / done * (total - done)
        if not quiet:
            typer.echo(f"hop {done} of {total}, {left:,.0f} s left", err=True)

    return [disk_run(nodes, edges, memory=memory * 1e9, folder=work, half=half, on_hop=tell)]


def _each(measure: Callable[..., Measure], arguments: list[tuple[Any, ...]]) -> list[Measure]:
    return [measure(*each) for each in arguments]


_ROWS = 400_000
_SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000, 3_162_278, 10_000_000)


def _seconds(published: str | None) -> dict[str, float]:
    from metapn.errors import InputError

    try:
        pairs = [pair.split("=") for pair in published.split(",")] if published else []
        return {name.strip(): float(value) for name, value in pairs}
    except ValueError:
        raise InputError(
            f"--published {published} cannot be read; give seconds of a run by data set, such as cora_ml=26"
        ) from None


def _show(measures: list[Measure]) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for column in ("ratio", "measured", "aim", ""):
        table.add_column(column, justify="left" if column == "ratio" else "right")
    for measure in measures:
        verdict = {None: "", True: "holds", False: "missed"}[measure.holds]
        table.add_row(measure.what, f"{measure.value:.2f}", _aim(measure), verdict)
    out = console()
    out.print(table)
    for measure in measures:
        if "fits" not in measure.details:
            figures = ", ".join(
                f"{key} {value:.4g}" for key, value in measure.details.items() if isinstance(value, float)
            )
            out.print(f"{measure.name}: {figures}" if figures else "", style="dim")
            continue
        for fit in measure.details["fits"]:
            out.print(
                f"{fit['edges']:>12,} edges: {fit['seconds']:8.2f} s, {fit['epochs']} epochs, "
                f"{fit['peak'] / 1e6:8,.0f} MB at the most, estimated {fit['estimate'] / 1e6:8,.0f} MB",
                style="dim",
            )


def _aim(measure: Measure) -> str:
    if measure.bound is None:
        return ""
    return f"{'at most' if measure.at_most else 'at least'} {measure.bound:g}"
