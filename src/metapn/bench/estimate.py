"""What a graph of any size would take on a cluster, from figures that were measured on a small one.

With n nodes, m edges, c classes, K hops, f features, W workers, and b bytes a value (4, or 2 in float16)::

    entries of a worker     e = 2 m / W                       each edge in both directions
    rows it needs of others h = n (1 - 1/W) (1 - exp(-e / n)) if neighbours lie anywhere: the worst case
    memory of a worker      8 e + 8 n / W                     columns and row starts, 64-bit
                            + 4 c (2 n / W + h)               two label matrices, and the rows of others
    disk of all             n c b (K + 1) + 4 n f             hop stack and features
    network of a hop        W h c b                           all workers together
    seconds of a hop        e (4 c + 8) / gather + h c b / network + n c b / (W disk)
    propagation             K hops
    training                E (n / W) / nodes a second + E / 10 looks, each of K hops
    prediction              K hops

Engine disk is W = 1, without network. Loading and sorting the edges adds about two hops.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from metapn.errors import InputError


@dataclass(frozen=True)
class Speeds:
    """What one worker does a second; the defaults are of two cores, see docs/scale.md.

    Parameters
    ----------
    gather : float
        Bytes a second that a hop gathers from memory.
    network : float
        Bytes a second that a worker receives.
    disk : float
        Bytes a second that a worker writes.
    nodes : float
        Nodes a second that training steps over.
    """

    gather: float = 1.0e9
    network: float = 1.25e9
    disk: float = 1.0e9
    nodes: float = 1.0e5


@dataclass(frozen=True)
class Size:
    """How large the problem is, and how many workers share it.

    Parameters
    ----------
    nodes, edges, classes, hops, features, workers, epochs : int
        ``epochs`` of training until it comes to rest.
    half : bool
        Whether label matrices are kept and sent in float16.
    """

    nodes: int
    edges: int
    classes: int
    hops: int = 10
    features: int = 128
    workers: int = 1
    epochs: int = 200
    half: bool = False

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name != "half" and value < (0 if name == "edges" else 1):
                raise InputError(f"{name} is {value}; give a whole number from 1 upwards")

    @property
    def bytes_a_value(self) -> int:
        """Bytes of a value of a label matrix where it is kept or sent, b."""
        return 2 if self.half else 4

    @property
    def entries(self) -> float:
        """Stored entries of A with each worker, e."""
        return 2 * self.edges / self.workers

    @property
    def foreign_rows(self) -> float:
        """Rows of others that a worker needs, h: of n rows each is hit by none of e draws with exp(-e / n)."""
        return self.nodes * (1 - 1 / self.workers) * -math.expm1(-self.entries / self.nodes)

    @property
    def memory(self) -> float:
        """Bytes in the memory of each worker, besides 0.7 GB for the process."""
        own = self.nodes / self.workers
        edges = 8 * (self.entries + own) if self.workers > 1 else 20 * own
        labels = 4 * self.classes * ((2 * own if self.workers > 1 else own) + self.foreign_rows)
        return 0.7e9 + edges + labels

    @property
    def stack(self) -> float:
        """Bytes of the hop stack on disk."""
        return self.nodes * self.classes * self.bytes_a_value * (self.hops + 1)

    @property
    def disk(self) -> float:
        """Bytes on disk: the sorted edges, the hop stack, and the features by node and by batch."""
        return 16 * self.edges + 12 * self.nodes + self.stack + 8 * self.nodes * self.features

    @property
    def network_a_hop(self) -> float:
        """Bytes that all workers together send in a hop."""
        return self.workers * self.foreign_rows * self.classes * self.bytes_a_value

    def hop_seconds(self, speeds: Speeds) -> float:
        """Seconds of a hop."""
        gathered = self.entries * (4 * self.classes + 8) / speeds.gather
        received = self.foreign_rows * self.classes * self.bytes_a_value / speeds.network
        return gathered + received + self.nodes * self.classes * self.bytes_a_value / (self.workers * speeds.disk)

    def estimate(self, speeds: Speeds) -> dict[str, float]:
        """All figures: bytes, and seconds of each part.

        Examples
        --------
        >>> figures = Size(10**9, 10**10, 16, workers=16).estimate(Speeds())
        >>> round(figures["memory_of_a_worker"] / 1e9)
        62
        """
        hop = self.hop_seconds(speeds)
        steps = self.epochs * self.nodes / self.workers / speeds.nodes
        looks = self.epochs / 10 * self.hops * hop
        return {
            "memory_of_a_worker": self.memory,
            "disk_of_all": self.disk,
            "network_a_hop": self.network_a_hop,
            "network_in_all": self.network_a_hop * self.hops * (2 + self.epochs / 10),
            "loading_seconds": 2 * hop,
            "hop_seconds": hop,
            "propagation_seconds": self.hops * hop,
            "training_seconds": steps + looks,
            "prediction_seconds": self.hops * hop,
            "all_seconds": (2 + 2 * self.hops) * hop + steps + looks,
        }
