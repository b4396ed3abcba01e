"""Races of estimators that train on Dask collections, on a real Dask cluster."""

from __future__ import annotations

import logging

import lightgbm
import numpy as np
import pandas as pd
import pytest
from lightgbm import DaskLGBMClassifier, LGBMClassifier
from sklearn.metrics import accuracy_score

from cvst import RaceGridSearchCV
from cvst.datasets import stored_rows
from cvst.exceptions import InvalidInputError

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
xgboost = pytest.importorskip("xgboost")  # the test group has it on Linux alone
dask_xgboost = pytest.importorskip("xgboost.dask")

# Dask and what it stands on warn of their own affairs, in any thread.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.xdist_group("dask"),
]

N_ROWS = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 3))
Y = (X[:, 0] + X[:, 1] ** 2 + 0.3 * RNG.normal(size=N_ROWS) > 1).astype(int)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
LEAVES = {"num_leaves": [2, 8]}


@pytest.fixture(scope="module")
def client():
    """Connect to a worker in a thread of this process."""
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def boosting(**params):
    return DaskLGBMClassifier(n_estimators=5, verbose=-1, **params)


def race(model, grid=LEAVES, **settings):
    settings = {"random_state": 0, "error_score": "raise"} | settings
    return RaceGridSearchCV(model, grid, **settings)


ROWS = {
    "arrays": lambda: (da.from_array(X, chunks=(150, 3)), da.from_array(Y, chunks=150)),
    "a frame": lambda: (dd.from_pandas(FRAME, npartitions=3), Y),
    "in memory": lambda: (X, Y),
    "fewer in memory": lambda: (
        stored_rows(da.from_array(X, chunks=(150, 3)), max_rows=200),
        Y,
    ),
}


def test_without_a_client_it_is_refused():
    """The first one here, while there is none."""
    with pytest.raises(InvalidInputError, match="no client is connected"):
        race(boosting()).fit(X, Y)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("kind", ["arrays", "a frame", "in memory"])
def test_the_race_is_that_of_the_plain_estimator(kind):
    rows, targets = ROWS[kind]()
    search = race(boosting(), scoring="neg_log_loss").fit(rows, targets)
    plain = LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1)
    same = race(plain, scoring="neg_log_loss").fit(FRAME if "frame" in kind else X, Y)
    assert search.best_params_ == same.best_params_
    np.testing.assert_allclose(
        search.race_.mean_losses, same.race_.mean_losses, rtol=1e-6
    )
    found = search.best_estimator_.predict(
        ROWS["a frame" if "frame" in kind else "arrays"]()[0]
    )
    assert isinstance(search.best_estimator_, DaskLGBMClassifier)
    assert accuracy_score(Y, np.asarray(found)) > 0.8


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("kind", list(ROWS))
def test_the_winner_is_fitted_on_all_rows(kind, monkeypatch):
    seen = []
    fit = DaskLGBMClassifier.fit

    def watched(self, X, y, **params):
        seen.append([len(X), len(y), *map(len, params.values())])
        return fit(self, X, y, **params)

    monkeypatch.setattr(lightgbm.DaskLGBMClassifier, "fit", watched)
    rows, targets = ROWS[kind]()
    search = race(boosting())
    search.fit(rows, targets, sample_weight=np.ones(N_ROWS))
    assert seen[-1] == [N_ROWS] * 3
    # What follows the number of rows follows that of the final fit.
    assert search.race_.problem.refit_rows == N_ROWS
    largest = 200 if kind == "fewer in memory" else N_ROWS
    assert max(one[0] for one in seen[:-1]) < largest


@pytest.mark.usefixtures("client")
def test_xgboost_trains_on_dask_too():
    model = dask_xgboost.DaskXGBClassifier(n_estimators=5, n_jobs=1)
    rows, targets = ROWS["arrays"]()
    settings = {"grid": {"max_depth": [1, 4]}, "scoring": ["accuracy", "roc_auc"]}
    settings |= {"refit": "accuracy"}
    search = race(model, **settings).fit(rows, targets)
    plain = xgboost.XGBClassifier(n_estimators=5, n_jobs=1)
    same = race(plain, **settings).fit(X, Y)
    assert search.best_params_ == same.best_params_
    for name in ("accuracy", "roc_auc"):
        scores = [one.cv_results_[f"mean_test_{name}"] for one in (search, same)]
        np.testing.assert_allclose(*scores, atol=0.02)


def opaque(model, X, y):
    return accuracy_score(y, model.predict(X))


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("scoring", [opaque, ["accuracy", "roc_auc"]])
def test_scores_of_every_kind(scoring):
    refit = "accuracy" if isinstance(scoring, list) else True
    rows, targets = ROWS["arrays"]()
    search = race(boosting(), scoring=scoring, refit=refit, return_predictions=True)
    search.fit(rows, targets)
    assert 0.8 < search.best_score_ < 1
    known = search.out_of_fold_predictions_.predictions[0]
    assert accuracy_score(Y, known.argmax(axis=1)) > 0.8


@pytest.mark.usefixtures("client")
def test_a_limit_of_each_fit_is_refused():
    with pytest.raises(InvalidInputError, match="trains on the workers of Dask"):
        race(boosting(), fit_timeout=10.0).fit(X, Y)
