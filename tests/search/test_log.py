"""The events of a race tell its story from beginning to end."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from cvst import RaceGridSearchCV
from cvst.search import STRATEGIES

GRID = {"alpha": np.logspace(-3, 3, 7).tolist(), "gamma": [0.1, 1.0, 10.0]}


class Keeper(logging.Handler):
    """Keeps events."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.events: list[dict[str, object]] = []

    def emit(self, record):
        self.events.append(record.cvst)


@pytest.fixture
def keeper():
    logger = logging.getLogger("cvst")
    handler = Keeper()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
@pytest.mark.parametrize("max_looks", [None, 2])
def test_the_start_announces_the_looks_that_come(strategy, max_looks, keeper):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(200, 1))
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=200)
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"),
        GRID,
        strategy=strategy,
        max_looks=max_looks,
        random_state=0,
    ).fit(X, y)
    start, *rest = keeper.events
    assert start["event"] == "start"
    assert (start["n_configurations"], start["n_samples"]) == (21, 200)
    planned = start["looks"]
    assert len(planned) >= search.n_looks_
    if max_looks is not None:
        assert len(planned) == max_looks
    seen = [event for event in rest if event["event"] == "look"]
    assert len(seen) == search.n_looks_
    for event in seen:
        stage = [look for look in planned if look["stage"] == event["stage"]]
        assert event["n_train"] in {look["n_train"] for look in stage}
        assert event["n_configurations"] <= stage[0]["max_configurations"]
    assert rest[-1]["event"] == "end"


def test_a_silent_log_names_no_score(monkeypatch):
    """To find its name takes longer than many a fit."""
    asked = []
    monkeypatch.setattr("cvst.search._base.score_name", asked.append)
    model, X = KernelRidge(kernel="rbf"), np.arange(60.0)[:, None]

    RaceGridSearchCV(model, GRID, random_state=0, refit=False).fit(X, X[:, 0])

    assert asked == []
