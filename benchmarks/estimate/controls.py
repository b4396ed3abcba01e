"""Control variates: numbers with a mean of zero that vary as scores do.

Most of the error of an estimate is the luck of its rows, which has nothing to do with
its bias. Two kinds of luck are known here, as the truth is:

- that of the *best possible model* on the rows of the race;
- that of a few *fixed configurations*: their scores on the folds of the race, less what
  the very same models are worth in truth. A configuration that was fixed beforehand is
  not chosen by its luck, so its mean is zero; and it shares folds, rows and most of its
  predictions with the winner.

All of it is in losses that are means over rows, class by class where folds are
stratified, since the mean of these alone is exactly zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from problems import Problem
from sklearn.metrics import roc_auc_score

from cvst import RaceGridSearchCV
from cvst.search._setup import prepare

__all__ = ["fixed_luck", "folds_of", "luck_of_rows"]

N_FOLDS = 5


def folds_of(search: RaceGridSearchCV, X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Return the folds of a search, as rows of ``X``."""
    inputs = search._read(X, y, {})
    setup = prepare(search._options(), list(search._configurations()), inputs)
    return [
        (setup.original_rows(train), setup.original_rows(test))
        for train, test in setup.problem.folds[N_FOLDS]
    ]


def luck_of_rows(problem: Problem, y: Any, best: Any) -> list[float]:
    """Return the luck of the best model on some rows, and what is odd about them."""
    if problem.scoring == "roc_auc":
        luck = [float(roc_auc_score(y, best)) - problem.truth]
    else:
        losses = problem.losses(best, y)
        luck = [_apart(problem, losses, y, problem.expected_losses_of_best)]
    if problem.classifies:
        return [*luck, float(np.mean(y)) - problem.share]
    return [*luck, float(np.var(y, ddof=1)) - problem.variance]


def fixed_luck(
    problem: Problem, params: Any, folds: Any, rows: Any, fresh: Any
) -> float:
    """Return the luck of a configuration on folds.

    Parameters
    ----------
    problem : Problem
        The problem.
    params : dict
        The configuration, fixed before these rows were drawn.
    folds : list of (train, test)
        Rows of the folds.
    rows : tuple of (X, y)
        The rows of the race.
    fresh : tuple of (X, best)
        Fresh rows, and what the best model says of them.
    """
    X, y = rows
    found = []
    for train, test in folds:
        model = problem.estimator().set_params(**params).fit(X[train], y[train])
        said, said_fresh = (
            problem.response(model, part) for part in (X[test], fresh[0])
        )
        if problem.scoring == "roc_auc":
            score = float(roc_auc_score(y[test], said))
            found.append(score - problem.expected_score(said_fresh, fresh[1]))
        else:
            losses = problem.losses(said, y[test])
            expected = problem.expected_losses(said_fresh, fresh[1])
            found.append(_apart(problem, losses, y[test], expected))
    return float(np.mean(found))


def _apart(problem: Problem, losses: Any, y: Any, expected: Any) -> float:
    """Return mean losses less the expected ones, class by class where there are any."""
    if not problem.classifies:
        return float(np.mean(losses)) - expected[0]
    apart = [float(np.mean(losses[y == label])) - expected[label] for label in (0, 1)]
    weight = 0.5 if problem.scoring == "balanced_accuracy" else problem.share
    return (1 - weight) * apart[0] + weight * apart[1]
