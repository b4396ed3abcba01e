"""Ctrl-C: what is known is kept, and the interrupt goes on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from itertools import count

import numpy as np
import pytest
from joblib import parallel_config
from shifted_mean import ShiftedMean
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

from cvst import CVST, RaceGridSearchCV
from cvst.exceptions import CVSTWarning

N_CONFIGURATIONS = 4
GRID = {"shift": [0.0, 1.0, 2.0, 3.0]}
COUNTER = count(1)


class Shifted(ShiftedMean):
    """Predicts the mean plus a shift; its k-th fit is interrupted."""

    def __init__(self, shift=0.0, interrupt_at=None):
        super().__init__(shift)
        self.interrupt_at = interrupt_at

    def fit(self, X, y):
        if next(COUNTER) == self.interrupt_at:
            raise KeyboardInterrupt
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def _count_from_one():
    global COUNTER
    COUNTER = count(1)


def search_interrupted_at(fit, **options):
    # Without stopping, every look sees all four until some are dropped in the third.
    strategy = CVST(stopping="never", elimination="none")
    options = {"strategy": strategy, "random_state": 0, **options}
    return RaceGridSearchCV(Shifted(interrupt_at=fit), GRID, **options)


def uninterrupted(n_looks, regression):
    """Return the losses of the first looks of the same race, left alone."""
    search = search_interrupted_at(None).fit(*regression)
    return search.race_.mean_losses[:, :n_looks]


def test_interrupt_is_raised_again_and_the_leader_is_known(regression):
    """In the third look: two looks are kept, exactly those of a quiet race."""
    search = search_interrupted_at(2 * N_CONFIGURATIONS + 2)

    with pytest.raises(KeyboardInterrupt):
        search.fit(*regression)

    assert search.stop_reason_ == "interrupted"
    assert search.interrupted_in_ == "race"
    assert search.n_looks_ == 2
    np.testing.assert_array_equal(
        search.race_.mean_losses, uninterrupted(2, regression)
    )
    assert search.best_params_ == {"shift": 0.0}
    assert len(search.cv_results_["params"]) == N_CONFIGURATIONS
    assert not hasattr(search, "best_estimator_")


def test_fit_returns_where_it_was_told_to(regression):
    """The same race with ``on_interrupt="return"``: no model, but a leader."""
    search = search_interrupted_at(7, on_interrupt="return").fit(*regression)

    assert search.stop_reason_ == "interrupted"
    assert search.n_looks_ == 1
    assert search.best_params_ == {"shift": 0.0}
    with pytest.raises((NotFittedError, AttributeError)):
        search.predict(regression[0])


@pytest.mark.parametrize("on_interrupt", ["raise", "return"])
def test_before_the_first_look_is_over_there_is_nothing_to_keep(
    regression, on_interrupt
):
    """The interrupt is raised in either case, and no attribute is set."""
    search = search_interrupted_at(2, on_interrupt=on_interrupt)

    with pytest.raises(KeyboardInterrupt):
        search.fit(*regression)

    assert [name for name in vars(search) if name.endswith("_")] == []


def test_an_interrupted_refit_leaves_a_finished_race(regression):
    """All looks are there, the race ended for its own reason, the model is missing."""
    refit = 10 * N_CONFIGURATIONS + 1
    search = search_interrupted_at(refit, on_interrupt="return")
    # Nothing else says why there is no model: the race ended well.
    with pytest.warns(CVSTWarning, match="in the final fit.*no best_estimator_"):
        search.fit(*regression)

    assert search.stop_reason_ == "max_steps"
    assert search.interrupted_in_ == "final_fit"
    assert search.n_looks_ == 10
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "refit_time_")

    global COUNTER
    COUNTER = count(1)
    with pytest.raises(KeyboardInterrupt):
        search_interrupted_at(refit).fit(*regression)


def test_what_an_interrupt_after_the_race_leaves_out_is_told(regression):
    """Fit by fit from the end: the ensemble, the final fit, the predictions."""
    global COUNTER
    options = {"ensemble": True, "strategy": "cross_validation", "cv": 3}
    # Constants whose mean is better than any of them.
    grid = {"shift": [-1.0, 1.0, 1.5]}

    def fitted(at):
        global COUNTER
        COUNTER = count(1)
        search = search_interrupted_at(at, on_interrupt="return", **options)
        return search.set_params(param_grid=grid).fit(*regression)

    quiet = fitted(None)
    n_fits = next(COUNTER) - 1
    assert quiet.interrupted_in_ is None
    assert quiet.ensemble_.kept
    places, n_folds = [], 3
    for at in range(n_fits, n_folds * len(grid["shift"]), -1):
        with pytest.warns(CVSTWarning, match="after its race") as told:
            search = fitted(at)
        assert search.stop_reason_ == quiet.stop_reason_
        assert search.best_params_ == quiet.best_params_
        places.append(search.interrupted_in_)
        missing = re.findall(r"no (\w+_)", str(told[-1].message))
        for name in ("best_estimator_", "ensemble_", "out_of_fold_predictions_"):
            assert (name in missing) == (not hasattr(search, name))
    assert list(dict.fromkeys(places))[:2] == ["ensemble_fit", "final_fit"]
    assert "predictions" in places


def test_nothing_of_an_earlier_fit_survives_an_interrupt(regression):
    """A model of other data beside a new leader would be a trap."""
    X, y = regression
    search = search_interrupted_at(None).fit(X, y + 100)
    assert search.best_estimator_.mean_ > 50
    global COUNTER
    COUNTER = count(1)
    search.set_params(estimator__interrupt_at=6, on_interrupt="return").fit(X, y)

    assert not hasattr(search, "best_estimator_")
    assert search.race_.mean_losses.shape == (N_CONFIGURATIONS, 1)


def test_an_outer_cross_validation_stays_interruptible(regression):
    """cross_val_score ends with the interrupt instead of scoring half a race."""
    with pytest.raises(KeyboardInterrupt):
        cross_val_score(search_interrupted_at(15), *regression, cv=3)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_an_interrupt_inside_a_worker_ends_the_race(regression, backend):
    """A worker that is interrupted neither hangs nor counts as a failed fit."""
    search = RaceGridSearchCV(
        interrupted_in_the_second_look(),
        GRID,
        strategy="cvst",
        n_jobs=2,
        random_state=0,
        on_interrupt="return",
    )
    with parallel_config(backend=backend):
        search.fit(*regression)
    assert search.stop_reason_ == "interrupted"
    assert search.n_looks_ == 1


def interrupted_in_the_second_look():
    """Return an estimator that is interrupted on more rows than the first look has.

    A local class travels to workers by value: these need not be able to import tests.
    """

    class Interrupted(RegressorMixin, BaseEstimator):
        def __init__(self, shift=0.0):
            self.shift = shift

        def fit(self, X, y):
            if len(y) > 20:
                raise KeyboardInterrupt
            self.mean_ = float(np.mean(y))
            return self

        def predict(self, X):
            return np.full(len(X), self.mean_ + self.shift)

    return Interrupted()


SCRIPT = """
import sys, time
import numpy as np
from sklearn.linear_model import Ridge
from cvst import RaceGridSearchCV
from joblib import parallel_config

class Slow(Ridge):
    def fit(self, X, y, sample_weight=None):
        if len(y) > 100:
            print("second look", flush=True)
            time.sleep(600)
        return super().fit(X, y)

if __name__ == "__main__":
    X = np.random.default_rng(0).normal(size=(1100, 2))
    search = RaceGridSearchCV(
        Slow(), {"alpha": [0.1, 1.0, 10.0, 100.0]}, n_jobs=int(sys.argv[1]),
        strategy="cvst", random_state=0,
    )
    try:
        with parallel_config(backend=sys.argv[2]):
            search.fit(X, X[:, 0])
    except KeyboardInterrupt:
        print("kept", search.stop_reason_, search.n_looks_, search.best_params_)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("n_jobs", "backend", "programs"),
    [
        ("1", "loky", os.environ["PATH"]),
        ("2", "threading", os.environ["PATH"]),
        ("2", "loky", os.environ["PATH"]),
        ("2", "loky", "/nonexistent"),
    ],
)
def test_a_real_signal_is_answered_at_once(tmp_path, n_jobs, backend, programs):
    """As a terminal does: SIGINT to all processes; each would sleep for minutes.

    No workers stay behind, or the pipe would stay open. Slim images have no pgrep.
    """
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, str(script), n_jobs, backend]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PATH": programs},
    ) as process:
        try:
            # Two workers may say so on one line.
            assert process.stdout.readline().startswith("second look")
            os.killpg(process.pid, signal.SIGINT)
            output, _ = process.communicate(timeout=450)
        finally:
            process.kill()
    # A worker's line may end in the middle of this one.
    assert "kept interrupted 1 {'alpha': 0.1}" in " ".join(output.split())


def test_clones_of_an_interrupted_search_are_unfitted(regression):
    """Parameters survive, results do not."""
    search = search_interrupted_at(6, on_interrupt="return").fit(*regression)
    assert not hasattr(clone(search), "race_")
    assert isinstance(clone(search).set_params(estimator=Ridge()).estimator, Ridge)
