"""`metapn demo`: what it does, in half a minute and without a network."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metapn.cli.console import console, progress
from metapn.cli.options import Quiet

if TYPE_CHECKING:
    from metapn.experiments.demo import Draw
    from metapn.graph import Graph

DRAWS = 5


def demo(
    picture: Annotated[Path, typer.Option(help="Where to put the picture.")] = Path("metapn-demo.png"),
    quiet: Quiet = False,
) -> None:
    """Label 1,797 handwritten digits from three labels a class, beside what scikit-learn makes of them.

    Example: [bold]metapn demo[/bold]
    """
    from metapn.experiments.demo import SHOT, demo_graph, draws

    out = console()
    graph = demo_graph()
    out.print(
        f"{graph.n_nodes:,} handwritten digits, each joined to the ten most like it; {SHOT} labels for each of "
        f"the {graph.n_classes} classes, no validation set.\n"
        f"Mean accuracy on the unlabelled ones over {DRAWS} draws of labels:\n"
    )
    results = []
    with progress("fitting", quiet=quiet) as advance:
        for draw in draws(graph, DRAWS):
            results.append(draw)
            advance(len(results), DRAWS)
    accuracies = {name: [draw.accuracies[name] for draw in results] for name in results[0].accuracies}
    for name, values in accuracies.items():
        mean = sum(values) / len(values)
        out.print(f"  {name:<20} [bold]{mean:6.1%}[/bold]  {'█' * round(40 * mean)}")
    out.print(f"\n{results[0].model.report_}\n(first draw)\n")
    if find_spec("matplotlib"):
        _draw(picture, graph, results[0], accuracies)
        out.print(f"Picture: {picture}")
    else:
        out.print("For the picture: pip install 'metapn[report]'")
    out.print(
        "Next: metapn datasets list                          graphs to try\n"
        "      metapn evaluate --dataset cora_ml --shot 5    accuracy over ten splits\n"
        "      metapn fit --edges edges.csv --nodes nodes.csv --out run   your own graph"
    )


def _draw(picture: Path, graph: Graph, draw: Draw, accuracies: dict[str, list[float]]) -> None:
    from sklearn.manifold import TSNE

    from metapn.report.picture import draw_demo

    places = TSNE(init="pca", max_iter=500, random_state=0).fit_transform(draw.model.embed(graph.features))
    right = draw.model.transduction_ == graph.labels
    draw_demo(picture, places, draw.model.transduction_, right, draw.labelled, accuracies)
