"""Tasks for evaluators: train on the first rows, test on the others."""

from __future__ import annotations

from cvst.evaluation import RaceRows, Task


def make_task(estimator, grid, X, y, weights=None, *, n_train, scratch=None, **changes):
    """Return a task, as a look of a race if there is a scratch, else alone."""
    if weights is not None:
        changes["fit_params"] = {"sample_weight": weights}
    train, test = slice(0, n_train), slice(n_train, X.shape[0])
    rows = X.iloc if hasattr(X, "iloc") else X
    race = None if scratch is None else RaceRows(X, train, test, scratch)
    return Task(
        estimator,
        dict(enumerate(grid)),
        rows[train],
        y[train],
        rows[test],
        race_rows=race,
        **changes,
    )
