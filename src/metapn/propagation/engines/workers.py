"""Workers that keep the parts of a graph and send each other the rows that their parts need."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from metapn.graph import FloatArray, IntArray
from metapn.propagation.engines.cluster import imported, results
from metapn.propagation.engines.contract import OnHop, Seeds
from metapn.propagation.engines.half import halved
from metapn.propagation.engines.parted_stack import write_part
from metapn.propagation.engines.partition import Part, requested
from metapn.propagation.engines.routing import part_folder
from metapn.propagation.engines.row_files import RowFiles, hop_file, last_hop, write_rows

#: Rows on their way from one part to another: values, and what they are to be multiplied with if they are halved.
Message = tuple[Any, FloatArray | None]


class Worker:
    """One part of the graph and its rows of U(k): an actor that may be killed at any moment.

    What cannot be made again is on disk: the part, and U(k) of each hop that is done. Every call says which
    hop it starts from, and a worker that was started anew reads it; so Ray may repeat a call that was lost.

    Parameters
    ----------
    folder : path
        Where the parts are.
    number : int
        Which of them is this worker's.
    bounds : int array, shape (parts + 1,)
        First row of each part, and the number of nodes.
    """

    def __init__(self, folder: Path, number: int, bounds: IntArray) -> None:
        torch.set_num_threads(1)  # a worker for each core
        self.number, self.first, self.last = number, int(bounds[number]), int(bounds[number + 1])
        self.part = Part.load(part_folder(folder, number))
        halos = [np.load(part_folder(folder, other) / "halo.npy") for other in range(len(bounds) - 1)]
        #: Its own rows that each part needs.
        self.wanted = [requested(halo, bounds)[number] for halo in halos]
        self.at: Path | None = None
        self.rows: FloatArray = np.empty((0, 0), dtype=np.float32)

    def begin(self, hops: Path, start: Seeds | RowFiles | FloatArray) -> bool:
        """Write U(0) = D̃^(-1/2) Y(0) of its rows; return whether it is what was there already."""
        if isinstance(start, Seeds):
            own = (start.nodes >= self.first) & (start.nodes < self.last)
            local = Seeds(start.nodes[own] - self.first, start.columns[own], start.n_columns)
            labels = local.dense(self.last - self.first)
        else:
            labels = start.rows(self.first, self.last).numpy() if isinstance(start, RowFiles) else start
        file = hop_file(hops, 0, self.number)
        rows = (labels / np.sqrt(self.part.degrees)[:, None]).astype(np.float32)
        known = file.exists() and np.array_equal(np.load(file), rows)
        if not known:
            self._keep(file, rows)
        return known

    def send(self, hops: Path, hop: int, half: bool) -> Any:
        """U(k) of the rows that each part needs, a message for each part."""
        rows = self._rows(hops, hop)
        sent: list[Message] = [halved(rows[p]) if half else (rows[p], None) for p in self.wanted]
        return sent if len(sent) > 1 else sent[0]  # what Ray takes for one result

    def receive(self, hops: Path, hop: int, alpha: float, *messages: Message) -> int:
        """Write U(k+1) = (1 - α) D̃⁻¹ (A + I) U(k) + α U(0) of its rows; return the bytes that came in."""
        halo = [values if powers is None else values * powers for values, powers in messages]
        rows = self.part.average(torch.from_numpy(np.concatenate((self._rows(hops, hop), *halo))))
        if alpha:
            teleport = torch.from_numpy(np.load(hop_file(hops, 0, self.number)))
            rows = torch.add(alpha * teleport, rows, alpha=1 - alpha)
        self._keep(hop_file(hops, hop + 1, self.number), rows.numpy())
        return sum(values.nbytes for values, _ in messages)

    def deal(self, stack: Path, hops: Path, n_hops: int, positions: IntArray, half: bool) -> None:
        """Write Y(0)..Y(K) of its rows in the order in which they are dealt."""
        files = [hop_file(hops, hop, self.number) for hop in range(n_hops + 1)]
        write_part(stack, self.number, files, np.sqrt(self.part.degrees), np.argsort(positions), half=half)

    def unscale(self, hops: Path, hop: int, out: Path) -> None:
        """Write Y(k) = D̃^(1/2) U(k) of its rows to where `RowFiles` look for it."""
        rows = self._rows(hops, hop) * np.sqrt(self.part.degrees)[:, None]
        write_rows(RowFiles.file(out, self.number), rows.astype(np.float32))

    def pid(self) -> int:
        """Process of the worker."""
        return os.getpid()

    def _rows(self, hops: Path, hop: int) -> FloatArray:
        """U(k) of its rows: those of its last call, or what is on disk."""
        file = hop_file(hops, hop, self.number)
        if self.at != file:
            self.at, self.rows = file, np.load(file)
        return self.rows

    def _keep(self, file: Path, rows: FloatArray) -> None:
        write_rows(file, rows)
        self.at, self.rows = file, rows


class Workers:
    """One worker for each part, spread over the nodes of the cluster.

    Parameters
    ----------
    folder, bounds
        As in `Worker`.

    Attributes
    ----------
    moved : list of int
        Bytes that the workers have sent each other in each hop so far.
    """

    def __init__(self, folder: Path, bounds: IntArray) -> None:
        # Where no number of CPUs is given, an actor needs one to start and none to move to any node that is left.
        options = {"max_restarts": -1, "max_task_retries": -1, "scheduling_strategy": "SPREAD"}
        actor = imported().remote(**options)(Worker)
        self.bounds = bounds
        self.actors = [actor.remote(folder, number, bounds) for number in range(len(bounds) - 1)]
        self.moved: list[int] = []

    def propagate(
        self,
        hops: Path,
        starts: Sequence[Any],
        n_hops: int,
        *,
        alpha: float = 0.0,
        half: bool = False,
        keep: bool = True,
        on_hop: OnHop | None = None,
    ) -> None:
        """Make hops 1..K, or what of them is not in the folder yet; of those done only 0 and the last if not keep."""
        begun = [actor.begin.remote(hops, start) for actor, start in zip(self.actors, starts, strict=True)]
        first = last_hop(hops, len(self.actors))
        if not all(results(begun)):
            first = 0  # what is there beyond hop 0 is of other labels
            for place in hops.glob("hop-*[1-9]*"):
                shutil.rmtree(place)
        for hop in range(first, n_hops):
            sending = [actor.send.options(num_returns=len(self.actors)) for actor in self.actors]
            sent = [send.remote(hops, hop, half) for send in sending]
            halos = zip(*(sent if len(sent) > 1 else [sent]), strict=True)
            calls = zip(self.actors, halos, strict=True)
            self.moved.append(sum(results([actor.receive.remote(hops, hop, alpha, *halo) for actor, halo in calls])))
            if not keep and hop:
                shutil.rmtree(hop_file(hops, hop, 0).parent)
            if on_hop is not None:
                on_hop(hop + 1, n_hops)

    def pids(self) -> list[int]:
        """Process of each worker."""
        return results([actor.pid.remote() for actor in self.actors])

    def stop(self) -> None:
        """End the workers."""
        for actor in self.actors:
            imported().kill(actor)
