r"""The paper's five benchmark graphs: where each is published, and what must be in it.

A git blob id is the SHA-1 of ``"blob <size>\0" + content``; it is what GitHub shows for a file. The counts
are those after standardisation (see `metapn.data.npz.standardise`), every undirected edge counted once.
"""

from __future__ import annotations

from dataclasses import dataclass

from metapn.errors import InputError
from metapn.graph import Graph

PPNP = "https://raw.githubusercontent.com/klicperajo/ppnp/master/ppnp/data/"
OGB = "https://snap.stanford.edu/ogb/data/nodeproppred/"


@dataclass(frozen=True)
class Counts:
    """How much there is of everything in a graph.

    Examples
    --------
    >>> print(Counts(nodes=2810, edges=7981, features=2879, classes=7))
    2,810 nodes, 7,981 edges, 2,879 features, 7 classes
    """

    nodes: int
    edges: int
    features: int
    classes: int

    def __str__(self) -> str:
        return f"{self.nodes:,} nodes, {self.edges:,} edges, {self.features:,} features, {self.classes} classes"

    @classmethod
    def of(cls, graph: Graph) -> Counts:
        """Count what a graph holds."""
        features = 0 if graph.features is None else int(graph.features.shape[1])
        return cls(graph.n_nodes, graph.n_edges, features, graph.n_classes)


@dataclass(frozen=True)
class Source:
    """A published benchmark file.

    Parameters
    ----------
    name, title : str
        The name `metapn.datasets.load` knows, and the one the paper prints.
    file, address : str
        Name of the file, and where it is published.
    counts : Counts
        What must be in it once it is standardised.
    n_known : int
        Nodes on the known side of the paper's known/test partition.
    blob_id, sha256 : str, optional
        Upstream's checksum, whichever is published. It guards downloads; a file put in place by hand is
        judged by its counts, so that a re-encoded one will do.
    folders : tuple of str
        Names under which the unpacked file is accepted as well.
    """

    name: str
    title: str
    file: str
    address: str
    counts: Counts
    n_known: int = 1500
    blob_id: str | None = None
    sha256: str | None = None
    folders: tuple[str, ...] = ()


_ALL = (
    Source(
        name="cora_ml",
        title="Cora-ML",
        file="cora_ml.npz",
        address=PPNP + "cora_ml.npz",
        counts=Counts(nodes=2810, edges=7981, features=2879, classes=7),
        blob_id="f70cf83ac06ed70900e94c042ff32bbc8ceca086",
    ),
    Source(
        name="citeseer",
        title="CiteSeer",
        file="citeseer.npz",
        address=PPNP + "citeseer.npz",
        counts=Counts(nodes=2110, edges=3668, features=3703, classes=6),
        blob_id="184dd894a26157601bd1d17b99d6ec4561c9de10",
    ),
    Source(
        name="pubmed",
        title="PubMed",
        file="pubmed.npz",
        address=PPNP + "pubmed.npz",
        counts=Counts(nodes=19717, edges=44324, features=500, classes=3),
        blob_id="e7dbba82dd4aaeff5a0e59b23d58158ced3ec42c",
    ),
    Source(
        name="ms_academic",
        title="MS-CS",
        file="ms_academic.npz",
        address=PPNP + "ms_academic.npz",
        counts=Counts(nodes=18333, edges=81894, features=6805, classes=15),
        n_known=5000,
        blob_id="9bdd7da943d86b74297e8d32e99eb64245b52835",
    ),
    # OGB counts 1,166,243 citations; 8,444 pairs of papers cite each other, which leaves 1,157,799 edges.
    # The paper's table prints 15 features, which is a slip.
    Source(
        name="ogbn-arxiv",
        title="ogbn-arxiv",
        file="arxiv.zip",
        address=OGB + "arxiv.zip",
        counts=Counts(nodes=169343, edges=1157799, features=128, classes=40),
        sha256="49f85c801589ecdcc52cfaca99693aaea7b8af16a9ac3f41dd85a5f3193fe276",
        folders=("arxiv", "ogbn_arxiv"),
    ),
)

SOURCES: dict[str, Source] = {source.name: source for source in _ALL}


def check_counts(graph: Graph, expected: Counts, place: str) -> None:
    """Refuse a graph, read from `place`, that does not hold what it should."""
    found = Counts.of(graph)
    if found != expected:
        raise InputError(
            f"{place} holds {found}, but {graph.name} has {expected}; "
            "put the published file in its place, or remove it to have it downloaded"
        )
