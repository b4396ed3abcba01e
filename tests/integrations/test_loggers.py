"""Loggers listen to real races; those of other packages where these are installed."""

from __future__ import annotations

import logging
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock
from urllib.request import urlopen

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from cvst import RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst.datasets import make_noisy_sinc
from cvst.integrations import MLflowLogger, RaceListener, WandbLogger, to_optuna_study
from cvst.race.machinery import deciding_mean
from cvst.report import LiveReport
from cvst.spaces import floats


@pytest.fixture
def race():
    """Return a search with drops, and its data."""
    grid = {"alpha": np.logspace(-3, 2, 8), "gamma": [0.01, 0.1, 1, 10, 100]}
    search = RaceGridSearchCV(KernelRidge(kernel="rbf"), grid, random_state=0)
    return search, make_noisy_sinc(400, random_state=0)


class Keeper(RaceListener):
    """Keeps what it hears."""

    def __init__(self):
        super().__init__()
        self.looks, self.ends = [], []

    def on_look(self, event, params):
        self.looks.append((dict(event), dict(params)))

    def on_end(self, event):
        self.ends.append(dict(event))


def test_a_listener_hears_every_look_and_the_end(race):
    """Witness: the state that the search keeps."""
    search, data = race
    with Keeper() as keeper:
        search.fit(*data)
    state = search.race_
    assert len(keeper.looks) == search.n_looks_
    for place, (event, params) in enumerate(keeper.looks):
        observation = state.observations[place]
        assert event["n_configurations"] == len(observation.look.configurations)
        assert event["n_dropped"] == len(observation.drops)
        leader, so_far = event["leader"], state.until(place + 1)
        assert event["leader_loss"] == deciding_mean(so_far, leader, so_far.mean_losses)
        assert params == search.cv_results_["params"][event["leader"]]
    assert [end["reason"] for end in keeper.ends] == [search.stop_reason_]


def test_a_listener_sees_the_race_after_every_look(race):
    """Witness: the state that the search keeps, cut after each look."""
    seen = []

    class Follower(RaceListener):
        def on_state(self, state, configurations, ranking):
            seen.append((state, configurations, ranking))

    search, data = race
    with Follower():
        search.fit(*data)
    assert len(seen) == search.n_looks_
    for n_looks, (state, configurations, ranking) in enumerate(seen, start=1):
        kept = search.race_.until(n_looks)
        assert state.n_looks == n_looks
        np.testing.assert_array_equal(state.mean_losses, kept.mean_losses)
        assert list(configurations) == search.cv_results_["params"]
        np.testing.assert_array_equal(ranking, search.strategy_.ranking(kept))


def test_a_page_follows_a_race_while_it_fits(race):
    """Asked after every look, as a browser would."""
    shown = []

    class Follower(RaceListener):
        def on_state(self, state, configurations, ranking):
            live.update(state, configurations, ranking)
            with urlopen(live.url) as answer:
                shown.append(answer.read().decode())

    search, data = race
    with LiveReport() as live, Follower():
        search.fit(*data)
    assert len(shown) == search.n_looks_
    assert len(set(shown)) == len(shown)


def test_a_listener_leaves_the_logger_as_it_was(race, caplog):
    search, data = race
    logger = logging.getLogger("cvst")
    before = logger.level, logger.propagate, list(logger.handlers)
    with Keeper():
        search.fit(*data)
    assert (logger.level, logger.propagate, list(logger.handlers)) == before


def test_an_error_in_a_listener_does_not_stop_the_race(race, capsys):
    class Broken(RaceListener):
        def on_look(self, event, params):
            raise OSError("the disk is full")

    search, data = race
    with Broken():
        search.fit(*data)
    assert search.best_params_
    assert "the disk is full" in capsys.readouterr().err


def test_the_race_is_the_same_with_and_without_a_listener(race):
    search, data = race
    with Keeper():
        heard = search.fit(*data).race_.mean_losses.copy()
    np.testing.assert_array_equal(heard, search.fit(*data).race_.mean_losses)


@pytest.mark.parametrize("logger", [MLflowLogger, WandbLogger])
def test_what_is_missing_is_named(logger, monkeypatch):
    name = logger.__name__.removesuffix("Logger").lower()
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"pip install 'cvst\[{name}\]'"):
        logger()


def test_an_unfitted_search_has_nothing_to_export(race):
    pytest.importorskip("optuna")
    with pytest.raises(ValueError, match="not fitted"):
        to_optuna_study(race[0])


@pytest.fixture
def arrays():
    """Return a fitted search whose best parameters are an array and a NumPy number."""
    grid = {
        "priors": [np.array([0.3, 0.3, 0.4]), np.array([0.4, 0.3, 0.3])],
        "var_smoothing": np.array([1e-9]),
    }
    search = RaceGridSearchCV(GaussianNB(), grid, random_state=0)
    return search.fit(*load_iris(return_X_y=True))


# MLflow -----------------------------------------------------------------------------


# MLflow's own: it uses what SQLAlchemy has deprecated.
QUIET = ("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture
def mlflow(tmp_path):
    found = pytest.importorskip("mlflow")
    found.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    return found


@pytest.mark.filterwarnings(*QUIET)
def test_mlflow_keeps_every_look(mlflow, race):
    """Witness: what the store gives back through MLflow's own client."""
    search, data = race
    with MLflowLogger("a race") as logger:
        search.fit(*data)
        logger.log_search(search)
    assert mlflow.active_run() is None
    [run] = mlflow.search_runs(output_format="list")
    client = mlflow.MlflowClient()
    history = client.get_metric_history(run.info.run_id, "n_configurations")
    expected = [len(o.look.configurations) for o in search.race_.observations]
    ordered = sorted(history, key=lambda one: one.step)
    assert [int(one.value) for one in ordered] == expected
    assert run.data.params["best_gamma"] == str(search.best_params_["gamma"])
    assert run.data.metrics["best_score"] == pytest.approx(search.best_score_)
    assert run.data.tags["cvst.stop_reason"] == search.stop_reason_
    assert run.info.status == "FINISHED"


@pytest.mark.filterwarnings(*QUIET)
def test_mlflow_uses_the_active_run_and_tells_of_failure(mlflow, race):
    with mlflow.start_run() as mine:
        with MLflowLogger() as logger:
            logger.log_search(race[0].fit(*race[1]))
        assert mlflow.active_run().info.run_id == mine.info.run_id
    with pytest.raises(ZeroDivisionError), MLflowLogger():
        raise ZeroDivisionError
    states = {run.info.status for run in mlflow.search_runs(output_format="list")}
    assert states == {"FINISHED", "FAILED"}


def test_mlflow_takes_arrays(arrays, monkeypatch):
    """The package is not needed for that: it is handed texts."""
    found = MagicMock()
    monkeypatch.setitem(sys.modules, "mlflow", found)
    with MLflowLogger() as logger:
        logger.log_search(arrays)
    [params] = found.log_params.call_args.args
    assert params["best_priors"] == str(arrays.best_params_["priors"])


def test_weights_and_biases_takes_arrays(arrays, monkeypatch):
    """The package is not needed for that: its summary is a dictionary."""
    run = SimpleNamespace(summary={}, log=None)
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(run=run))
    with WandbLogger() as logger:
        logger.log_search(arrays)
    assert run.summary["race/best/priors"] == str(arrays.best_params_["priors"])
    assert run.summary["race/best/var_smoothing"] == 1e-9
    assert type(run.summary["race/best/var_smoothing"]) is float


def test_weights_and_biases_keeps_every_look(race, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    logged = []
    with WandbLogger(project="races", mode="offline") as logger:
        monkeypatch.setattr(
            logger._run,
            "log",
            lambda row, log=logger._run.log: (logged.append(row), log(row)),
        )
        race[0].fit(*race[1])
        logger.log_search(race[0])
        summary = dict(logger._run.summary)
    assert wandb.run is None
    assert [row["race/look"] for row in logged] == list(range(1, race[0].n_looks_ + 1))
    assert summary["race/best_score"] == pytest.approx(race[0].best_score_)
    assert summary["race/stop_reason"] == race[0].stop_reason_


# Optuna -----------------------------------------------------------------------------


def test_a_study_has_a_trial_for_each_configuration(race):
    """Witness: ``cv_results_``, whose score is minus the mean loss."""
    optuna = pytest.importorskip("optuna")
    search, data = race
    search.set_params(scoring="neg_mean_squared_error").fit(*data)
    study = to_optuna_study(search)
    results = search.cv_results_
    assert [trial.params for trial in study.trials] == results["params"]
    np.testing.assert_allclose(
        [-trial.value for trial in study.trials], results["mean_test_score"]
    )
    pruned = [t.state == optuna.trial.TrialState.PRUNED for t in study.trials]
    np.testing.assert_array_equal(pruned, ~search.race_.active)
    assert any(pruned)
    assert not all(pruned)
    counts = [len(trial.intermediate_values) for trial in study.trials]
    np.testing.assert_array_equal(counts, results["n_looks"])


@pytest.mark.parametrize(
    ("kind", "distributions"),
    [
        (
            RaceRandomSearchCV,
            {"C": loguniform(0.5, 2), "coef0": uniform(1e-6, 5), "gamma": [1e-4, 1.0]},
        ),
        (
            RaceSearchCV,
            {
                "C": floats(0.5, 2, log=True),
                "coef0": floats(1e-6, 5),
                "gamma": [1e-4, 1.0],
            },
        ),
    ],
)
def test_a_study_is_logarithmic_where_the_space_is(kind, distributions):
    """Witness: Optuna's own, read back from the study."""
    optuna = pytest.importorskip("optuna")
    model = SVC(kernel="poly", gamma=1.0, coef0=1.0)
    search = kind(model, distributions, n_iter=12, random_state=0)
    study = to_optuna_study(search.fit(*load_iris(return_X_y=True)))
    found = optuna.search_space.intersection_search_space(study.get_trials())
    # C spans less than two decades, and is logarithmic all the same. A list of numbers
    # has no distribution: what it spans decides.
    assert found["C"].log
    assert not found["coef0"].log
    assert found["gamma"].log
    values = [one["C"] for one in search.cv_results_["params"]]
    assert (found["C"].low, found["C"].high) == (min(values), max(values))


def test_words_switches_and_branches_become_categories():
    optuna = pytest.importorskip("optuna")
    grid = [
        {"weights": ["uniform", "distance"], "n_neighbors": [1, 3]},
        {"p": [1, 2], "metric_params": [None]},
    ]
    search = RaceGridSearchCV(KNeighborsClassifier(), grid, random_state=0)
    study = to_optuna_study(search.fit(*load_iris(return_X_y=True)))
    kinds = {
        name: type(one).__name__ for name, one in study.trials[0].distributions.items()
    }
    assert kinds == {
        "weights": "CategoricalDistribution",
        "n_neighbors": "IntDistribution",
    }
    assert study.trials[-1].params == {"p": 2, "metric_params": None}
    assert optuna.importance.get_param_importances is not None


def test_arrays_become_categories(arrays):
    pytest.importorskip("optuna")
    trials = to_optuna_study(arrays).trials
    known = [str(one["priors"]) for one in arrays.cv_results_["params"]]
    assert [trial.params["priors"] for trial in trials] == known


def test_failed_fits_are_failed_trials():
    optuna = pytest.importorskip("optuna")
    grid = {"n_neighbors": [1, 3, 10_000]}
    search = RaceGridSearchCV(KNeighborsClassifier(), grid, random_state=0)
    with pytest.warns(FitFailedWarning, match="10000"):
        search.fit(*load_iris(return_X_y=True))
    states = [trial.state for trial in to_optuna_study(search).trials]
    assert states[-1] == optuna.trial.TrialState.FAIL
    assert states[0] == optuna.trial.TrialState.COMPLETE
