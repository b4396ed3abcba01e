"""The events of a race tell its story from beginning to end."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsClassifier

from cvst import RaceGridSearchCV, RaceSearchCV
from cvst.cli.terminal import RaceView
from cvst.cli.terminal._listening import listening
from cvst.report import notebook_html
from cvst.search import STRATEGIES
from cvst.search._progress import verbose_logging

GRID = {"alpha": np.logspace(-3, 3, 7).tolist(), "gamma": [0.1, 1.0, 10.0]}


class Keeper(logging.Handler):
    """Keeps events."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.events: list[dict[str, object]] = []
        self.messages: list[str] = []

    def emit(self, record):
        self.events.append(record.cvst)
        self.messages.append(record.getMessage())


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


def test_proposals_that_were_never_looked_at_are_not_left(keeper):
    """The log, the state, the notebook and the live table say the same."""
    view = RaceView([], "", 0)
    X, y = load_iris(return_X_y=True)
    search = RaceSearchCV(KNeighborsClassifier(), max_looks=1, random_state=0)
    bar = SimpleNamespace(show=lambda *told: bars.append(told), close=lambda: None)
    bars = []
    with listening(view), verbose_logging(1, lambda: bar):
        search.fit(X, y)
    state = search.race_
    n_left, n_all = int(state.present.any(axis=1).sum()), state.n_configurations
    assert 0 < n_left < n_all
    [event] = [one for one in keeper.events if one["event"] == "look"]
    assert (event["n_active"], event["n_waiting"]) == (n_left, n_all - n_left)
    assert keeper.messages[-2].count(f"{n_left} left, {n_all - n_left} not yet") == 1
    assert view.rows[-1].n_active == n_left
    assert f"{n_left} of {n_all} configurations" in notebook_html(search)
    assert f"left, {n_all - n_left} not looked at." in notebook_html(search)
    assert f"{n_left} left, " in bars[-2][2]
    # Those that wait may take part in looks to come, and count for them.
    assert view.n_active == n_all
