"""Ctrl-C at any moment of a fit, down to single calls: what is known is kept.

Python raises KeyboardInterrupt between any two instructions. Here it is raised when the
n-th function of the package is called, for many n from the beginning to the end.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from inspect import CO_GENERATOR
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import randint
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_info

import cvst
from cvst import CrossValidation, RaceGridSearchCV, RaceSearchCV
from cvst.parallel import one_blas_thread
from cvst.search.checkpoint import _later, _recorder
from cvst.search.checkpoint._journal import Journal
from cvst.search.checkpoint._pace import Pace
from cvst.search.checkpoint._recorder import Recorder

pytestmark = pytest.mark.usefixtures("two_blas_threads")

PACKAGE = str(Path(cvst.__file__).parent)
N_PLACES = 24

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.3 * RNG.normal(size=200)

DEPTHS = {"max_depth": [1, 2, 4, 6]}
SEARCHES = {
    "grid": lambda **k: RaceGridSearchCV(DecisionTreeRegressor(), DEPTHS, **k),
    "ensemble": lambda **k: RaceGridSearchCV(
        DecisionTreeRegressor(), DEPTHS, ensemble=True, **k
    ),
    "shared work": lambda **k: RaceGridSearchCV(
        Ridge(), {"alpha": [0.1, 1.0, 10.0]}, strategy="cvst", **k
    ),
    "proposals": lambda **k: RaceSearchCV(
        DecisionTreeRegressor(), {"max_depth": randint(1, 9)}, n_iter=6, **k
    ),
}


@pytest.fixture(autouse=True)
def _same_calls_each_time(monkeypatch):
    """Count the seconds by which saving is paced, and let nothing be done later."""

    def paced():
        ticks = count()
        return Pace(0.3, 1e-3, clock=lambda: 1e-3 * next(ticks))

    monkeypatch.setattr(_recorder, "writing", lambda opening: paced())
    monkeypatch.setattr(_recorder, "syncing", paced)
    monkeypatch.setattr(_later, "monotonic", lambda: 0.0)


class Calls:
    """Counts calls of the package's functions, and interrupts one of them.

    Parameters
    ----------
    interrupted : int or None
        Which of them.
    name : str or None
        Count only functions of this name.
    """

    def __init__(self, interrupted, name=None):
        self.interrupted = interrupted
        self.name = name
        self.n = 0
        self.where = None

    def __call__(self, frame, event, arg):
        code = frame.f_code
        # An exception at the door of a generator that goes on, raised by a trace,
        # passes its "finally" by; that of Ctrl-C does not.
        if not code.co_filename.startswith(PACKAGE) or code.co_flags & CO_GENERATOR:
            return
        if self.name is None or code.co_name == self.name:
            self.n += 1
            if self.n == self.interrupted:
                self.where = f"{code.co_filename}: {code.co_name}"
                raise KeyboardInterrupt


def fitted(search, interrupted, monkeypatch, name=None):
    """Fit; return the calls, and the looks that were over."""
    calls, looks = Calls(interrupted, name), [0]
    told = Recorder.look

    def look(self, setup, state):
        told(self, setup, state)
        looks.append(state.n_looks)

    before = sys.gettrace()
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(Recorder, "look", look)
        sys.settrace(calls)
        try:
            search.fit(X, Y)
        except KeyboardInterrupt:
            assert calls.where is not None
        finally:
            sys.settrace(before)
    return calls, looks[-1]


def process_state():
    threads = [(one["filepath"], one["num_threads"]) for one in threadpool_info()]
    return list(warnings.filters), np.geterr(), threads


def numbers_of(search):
    """Return what must not depend on interrupts."""
    return search.race_.mean_losses.tobytes(), search.predict(X).tobytes()


# What is interrupted while it is thrown away says so, and nobody can catch it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kept", [False, True], ids=["no checkpoint", "checkpoint"])
@pytest.mark.parametrize("kind", SEARCHES)
def test_an_interrupt_anywhere_keeps_what_is_known(kind, kept, tmp_path, monkeypatch):
    def make(name):
        path = tmp_path / name if kept else None
        return SEARCHES[kind](random_state=0, checkpoint=path)

    make("warm").fit(X, Y)  # imports and caches are not made twice
    quiet = make("quiet")
    calls, n_looks = fitted(quiet, None, monkeypatch)
    assert n_looks == quiet.n_looks_
    before = process_state()
    for number in range(N_PLACES):
        interrupted = max(1, round(calls.n * (number + 0.5) / N_PLACES))
        search = make(f"race {number}")
        cut, done = fitted(search, interrupted, monkeypatch)
        assert cut.where is not None
        assert process_state() == before, cut.where
        if done:
            assert search.n_looks_ >= done, cut.where
            assert search.best_params_ in search.cv_results_["params"], cut.where
            assert hasattr(search, "best_score_estimate_"), cut.where
            seen = search.race_.mean_losses
            np.testing.assert_array_equal(
                seen, quiet.race_.mean_losses[: len(seen), : seen.shape[1]]
            )
        if kept and number % 4 == 0:
            assert not (tmp_path / f"race {number}.lock").exists(), cut.where
            again = make(f"race {number}")
            fitted(again, None, monkeypatch)
            assert numbers_of(again) == numbers_of(quiet), cut.where


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "name",
    ["leave", "take", "_identity", "_content", "_passing", "close", "stop", "release"],
)
def test_an_interrupt_at_the_door_puts_everything_back(name, tmp_path, monkeypatch):
    """Ctrl-C at the very call that would put something back."""

    def make(name):
        return SEARCHES["shared work"](random_state=0, checkpoint=tmp_path / name)

    make("warm").fit(X, Y)
    quiet = make("quiet")
    calls, _ = fitted(quiet, None, monkeypatch, name)
    assert calls.n > 0
    before = process_state()
    for number in range(1, calls.n + 1):
        search = make(f"race {number}")
        cut, _ = fitted(search, number, monkeypatch, name)
        assert cut.where is not None
        assert process_state() == before, cut.where
        assert not (tmp_path / f"race {number}.lock").exists(), cut.where
        again = make(f"race {number}")
        again.fit(X, Y)
        assert numbers_of(again) == numbers_of(quiet), cut.where


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("counts", [True, False], ids=["counted", "not counted"])
@pytest.mark.parametrize("kind", ["grid", "proposals"])
def test_an_interrupt_when_a_record_is_written(kind, counts, tmp_path, monkeypatch):
    """It is told again, or another one in its place; either way it counts once."""
    named = "append" if counts else "_write"
    plain, calls = getattr(Journal, named), count()

    def make(name):
        return SEARCHES[kind](random_state=0, checkpoint=tmp_path / name)

    def interrupted(number):
        def written(self, *args, **options):
            plain(self, *args, **options)
            if next(calls) == number:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Journal, named, written)
            # Where there is a leader, the fit ends with it.
            with suppress(KeyboardInterrupt):
                make(f"race {number}").fit(X, Y)

    quiet = make("quiet").fit(X, Y)
    n_records = 0
    for number in range(40):
        calls = count()
        interrupted(number)
        n_records = max(n_records, next(calls))
        again = make(f"race {number}").fit(X, Y)
        assert numbers_of(again) == numbers_of(quiet), number
        if n_records <= number:
            break
    assert n_records > 5


def test_an_interrupt_between_the_race_and_its_results_keeps_them(monkeypatch):
    """The last look is over, and the strategy is asked what it has settled on."""
    quiet = SEARCHES["grid"](random_state=0)
    n_calls = fitted(quiet, None, monkeypatch, "settled")[0].n
    search = SEARCHES["grid"](random_state=0)
    cut, _ = fitted(search, n_calls, monkeypatch, "settled")
    assert cut.where.endswith("_strategy.py: settled")
    assert search.n_looks_ == quiet.n_looks_
    assert search.best_params_ == quiet.best_params_


def entered_and_left(interrupted):
    """Ask for one thread, and interrupt a call of the way out; return the calls."""
    before, calls = sys.gettrace(), Calls(interrupted)
    try:
        with one_blas_thread():
            sys.settrace(calls)
    except KeyboardInterrupt:
        assert calls.where is not None
    finally:
        sys.settrace(before)
    return calls


def test_an_interrupt_of_the_way_out_gives_threads_back():
    """At each call, also at that of whatever is to make sure of it."""
    before = process_state()
    n_calls = entered_and_left(None).n
    assert n_calls > 0
    for number in range(1, n_calls + 1):
        cut = entered_and_left(number)
        assert cut.where is not None
        assert process_state() == before, cut.where


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_of_the_last_calls_leaves_no_lock(tmp_path, monkeypatch):
    """From the last save to the end of the fit."""

    def make(name):
        return SEARCHES["shared work"](random_state=0, checkpoint=tmp_path / name)

    make("warm").fit(X, Y)
    n_calls = fitted(make("quiet"), None, monkeypatch)[0].n
    seen = set()
    for number in range(n_calls - 2 * N_PLACES, n_calls + 1):
        cut, _ = fitted(make(f"race {number}"), number, monkeypatch)
        seen.add(cut.where.rpartition(": ")[2])
        assert not (tmp_path / f"race {number}.lock").exists(), cut.where
    assert {"close", "stop", "release"} <= seen


class Leaving(DecisionTreeRegressor):
    """Ends the program in a later look."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None, check_input=True):
        Leaving.n_fits += 1
        if Leaving.n_fits == 20:
            sys.exit(3)
        return super().fit(X, y, sample_weight, check_input)


def test_an_exit_leaves_what_is_known(monkeypatch):
    """It goes on to whoever called, as in scikit-learn, with the leader set."""
    monkeypatch.setattr(Leaving, "n_fits", 0)
    X = np.random.default_rng(0).normal(size=(200, 2))
    search = RaceGridSearchCV(Leaving(), {"max_depth": [1, 2, 3, 4]}, random_state=0)
    search.set_params(strategy=CrossValidation(10), on_interrupt="return")
    with pytest.raises(SystemExit):
        search.fit(X, X[:, 0])
    assert search.n_looks_ == 4
    assert search.best_params_["max_depth"] in {1, 2, 3, 4}
