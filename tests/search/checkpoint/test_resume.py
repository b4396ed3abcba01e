"""A race that goes on after a break ends as if there had been none."""

from __future__ import annotations

import itertools
import os
import threading
import time
from contextlib import suppress

import numpy as np
import pytest
from scipy.stats import loguniform, randint
from sklearn.exceptions import FitFailedWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import SGDRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from cvst import CVST, RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst.exceptions import CheckpointError
from cvst.search.checkpoint import _pace, load_checkpoint

from .conftest import Told, exact_looks, exact_result

GRID = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 7, 20]}
DRAWN = {"max_depth": randint(1, 9), "ccp_alpha": loguniform(1e-4, 1e-1)}

SEARCHES = {
    "grid": lambda **k: RaceGridSearchCV(Told(), GRID, **k),
    "paper": lambda **k: RaceGridSearchCV(Told(), GRID, strategy="cvst", **k),
    "folds": lambda **k: RaceGridSearchCV(
        Told(), GRID, strategy="cross_validation", return_pointwise=True, **k
    ),
    "random": lambda **k: RaceRandomSearchCV(Told(), DRAWN, n_iter=9, **k),
    "proposals": lambda **k: RaceSearchCV(
        Told(),
        {"max_depth": randint(1, 12), "min_samples_leaf": [1, 5, 7, 20]},
        n_iter=12,
        **k,
    ),
}


def after_the_race(search, n_fits):
    """Return the fits that are not kept: the final one, and two that tell the growth.

    Those two are not made where the race has looked at fewer rows itself, or has saved
    too little.
    """
    looks = [seen.look for seen in search.race_.observations]
    later = n_fits - sum(len(look.configurations) for look in looks)
    assert later in (1, 3)
    return later


@pytest.mark.filterwarnings("ignore:.*configurations failed")
@pytest.mark.parametrize("kind", SEARCHES)
def test_a_break_at_any_fit_changes_nothing(kind, rows, tmp_path, fits, snapshots):
    """What is on disk when a fit begins is enough, and is not done again."""
    X, y = rows
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    make, path = SEARCHES[kind], tmp_path / "race"
    quietly = make(random_state=0).fit(X, y, sample_weight=weights)
    quiet = exact_result(quietly, X)
    n_fits, fits.count = fits.count, 0
    breaks = sorted({1, 2, 3, n_fits // 3, n_fits // 2, n_fits - 3, n_fits - 1, n_fits})
    taken = snapshots(path, breaks)
    search = make(random_state=0, checkpoint=path).fit(X, y, sample_weight=weights)
    assert exact_result(search, X) == quiet
    assert fits.count == n_fits

    fits.at = {}
    for n_begun, copy in taken.items():
        fits.count = 0
        search = make(random_state=0, checkpoint=copy).fit(X, y, sample_weight=weights)
        assert exact_result(search, X) == quiet, n_begun
        # One fit makes a group: all but the one that had begun are known.
        assert fits.count == max(n_fits - n_begun + 1, after_the_race(quietly, n_fits))


@pytest.mark.parametrize("kind", ["grid", "proposals"])
@pytest.mark.filterwarnings("ignore:.*configurations failed")
def test_a_race_that_is_over_is_not_run_again(kind, rows, tmp_path, fits):
    path = tmp_path / "race"
    first = SEARCHES[kind](random_state=0, checkpoint=path).fit(*rows)
    n_fits, fits.count = fits.count, 0
    again = SEARCHES[kind](random_state=0, checkpoint=path).fit(*rows)
    assert fits.count == after_the_race(first, n_fits)
    assert exact_result(again, rows[0]) == exact_result(first, rows[0])


def test_kernel_matrices_of_looks_that_are_not_repeated_round_alike(rows, tmp_path):
    """They nest: later looks use what earlier ones have computed."""
    X, y = np.repeat(rows[0], 3, axis=0), np.repeat(rows[1], 3)
    X = X + np.random.default_rng(2).normal(scale=0.1, size=X.shape)
    make = lambda **k: RaceGridSearchCV(  # noqa: E731
        KernelRidge(kernel="rbf"),
        {"alpha": [0.01, 0.1, 1.0], "gamma": [0.1, 1.0]},
        strategy=CVST(stopping="never"),
        random_state=0,
        **k,
    )
    quiet = exact_result(make().fit(X, y), X)
    for n_looks in (1, 4):
        path = tmp_path / str(n_looks)
        with pytest.raises(KeyboardInterrupt):
            _stopped(make(checkpoint=path), n_looks).fit(X, y)
        assert load_checkpoint(path).n_looks_ == n_looks
        assert exact_result(make(checkpoint=path).fit(X, y), X) == quiet


def _stopped(search, n_looks):
    """Return a search that is interrupted after the given number of looks."""
    tell = search._tell

    def told(setup, budget, state):
        tell(setup, budget, state)
        if state.n_looks > n_looks:
            raise KeyboardInterrupt

    search._tell = told
    return search


def test_models_that_go_on_learning_learn_the_same_again(rows, tmp_path):
    make = lambda **k: RaceGridSearchCV(  # noqa: E731
        SGDRegressor(),
        {"alpha": [1e-5, 1e-3, 1e-1], "penalty": ["l2", "l1"]},
        incremental=True,
        strategy=CVST(stopping="never", elimination="none"),
        random_state=0,
        **k,
    )
    quiet = exact_result(make().fit(*rows), rows[0])
    path = tmp_path / "race"
    with pytest.raises(KeyboardInterrupt):
        _stopped(make(checkpoint=path), 3).fit(*rows)
    assert exact_result(make(checkpoint=path).fit(*rows), rows[0]) == quiet


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1)])
def test_the_number_of_workers_may_change(before, after, rows, tmp_path):
    make = lambda **k: RaceGridSearchCV(  # noqa: E731
        DecisionTreeRegressor(), GRID, random_state=0, **k
    )
    quiet = exact_result(make().fit(*rows), rows[0])
    path = tmp_path / "race"
    with pytest.raises(KeyboardInterrupt):
        _stopped(make(checkpoint=path, n_jobs=before), 2).fit(*rows)
    search = make(checkpoint=path, n_jobs=after).fit(*rows)
    assert exact_result(search, rows[0]) == quiet


def test_values_that_are_no_numbers_are_found_again(rows, tmp_path):
    """Proposals may hold estimators, of which a checkpoint has the text alone."""
    space = {
        "scale": [StandardScaler(), FunctionTransformer(np.tanh)],
        "tree__max_depth": randint(1, 12),
    }
    make = lambda **k: RaceSearchCV(  # noqa: E731
        Pipeline([("scale", StandardScaler()), ("tree", DecisionTreeRegressor())]),
        space,
        n_iter=10,
        random_state=0,
        **k,
    )
    quiet = exact_result(make().fit(*rows), rows[0])
    path = tmp_path / "race"
    with pytest.raises(KeyboardInterrupt):
        _stopped(make(checkpoint=path), 3).fit(*rows)
    shown = load_checkpoint(path)
    assert "FunctionTransformer" in repr([one["scale"] for one in shown.configurations])
    assert exact_result(make(checkpoint=path).fit(*rows), rows[0]) == quiet


def test_an_error_that_ends_a_search_ends_it_again(rows, tmp_path, fits):
    """With error_score="raise" a failed fit is not kept."""
    path = tmp_path / "race"
    for _ in range(2):
        search = SEARCHES["grid"](error_score="raise", random_state=0, checkpoint=path)
        with pytest.raises(ValueError, match="seven"):
            search.fit(*rows)


@pytest.mark.parametrize("error", [SystemExit(3), MemoryError("full")])
def test_a_race_that_was_broken_off_by_an_error_goes_on(error, rows, tmp_path, fits):
    """An error or an exit in a later look does not end a race."""
    grid = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 20]}
    options = {"strategy": "cross_validation", "error_score": "raise"}
    search = RaceGridSearchCV(Told(), grid, random_state=0, **options)
    quiet = exact_result(search.fit(*rows), rows[0])
    n_fits, fits.count = fits.count, 0
    search.set_params(checkpoint=tmp_path / "race")

    def fail():
        raise error

    fits.at = {20: fail}
    with pytest.raises(type(error)):
        search.fit(*rows)
    assert search.stop_reason_ == "failed"
    assert load_checkpoint(search.checkpoint).n_looks_ == search.n_looks_ == 2
    fits.count, fits.at = 0, {}
    assert exact_result(search.fit(*rows), rows[0]) == quiet
    # Nothing that was finished is done again.
    assert fits.count == n_fits - 19


class Ticking:
    """A clock that moves by a second with each fit, and else by very little."""

    def __init__(self, fits):
        self.fits = fits
        self.reads = itertools.count()

    def __call__(self):
        return self.fits.count + 1e-6 * next(self.reads)


# Proposals weigh the measured seconds of fits, which no clock of ours can fake.
@pytest.mark.parametrize("kind", ["grid", "random"])
@pytest.mark.filterwarnings("ignore:.*configurations")
def test_a_budget_has_the_same_looks_and_the_rest_of_the_time(
    kind, rows, tmp_path, fits, snapshots, monkeypatch
):
    make, path = SEARCHES[kind], tmp_path / "race"
    clock = Ticking(fits)
    monkeypatch.setattr("cvst.search._base.BaseRaceSearch._clock", staticmethod(clock))
    # Whom a budget confirms depends on what their fits took.
    for module in ("evaluation._one_by_one", "search._proposal_source"):
        monkeypatch.setattr(f"cvst.{module}.perf_counter", clock)
    quiet = make(random_state=0, time_budget=120.0).fit(*rows)
    n_fits, fits.count = fits.count, 0
    taken = snapshots(path, [n_fits // 2, 3 * n_fits // 4, n_fits - 2])
    search = make(random_state=0, checkpoint=path, time_budget=120.0).fit(*rows)
    assert exact_looks(search.race_) == exact_looks(quiet.race_)
    assert len(taken) == 3
    fits.at = {}
    for copy in taken.values():
        known = load_checkpoint(copy)
        fits.count = 0
        search = make(random_state=0, checkpoint=copy, time_budget=120.0).fit(*rows)
        looks = exact_looks(search.race_)
        assert looks[: known.n_looks_] == exact_looks(known.race_)
        # A fit is a second: those before the break count, and none is done again.
        assert known.seconds > 0.4 * n_fits
        assert known.seconds + fits.count <= 121
        assert search.race_.elapsed >= known.race_.elapsed
    assert known.n_looks_ > 0


def test_what_is_done_is_on_disk_while_a_long_fit_runs(
    rows, tmp_path, fits, monkeypatch
):
    """Quick fits are saved together, but not only after the next one is done."""
    monkeypatch.setattr(_pace, "SHARE", 0.05)
    path, seen = tmp_path / "race", []

    def wait():
        # On a busy machine saving seems slow, and is done less often.
        for _ in range(6000):
            with suppress(CheckpointError):  # while there is only the header
                seen.append(load_checkpoint(path).n_under_way)
                if seen[-1] == (8, 12):
                    return
            time.sleep(0.05)

    fits.at = {9: wait}
    search = RaceGridSearchCV(Told(), GRID, random_state=0, max_looks=1)
    threads = set(threading.enumerate())
    with pytest.warns(FitFailedWarning):
        search.set_params(checkpoint=path).fit(*rows)
    assert seen[-1] == (8, 12)
    # Those of earlier tests may have ended meanwhile.
    assert set(threading.enumerate()) <= threads


def test_a_race_goes_on_while_the_disk_is_waited_for(rows, tmp_path, fits, monkeypatch):
    """A disk that hesitates holds up no group: a thread waits for it."""
    monkeypatch.setattr(_pace, "SYNC_SHARE", np.inf)
    slow, over, n_fits = threading.Event(), threading.Event(), []
    fsync = os.fsync

    def hesitant(handle):
        if threading.current_thread() is not threading.main_thread():
            slow.set()
            assert over.wait(60)
            n_fits.append(fits.count)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", hesitant)
    # From the fifth fit to the eleventh the disk is waited for.
    fits.at = {5: lambda: slow.wait(60), 11: over.set}
    path = tmp_path / "race"
    search = RaceGridSearchCV(Told(), GRID, random_state=0, max_looks=1)
    with pytest.warns(FitFailedWarning):
        search.set_params(checkpoint=path).fit(*rows)
    assert over.is_set()
    assert n_fits[0] >= 11
    assert load_checkpoint(path).stop_reason_ == search.stop_reason_
