import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_regression
from sklearn.kernel_ridge import KernelRidge

from cvst import RaceGridSearchCV, RaceSearchCV
from cvst.race import (
    Look,
    LookLosses,
    Problem,
    RaceState,
    TrackAndConfirm,
    Verdict,
)

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    """Leave no figure open; matplotlib warns from the twentieth on."""
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="session")
def hand_made():
    """Return a race of four on 100 rows: one is dropped, returns and is dropped again.

    Looks: all; 0, 1, 3 after the drops of 2 and 3; two folds of 0 and 1.
    """
    problem = Problem(n_configurations=4, n_samples=100)
    state = RaceState(problem)
    looks = [
        ([0, 1, 2, 3], [0.3, 0.4, 0.9, 0.8], [1, 1, 0, 0], {2: "rank", 3: "rank"}),
        ([0, 1, 3], [0.2, 0.3, 0.7], [1, 0, 0], {3: "paired test"}),
        ([0, 1], [0.1, 0.3], [1, 1], {}),
        ([0, 1], [0.3, 0.1], [0, 1], {}),
    ]
    stages = ["first look", "late look", "confirm", "confirm"]
    for number, (who, means, top, drops) in enumerate(looks):
        fold = number > 1
        n_train = 80 if fold else 20 * (number + 1)
        rows = slice(0, n_train), slice(n_train, 100)
        look = Look(*rows, n_train, np.array(who), stage=stages[number], is_fold=fold)
        means = np.array(means)
        seen = LookLosses(
            losses=means[:, None],
            mean_losses=means,
            fit_seconds=np.zeros(len(who)),
            score_seconds=np.zeros(len(who)),
            standard_errors=np.full(len(who), 0.06),
        )
        verdict = Verdict(np.array(top, dtype=bool), np.full(len(who), 0.5), drops)
        state = state.observe(look, seen, verdict)
    return state


@pytest.fixture(scope="session", params=["cvst", "track", "cross_validation"])
def fitted(request):
    """Return a fitted search of every strategy."""
    X, y = make_regression(160, 3, noise=20.0, random_state=0)
    strategies = {"track": TrackAndConfirm(direct_below=5, min_rows=30, n_folds=3)}
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"),
        {"alpha": np.logspace(-3, 3, 6), "gamma": [0.001, 0.1, 10.0]},
        strategy=strategies.get(request.param, request.param),
        random_state=0,
        refit=False,
    )
    return search.fit(X, y)


@pytest.fixture(scope="session")
def proposed():
    """Return a search whose configurations were proposed while it ran."""
    X, y = make_regression(240, 3, noise=20.0, random_state=0)
    space = {"alpha": loguniform(1e-3, 1e3), "gamma": loguniform(1e-3, 10)}
    search = RaceSearchCV(
        KernelRidge(kernel="rbf"), space, n_iter=24, random_state=0, refit=False
    )
    return search.fit(X, y)
