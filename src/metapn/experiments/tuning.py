"""The search for a method's settings on a data set, by what it gets right on the early-stopping nodes."""

from __future__ import annotations

import json
import math
import multiprocessing
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from metapn import baselines
from metapn.errors import InputError
from metapn.experiments.cell import Cell
from metapn.experiments.processes import start_worker
from metapn.experiments.run import load, run
from metapn.experiments.runner import blocks
from metapn.experiments.tuned import tuned
from metapn.model.settings import check_settings

if TYPE_CHECKING:
    import optuna

#: The paper's grids; a method is searched over those of its settings that are here.
RATES = (1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 5e-2, 1e-1, 5e-1)
GRIDS: dict[str, tuple[float, ...]] = {
    "learning_rate": RATES,
    "meta_learning_rate": RATES,
    "dropout": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
}

Space = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Search:
    """What is searched, and by what it is judged.

    Parameters
    ----------
    dataset, method : str
    space : mapping of setting to its values
        See `space_of`.
    shots : sequence of float
        Labels a class; a trial is run on each of them.
    n_runs : int
        Splits, seeds 0 to ``n_runs - 1``.
    """

    dataset: str
    method: str
    space: Space
    shots: tuple[float, ...]
    n_runs: int

    @property
    def defaults(self) -> dict[str, Any]:
        """The method's own values of what is searched: the first trial, before those found earlier."""
        known = baselines.method(self.method)().get_params()
        return {name: known[name] for name in self.space}

    @property
    def n_settings(self) -> int:
        """How many settings there are to try."""
        return math.prod(map(len, self.space.values()))

    def settings(self, places: Mapping[str, int]) -> dict[str, Any]:
        """Settings at these places in the space."""
        return {name: values[places[name]] for name, values in self.space.items()}

    def places(self, settings: Mapping[str, Any]) -> dict[str, int]:
        """Where settings are in the space."""
        return {name: values.index(settings[name]) for name, values in self.space.items()}


@dataclass(frozen=True)
class Trial:
    """Settings that were tried, and the accuracy on the early-stopping nodes of each shot and seed, as far as run.

    ``complete`` is false for a trial that was ended since it was worse than the best so far, beyond doubt.
    """

    settings: dict[str, Any]
    accuracies: tuple[float, ...]
    complete: bool

    @property
    def mean(self) -> float:
        """Mean accuracy."""
        return float(np.mean(self.accuracies))


def space_of(method: str, more: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Any, ...]]:
    """Return the paper's grids for the settings that a method has, each with the method's default, and more.

    Examples
    --------
    >>> space_of("dagnn", {"n_hops": [10, 20]})["n_hops"]
    (10, 20)
    >>> sorted(space_of("sgc", {}))
    ['learning_rate']
    """
    estimator = baselines.method(method)
    defaults = estimator().get_params()
    grids = {name: grid for name, grid in GRIDS.items() if name in defaults}
    for name, values in more.items():
        if name not in defaults:
            raise InputError(f"{method} has no setting {name!r} to search; it has {', '.join(defaults)}")
        for value in values:
            check_settings(estimator(**{name: value}))
        grids[name] = tuple(values)
    if not grids:
        raise InputError(f"{method} has neither a learning rate nor a dropout; name what to search with --grid")
    return {name: tuple(sorted({*grid, defaults[name]})) for name, grid in grids.items()}


def trials(
    search: Search, journal: Path, n_trials: int, *, jobs: int, on_trial: Callable[[int], None]
) -> list[Trial]:
    """Search until there are ``n_trials``, going on with those that are in the journal, and return all of them.

    All settings are tried if there are no more than ``n_trials``, else those that the tree-structured Parzen
    estimator chooses. A trial is ended as soon as the Wilcoxon signed-rank test finds it worse than the best,
    split by split (p < 0.1).

    Parameters
    ----------
    search : Search
    journal : path
        Every trial is written here as it goes. The caller holds the folder.
    n_trials : int
    jobs : int
        Processes, each with trials of its own.
    on_trial : callable
        Called with the number of trials done, from time to time.
    """
    study = _study(search, journal, n_trials)
    _end_abandoned(study)
    if not study.trials:
        study.enqueue_trial(search.places(search.defaults))
        found = search.defaults | tuned(search.method, search.dataset)
        if found != search.defaults and all(found.get(name) in values for name, values in search.space.items()):
            study.enqueue_trial(search.places(found))
    n_trials = min(n_trials, search.n_settings)
    load(search.dataset)
    if jobs == 1:
        _work(search, journal, n_trials, on_trial)
    else:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=start_worker) as pool:
            running = {pool.submit(_work, search, journal, n_trials) for _ in range(jobs)}
            while running:
                done, running = wait(running, timeout=2)
                for each in done:
                    each.result()
                on_trial(_n_done(study))
    return [_trial(search, each) for each in study.trials if each.state.name in ("COMPLETE", "PRUNED")]


def choose(search: Search, tried: Sequence[Trial]) -> Trial:
    """Return the complete trial with the highest mean; the default, if that is no more than noise above it.

    Noise is one standard error of the mean difference from the default over the same shots and seeds.
    """
    complete = [trial for trial in tried if trial.complete]
    best = max(complete, key=lambda trial: trial.mean)
    default = next((trial for trial in complete if trial.settings == search.defaults), None)
    if default is None:
        return best
    differences = np.subtract(best.accuracies, default.accuracies)
    noise = differences.std(ddof=1) / math.sqrt(len(differences)) if len(differences) > 1 else 0.0
    return best if differences.mean() > noise else default


def _study(search: Search, journal: Path, n_trials: int) -> optuna.Study:
    """Open the study in the journal, which is made if it is not there."""
    try:
        import optuna
        from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
    except ImportError:
        raise InputError("the search needs Optuna; pip install 'metapn[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    # A lock by opening works on every system; the default's symbolic link does not.
    backend = JournalFileBackend(str(journal), lock_obj=JournalFileOpenLock(str(journal)))
    # What is searched is part of the name: a changed search is a new one.
    described = [search.dataset, search.method, search.space, search.shots, search.n_runs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study = optuna.create_study(
            study_name=json.dumps(described),
            storage=optuna.storages.JournalStorage(backend),
            direction="maximize",
            pruner=optuna.pruners.WilcoxonPruner(p_threshold=0.1),
            load_if_exists=True,
        )
        # Another seed after each interruption: the same one would ask for the same trials again.
        seed = len(study.trials)
        if search.n_settings <= n_trials:
            study.sampler = optuna.samplers.BruteForceSampler(seed=seed)
        else:
            study.sampler = optuna.samplers.TPESampler(n_startup_trials=5, seed=seed, multivariate=True)
    return study


def _end_abandoned(study: optuna.Study) -> None:
    """End the trials of a search that was killed; their settings may be tried again."""
    from optuna.trial import TrialState

    for each in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        study.tell(each.number, state=TrialState.FAIL)


def _n_done(study: optuna.Study) -> int:
    return sum(each.state.name in ("COMPLETE", "PRUNED") for each in study.get_trials(deepcopy=False))


def _work(search: Search, journal: Path, n_trials: int, on_trial: Callable[[int], None] | None = None) -> None:
    """Make trials until there are enough, with those that others are making."""
    study = _study(search, journal, n_trials)
    while sum(each.state.name not in ("FAIL", "WAITING") for each in study.get_trials(deepcopy=False)) < n_trials:
        study.optimize(lambda trial: _accuracy(search, trial), n_trials=1)
        if on_trial is not None:
            on_trial(_n_done(study))


def _accuracy(search: Search, trial: optuna.Trial) -> float:
    """Run a trial: mean accuracy on the early-stopping nodes over shots and seeds."""
    import optuna

    # By place, so that the sampler knows which values are neighbours.
    places = {name: trial.suggest_int(name, 0, len(values) - 1) for name, values in search.space.items()}
    settings = search.settings(places)
    accuracies: list[float] = []
    for place, shot in enumerate(search.shots):
        cell = Cell(search.dataset, search.method, shot, "paper", settings)
        for block in blocks(cell, range(search.n_runs)):
            for outcome in run(cell, block.seeds):
                assert outcome.validation is not None
                accuracies.append(outcome.validation)
                trial.report(outcome.validation, place * search.n_runs + outcome.seed)
            if trial.should_prune():
                raise optuna.TrialPruned
    return float(np.mean(accuracies))


def _trial(search: Search, each: optuna.trial.FrozenTrial) -> Trial:
    values = tuple(value for _, value in sorted(each.intermediate_values.items()))
    return Trial(search.settings(each.params), values, complete=each.state.name == "COMPLETE")
