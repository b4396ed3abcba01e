"""Fits that hang, crash or eat the memory, really: the race goes on without them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from typing import ClassVar

import joblib
import numpy as np
import pytest
from blas_pools import blas_threads
from joblib._parallel_backends import ThreadingBackend
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, r2_score
from threadpoolctl import threadpool_limits

from cvst import CVST, RaceGridSearchCV
from cvst.evaluation import batch_evaluator_for
from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import BatchEvaluator
from cvst.exceptions import InvalidInputError

DATA = np.random.default_rng(0)
X = DATA.normal(size=(80, 3))
Y = X @ [1.0, 2.0, 3.0] + DATA.normal(size=80)


class OddError(Exception):
    """Cannot be made again from its text alone."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


class Moody(RegressorMixin, BaseEstimator):
    """Ridge regression, or what its mood says."""

    def __init__(self, alpha=1.0, mood="good"):
        self.alpha = alpha
        self.mood = mood

    def fit(self, X, y):
        if self.mood == "exits":
            os._exit(3)
        if self.mood == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.mood == "hangs":
            time.sleep(600)
        if self.mood == "odd":
            raise OddError(1, 2)
        if self.mood == "prints":
            sys.stdout.write("x" * 100_000)
        if self.mood == "memory":
            raise MemoryError("not enough")
        self.model_ = Ridge(self.alpha).fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


def fitted(search, *words):
    """Fit; each of the words must be in the reason of a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        search.fit(X, Y)
    reasons = " ".join(search.cv_results_["failure"])
    for word in words:
        assert word in reasons
    return search


def undisturbed(**options):
    """Return the race among the good alone."""
    grid = {"alpha": [0.1, 10.0]}
    return fitted(RaceGridSearchCV(Moody(), grid, **options))


def same_good(search, reference):
    """Check that what worked was not disturbed by what did not."""
    assert search.best_params_["alpha"] == reference.best_params_["alpha"]
    good = search.cv_results_["failure"] == ""
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"][good],
        reference.cv_results_["mean_test_score"],
    )


FOLDS = {"strategy": "cross_validation", "cv": 2, "max_looks": 1, "random_state": 0}


def test_a_worker_that_dies_is_a_failed_configuration():
    """The pool starts again, what was under way gets another chance, alone."""
    grid = [{"alpha": [0.1, 10.0]}, {"mood": ["killed"]}]
    search = fitted(RaceGridSearchCV(Moody(), grid, n_jobs=2, **FOLDS), "WorkerDied")
    assert "SIGKILL" in search.cv_results_["failure"][2]
    assert np.sum(search.cv_results_["failure"] != "") == 1
    same_good(search, undisturbed(**FOLDS))


def _fit_side_by_side(*searches):
    threads = [threading.Thread(target=one.fit, args=(X, Y)) for one in searches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)


def test_a_killed_fit_of_one_search_fails_none_of_another():
    """Each has processes of its own, in whatever threads they run."""
    grid = [{"alpha": [0.1, 10.0]}, {"mood": ["killed"]}]
    killed = RaceGridSearchCV(Moody(), grid, n_jobs=2, **FOLDS)
    calm = RaceGridSearchCV(Moody(), {"alpha": np.logspace(-3, 3, 40)}, n_jobs=2)
    calm.set_params(**FOLDS)
    # Here, since the filters of warnings belong to all threads.
    with pytest.warns(FitFailedWarning, match="WorkerDied"):
        _fit_side_by_side(killed, calm)
    assert [bool(one) for one in killed.cv_results_["failure"]] == [False, False, True]
    assert not any(calm.cv_results_["failure"])
    alone = RaceGridSearchCV(Moody(), calm.param_grid, **FOLDS).fit(X, Y)
    np.testing.assert_array_equal(
        calm.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
    )


ALIKE = 1e9


def slow_score(model, X, y):
    """Hang for one of the models."""
    if model.alpha == ALIKE:
        time.sleep(600)
    return model.score(X, y)


def slow_metric(y_true, y_pred):
    """Hang for predictions that are alike, as those made up before the race are."""
    if np.ptp(y_pred) < 0.01:
        time.sleep(600)
    return r2_score(y_true, y_pred)


@pytest.mark.parametrize("scoring", [slow_score, make_scorer(slow_metric)])
def test_a_score_that_hangs_is_a_failure_within_the_limit(scoring):
    """It is one for fitting, predicting and scoring, and for what comes before."""
    grid = {"alpha": [0.1, ALIKE]}
    options = {"scoring": scoring, "fit_timeout": 15.0, **FOLDS}
    search = RaceGridSearchCV(Moody(), grid, **options)
    fitted(search, "fit_timeout=15 seconds")
    assert (search.cv_results_["failure"] != "").tolist() == [False, True]


def test_a_plan_fits_within_the_limit_too():
    """Without processes of their own, such fits would end the one that plans."""
    grid = [{"alpha": [0.1, 10.0]}, {"mood": ["exits"]}]
    search = RaceGridSearchCV(Moody(), grid, fit_timeout=15.0, **FOLDS)
    looks = search.plan(X, Y).looks
    assert {look.max_configurations for look in looks} == {3}


def test_fits_that_hang_or_die_are_failures_within_a_limit():
    """With fit_timeout even one worker is another process."""
    grid = [{"alpha": [0.1, 10.0]}, {"mood": ["hangs", "exits", "odd", "prints"]}]
    # A good one takes milliseconds, and seconds on a machine that stands still.
    search = RaceGridSearchCV(Moody(), grid, fit_timeout=15.0, **FOLDS)
    fitted(search, "fit_timeout=15 seconds", "exit code 3, twice", "OddError: 1 and 2")
    assert (search.cv_results_["failure"] != "").tolist() == [0, 0, 1, 1, 1, 0]
    expected = undisturbed(**FOLDS).cv_results_["mean_test_score"]
    table = search.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(table[:2], expected)


def test_a_limit_changes_no_result_and_leaves_no_process():
    """For shared groups in a race of many looks, by two workers."""
    grid = {"alpha": np.logspace(-3, 3, 8)}
    options = {"random_state": 0, "strategy": CVST(max_steps=7)}
    plain = RaceGridSearchCV(Ridge(), grid, **options).fit(X, Y)
    before = set(threading.enumerate())
    limited = RaceGridSearchCV(Ridge(), grid, fit_timeout=60, n_jobs=2, **options)
    limited.fit(X, Y)
    np.testing.assert_array_equal(plain.race_.mean_losses, limited.race_.mean_losses)
    # Threads of earlier tests may have ended meanwhile.
    assert set(threading.enumerate()) <= before
    assert not children()


def test_a_limit_may_be_longer_than_any_clock_runs():
    """Otherwise the thread of the clock fails, with a traceback on the screen."""
    grid = {"alpha": [0.1, 10.0]}
    plain = RaceGridSearchCV(Ridge(), grid, **FOLDS).fit(X, Y)
    limited = RaceGridSearchCV(Ridge(), grid, fit_timeout=1e308, **FOLDS).fit(X, Y)
    np.testing.assert_array_equal(plain.race_.mean_losses, limited.race_.mean_losses)


def children():
    """Return the commands of guarded workers that this process has left."""
    listed = subprocess.run(
        ["ps", "-o", "args=", "--ppid", str(os.getpid())],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    return [line for line in listed.splitlines() if "parallel._worker" in line]


def test_a_limit_and_continued_models_exclude_each_other():
    from sklearn.linear_model import SGDRegressor

    grid = {"alpha": [0.1, 1.0]}
    search = RaceGridSearchCV(SGDRegressor(), grid, incremental=True, fit_timeout=5)
    with pytest.raises(InvalidInputError, match="fit_timeout=5 fits in processes"):
        search.fit(X, Y)


@pytest.mark.parametrize("value", [0, -1, "a", np.nan])
def test_a_limit_is_a_positive_number(value):
    search = RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, fit_timeout=value)
    with pytest.raises(ValueError, match="fit_timeout"):
        search.fit(X, Y)


# --- what travels to and from workers -------------------------------------------------


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_errors_that_cannot_be_made_again_are_failures(backend):
    grid = [{"alpha": [0.1, 10.0]}, {"mood": ["odd"]}]
    search = RaceGridSearchCV(Moody(), grid, n_jobs=2, random_state=0)
    with joblib.parallel_config(backend=backend):
        fitted(search, "OddError: 1 and 2")


def test_an_odd_error_can_be_raised():
    grid = {"alpha": [1.0, 2.0], "mood": ["odd"]}
    search = RaceGridSearchCV(Moody(), grid, error_score="raise", n_jobs=2)
    with pytest.raises((OddError, RuntimeError), match="1 and 2"):
        search.fit(X, Y)


SCRIPT = """
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from cvst import RaceGridSearchCV
from cvst.evaluation import PointwiseLoss

class Word:
    def __init__(self, value):
        self.value = value

class Lookup(RegressorMixin, BaseEstimator):
    def __init__(self, shift=0.0, of=lambda word: word.value):
        self.shift = shift
        self.of = of
    def fit(self, X, y, unit=None):
        self.mean_ = np.mean(y) - unit(0.0)
        return self
    def predict(self, X):
        return np.array([self.of(row[0]) for row in X]) + self.shift

if True:  # without the guard that plain multiprocessing asks for
    rng = np.random.default_rng(0)
    values = rng.normal(size=60)
    X = np.array([[Word(value)] for value in values], dtype=object)
    loss = PointwiseLoss(lambda y, p: (y - p) ** 2)
    for options in {options}:
        search = RaceGridSearchCV(
            Lookup(), {{"shift": [0.0, 1.0, 2.0]}}, scoring=loss, n_jobs=2, **options
        )
        search.fit(X, values, unit=lambda value: value)
        assert search.best_params_ == {{"shift": 0.0}}, search.cv_results_["failure"]
    print("fine")
"""


def test_classes_and_lambdas_of_a_script_reach_the_workers(tmp_path):
    """In rows, fit parameters, the estimator, the loss; pickled by value."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(options="({}, {'fit_timeout': 60})"))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "fine\n", done.stderr


class ListOnly(ThreadingBackend):
    """A backend of somebody else's, as simple as may be."""

    supports_return_generator = False


def test_backends_that_know_lists_only_will_do():
    joblib.register_parallel_backend("list-only", ListOnly)
    try:
        with joblib.parallel_config(backend="list-only", n_jobs=2):
            search = fitted(RaceGridSearchCV(Moody(), {"alpha": [0.1, 10.0]}, n_jobs=2))
    finally:
        joblib.parallel.BACKENDS.pop("list-only")
    assert search.best_params_["alpha"] in (0.1, 10.0)


# --- memory ---------------------------------------------------------------------------


class Greedy(Moody):
    """Its evaluator wants too much memory for more than two at a time."""


class GreedyEvaluator(BatchEvaluator):
    prefer = "threads"
    sizes: ClassVar[list[int]] = []

    def groups(self, estimator, configurations):
        return [list(configurations)]

    def evaluate(self, task):
        self.sizes.append(len(task.configurations))
        if len(task.configurations) > 2:
            raise MemoryError
        yield from OneByOne().evaluate(task)


def test_shared_work_without_memory_is_done_in_halves(caplog):
    """And the result is that of the fits alone."""
    batch_evaluator_for.register(Greedy, lambda _: GreedyEvaluator())
    grid = [{"alpha": [0.1, 1.0, 10.0, 20.0]}, {"mood": ["memory"]}]
    options = {"strategy": "cross_validation", "random_state": 0, "max_looks": 1}
    search = fitted(RaceGridSearchCV(Greedy(), grid, **options), "MemoryError")
    # At last the winner alone, for the estimate of its score.
    assert GreedyEvaluator.sizes == [5, 3, 2, 1, 2, 1]
    assert "fitted in smaller groups" in caplog.text
    plain = fitted(RaceGridSearchCV(Moody(), grid, **options))
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )


class Late(Moody):
    """Its evaluator breaks at a later look, as a pool without memory does."""


class Panic(BaseException):
    """As extensions written in Rust raise it."""


class LateEvaluator(BatchEvaluator):
    prefer = "threads"
    looks = 0
    error = MemoryError

    def groups(self, estimator, configurations):
        type(self).looks += 1
        if self.looks == 3:
            raise self.error("gone")
        return OneByOne().groups(estimator, configurations)

    def evaluate(self, task):
        yield from OneByOne().evaluate(task)


@pytest.mark.parametrize("error", [MemoryError, SystemExit, GeneratorExit, Panic])
def test_an_error_in_a_later_look_keeps_the_looks_before(error, monkeypatch):
    """As Ctrl-C does; whatever on_interrupt says, it is raised."""
    monkeypatch.setattr(LateEvaluator, "error", error)
    monkeypatch.setattr(LateEvaluator, "looks", 0)
    batch_evaluator_for.register(Late, lambda _: LateEvaluator())
    search = RaceGridSearchCV(
        Late(),
        {"alpha": [0.1, 10.0]},
        strategy="cross_validation",
        on_interrupt="return",
    )
    with pytest.raises(error, match="gone"):
        search.fit(X, Y)
    assert search.n_looks_ == 2
    assert search.stop_reason_ == "failed"
    assert search.best_params_["alpha"] in (0.1, 10.0)
    assert not hasattr(search, "best_estimator_")


# --- clocks ---------------------------------------------------------------------------


def test_a_clock_that_is_set_back_disturbs_nothing(monkeypatch):
    """The time of day may jump; a search does not read it."""
    grid = {"alpha": np.logspace(-3, 3, 8)}
    plain = RaceGridSearchCV(Ridge(), grid, strategy="cvst", random_state=0).fit(X, Y)
    day = iter(np.arange(1e9, 0, -1e5))
    monkeypatch.setattr(time, "time", lambda: next(day))
    search = RaceGridSearchCV(
        Ridge(), grid, strategy="cvst", random_state=0, time_budget=1000.0
    )
    again = RaceGridSearchCV(Ridge(), grid, strategy="cvst", random_state=0).fit(X, Y)
    np.testing.assert_array_equal(plain.race_.mean_losses, again.race_.mean_losses)
    assert search.fit(X, Y).best_params_["alpha"] in grid["alpha"]


# --- two searches in one process ------------------------------------------------------


class Alone(Ridge):
    """Ridge regression that shares nothing."""


class Waiting(Ridge):
    """Waits for the other search, so that the two begin and end by turns."""

    barrier = threading.Barrier(2, timeout=60)
    calls: ClassVar[dict[str, int]] = {}

    def fit(self, X, y):
        name = threading.current_thread().name
        self.calls[name] = self.calls.get(name, 0) + 1
        if self.calls[name] == 1:
            self.barrier.wait()
        if name == "late" and self.calls[name] < 4:
            time.sleep(0.2)
        return super().fit(X, y)


def test_two_searches_in_two_threads_equal_two_serial_ones():
    """And BLAS and the filters of warnings are what they were."""
    grid = {"alpha": [0.1, 10.0]}
    serial = RaceGridSearchCV(Alone(), grid, random_state=0).fit(X, Y)
    searches = [RaceGridSearchCV(Waiting(), grid, random_state=0) for _ in range(2)]
    with threadpool_limits(limits=2, user_api="blas"):
        before, filters = blas_threads(), list(warnings.filters)
        threads = [
            threading.Thread(target=search.fit, args=(X, Y), name=name)
            for search, name in zip(searches, ("early", "late"), strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert blas_threads() == before
        assert list(warnings.filters) == filters
    for search in searches:
        np.testing.assert_array_equal(
            search.race_.mean_losses, serial.race_.mean_losses
        )
