"""The verdict in plain words: how much of the paper is reproduced, and what is not there to be judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from metapn.experiments.cell import PROTOCOLS
from metapn.experiments.paper import DATASETS, METHODS, published
from metapn.experiments.plan import SHOTS
from metapn.report import blocks, words
from metapn.report.blocks import Block, Column
from metapn.report.missing import missing
from metapn.report.results import Results
from metapn.report.scores import Contest, Place, Score

#: A difference that chance alone brings less often counts as one.
LEVEL = 0.05


def summary_blocks(results: Results) -> list[Block]:
    """Say how much is reproduced, how Meta-PN does, and what is missing."""
    found = {place: contest for artefact in SHOTS for place, contest in results.contests[artefact].items()}
    absent = missing(results)
    parts: list[Block] = []
    judged = [score for contest in found.values() for score in contest.scores if score.plain and score.published]
    if judged:
        parts.extend(_counts(judged))
        parts.extend(_rivals(found))
        parts.extend(_metapn(found))
    else:
        parts.append(blocks.Text("There are no runs yet of any cell of the paper's tables 2 to 4."))
    if absent:
        parts.extend([blocks.Heading("What is not there"), blocks.Items(absent)])
    return parts


def _counts(judged: list[Score]) -> list[Block]:
    of_paper = sum(
        published(method, dataset, shot) is not None
        for method in METHODS
        for dataset in DATASETS
        for shots in SHOTS.values()
        for shot in shots
    )
    usual = Counter(score.verdict.word for score in judged if score.cell.protocol == PROTOCOLS[0])
    without = Counter(score.verdict.word for score in judged if score.cell.protocol == PROTOCOLS[1])
    sizes = sorted(score.summary.n for score in judged)
    labels = {"reproduced": "reproduced", "above": "above the paper", "below": "below the paper"}
    tiles = [blocks.Tile(str(usual[word]), label, word) for word, label in labels.items()]
    tiles.append(blocks.Tile(str(of_paper - usual.total()), "not run"))
    told = [
        f"Tables 2 to 4 of the paper have {of_paper} cells. Under the paper's protocol {usual.total()} of them have "
        f"been run, {_runs(sizes)}: {_verdicts(usual)}."
    ]
    if without.total():
        told.append(
            f"Without validation nodes, which the paper does not try, {without.total()} have been run; beside the "
            f"paper's figures {_verdicts(without)}."
        )
    meaning = (
        "Reproduced: the paper's mean lies inside our 95 % bootstrap interval, widened by the paper's own on either "
        "side. Above and below: it lies outside. With few runs the interval is wide, and reproduced says little."
    )
    return [blocks.Tiles(tiles), blocks.Text(" ".join(told)), blocks.Text(meaning)]


def _verdicts(counted: Counter[str]) -> str:
    return words.listed([f"{counted[word]} {word}" for word in ("reproduced", "above", "below")])


def _runs(sizes: list[int]) -> str:
    return words.count(sizes[0], "run") + " each" if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]} runs each"


def _rivals(found: dict[Place, Contest]) -> Iterable[Block]:
    """Count the rivals that Meta-PN is ahead of, protocol by protocol."""
    items = []
    for protocol in PROTOCOLS:
        tests = [test for place, contest in found.items() if place[2] == protocol for test in contest.tests.values()]
        if tests:
            sure = [test.difference for test in tests if test.p_corrected < LEVEL]
            ahead, behind = sum(difference > 0 for difference in sure), sum(difference < 0 for difference in sure)
            rest = len(tests) - ahead - behind
            items.append(
                f"{words.PROTOCOLS[protocol].capitalize()}: Meta-PN is ahead in {ahead} of "
                f"{words.count(len(tests), 'comparison')}, behind in {behind}"
                + (f"; in the other {rest} it may be chance." if rest else ".")
            )
    if items:
        yield blocks.Heading("Meta-PN and its rivals")
        yield blocks.Text(
            "Each rival on the same splits as Meta-PN: paired t-test, p after Holm's correction for the number of "
            f"rivals on that data set with as many labels. Ahead or behind is what has p < {LEVEL}."
        )
        yield blocks.Items(items)


def _metapn(found: dict[Place, Contest]) -> Iterable[Block]:
    """Meta-PN's own cells, with both final predictions, under both protocols."""
    ours: dict[tuple[str, float], dict[tuple[str, bool], Score]] = {}
    for (dataset, shot, protocol), contest in found.items():
        for score in contest.scores:
            if score.cell.method == "metapn":
                ours.setdefault((dataset, shot), {})[protocol, score.plain] = score
    if not ours:
        return
    order = list(DATASETS)
    places = sorted(ours, key=lambda place: (order.index(place[0]) if place[0] in order else len(order), *place))
    known = {variant for scores in ours.values() for variant in scores}
    variants = [(name, plain) for name in PROTOCOLS for plain in (True, False) if (name, plain) in known]
    rows = []
    for dataset, shot in places:
        scores = ours[dataset, shot]
        printed = published("metapn", dataset, shot)
        theirs = f"{words.percent(printed.mean)} ± {words.percent(printed.half_width)}" if printed else words.NONE
        row: list[blocks.Cell | str] = [f"{words.dataset(dataset)}, {words.shot(shot)}", theirs]
        for variant in variants:
            row.append(_own(scores.get(variant)))
        rows.append(row)
    columns: list[Column | str] = [Column("Data set", left=True), "the paper's"]
    for protocol, plain in variants:
        title = "propagated" if plain else "transformer alone"
        columns.append(Column(title, words.PROTOCOLS[protocol].capitalize()))
    yield blocks.Heading("Meta-PN's own cells")
    yield blocks.Items([_own_verdicts(variant, ours.values()) for variant in variants])
    yield blocks.Text(
        "The paper says that the transformer alone predicts; its published code propagates that prediction once "
        "more, which is the default here. Both are compared with the paper's figure."
    )
    yield blocks.Table("Meta-PN: mean accuracy in per cent and half its 95 % interval", columns, rows)


def _own_verdicts(variant: tuple[str, bool], cells: Iterable[dict[tuple[str, bool], Score]]) -> str:
    """Count how Meta-PN does with one of its final predictions, under one protocol."""
    scores = [found[variant] for found in cells if variant in found and found[variant].published]
    counted = Counter(score.verdict.word for score in scores)
    level = sum((score.verdict.difference or 0) >= 0 for score in scores)
    return (
        f"{'Propagated' if variant[1] else 'Transformer alone'}, under {words.PROTOCOLS[variant[0]]}: "
        f"{_verdicts(counted)} of {words.count(len(scores), 'cell')}; the mean is at least the paper's in {level}."
    )


def _own(score: Score | None) -> blocks.Cell | str:
    if score is None:
        return words.NONE
    found = score.verdict
    note = found.word if found.difference is None else f"{words.signed(found.difference)} {found.word}"
    return blocks.Cell(words.interval(score.summary), word=found.word, note=note)
