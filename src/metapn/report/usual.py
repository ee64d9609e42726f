"""What one picture a data set shows: the cells with the number of labels that most is known about."""

from __future__ import annotations

from metapn.experiments.plan import FIGURE_SHOT, SHOTS
from metapn.report.results import Results
from metapn.report.scores import Contest, Place


def usual_contests(results: Results) -> dict[Place, Contest]:
    """Choose for each data set the cells with five labels a class, or else the fewest that there are.

    The methods in them are as they are: variants are left out.
    """
    found = {
        place: Contest(plain)
        for artefact in (*SHOTS, "figure2")
        for place, contest in results.contests[artefact].items()
        if (plain := [score for score in contest.scores if score.plain])
    }
    chosen: dict[str, float] = {}
    for dataset, shot, _ in sorted(found, key=lambda place: (place[1] != FIGURE_SHOT, place[1])):
        chosen.setdefault(dataset, shot)
    return {place: contest for place, contest in found.items() if place[1] == chosen[place[0]]}
