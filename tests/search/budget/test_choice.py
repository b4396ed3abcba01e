"""One rule chooses the race for a time, in a search and in ``cvst plan``."""

from __future__ import annotations

from argparse import Namespace
from functools import cache
from itertools import product

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid
from sklearn.tree import DecisionTreeRegressor

from cvst import CVST, RaceGridSearchCV
from cvst.cli.commands._plan_budget import choose_race
from cvst.exceptions import BudgetTooSmallError
from cvst.race import _cvst
from cvst.search._options import SearchOptions
from cvst.search._setup import prepare
from cvst.search.budget._choice import fitting_strategy
from cvst.search.budget._model import CostModel
from cvst.search.rows import read_inputs
from cvst.statistics import WaldTest
from cvst.theory import PowerCurve, drop_error_bound, steady_steps

N = 1000
SECONDS = np.geomspace(1.2, 1000, 8).tolist()
LEVELS = [(0.05, 0.01), (0.1, 0.01), (0.3, 0.05), (0.5, 0.01)]
SIZES = [*product((12, 600), (1.0, 2.0, 3.0))]


@cache
def steady(loser_level, winner_level):
    """Try all numbers of steps up to 20: a test exists, and the bound does not jump."""
    found = []
    for steps in range(1, 21):
        try:
            bound = drop_error_bound(0.9, steps, loser_level, winner_level)
        except ValueError:
            continue
        if bound <= 0.16:
            found.append(steps)
    return found


@cache
def counted_seconds(steps, levels, n_configurations, complexity, n_rows=None):
    """Add up fits, look by look, until the losers can be gone and a race can end."""
    test = WaldTest(steps, *levels)
    last, n_active, seconds = None, n_configurations, 0.0
    for step in range(1, steps + 1):
        share = step / (steps + 1)
        if n_rows is not None:
            share = step * n_rows // (steps + 1) / n_rows
        seconds += n_active * share**complexity
        if step == last:
            break
        # Even a trace of flops only is not a loser's before that.
        if last is None and step >= 2 and test.loser_boundary(step) >= 0:
            n_active, last = 0.2 * n_configurations, step + max(1, round(0.3 * steps))
    return seconds


def by_brute_force(levels, size, seconds, n_rows=None):
    """Return steps and loser level, and whether this fits."""
    loser_level, winner_level = levels
    for level in (loser_level, 0.5):
        fitting = [
            steps
            for steps in steady(level, winner_level)
            if counted_seconds(steps, (level, winner_level), *size, n_rows) <= seconds
        ]
        if fitting:
            return max(fitting), level, True
    return max(steady(*levels)), loser_level, False


def on_paper(levels, size, seconds):
    """Ask the command line, whose budget holds the final fit too."""
    options = Namespace(
        max_steps=10,
        loser_level=levels[0],
        winner_level=levels[1],
        n_configurations=size[0],
        complexity=size[1],
        survival_rate=0.2,
        full_fit_time=1.0,
        time_budget=1.0 + seconds,
    )
    try:
        chosen = choose_race(options)
    except BudgetTooSmallError:
        return max(steady(*levels)), levels[0], False
    return chosen.steps, chosen.loser_level, True


@pytest.fixture
def kept_steps(monkeypatch):
    """Each question for the steps takes milliseconds, and there are hundreds."""
    monkeypatch.setattr(_cvst, "steady_steps", cache(steady_steps))


def test_the_command_line_chooses_as_brute_force_does(kept_steps):
    """Some of the races fit, some only with a raised level, some not at all."""
    cases = [*product(LEVELS, SIZES, SECONDS)]
    expected = [by_brute_force(*case) for case in cases]
    kinds = {
        (fits, chosen > level)
        for (_, chosen, fits), ((level, _), _, _) in zip(expected, cases, strict=True)
    }
    assert kinds == {(True, False), (True, True), (False, False)}

    assert [on_paper(*case) for case in cases] == expected


@pytest.mark.parametrize("size", [(12, 3.0), (600, 1.0)], ids=str)
def test_the_search_chooses_as_brute_force_does(kept_steps, size):
    """With costs as in the plan, on subsets that have whole rows."""
    n_configurations, complexity = size
    # The costs are given: nothing is fitted.
    grid = {"max_depth": range(1, n_configurations + 1)}
    rows = np.arange(float(N))
    cost = PowerCurve(0.0, 1 / N**complexity, complexity)
    model = CostModel(fit=cost, predict=PowerCurve(0.0, 0.0, 1.0), alone=cost)
    for levels in LEVELS:
        strategy = CVST(loser_level=levels[0], winner_level=levels[1])
        search = RaceGridSearchCV(DecisionTreeRegressor(), grid, strategy=strategy)
        inputs = read_inputs(
            search.estimator, rows[:, None], rows, {}, lambda params: (params, {}, {})
        )
        options = SearchOptions.of(search, search._clock)
        setup = prepare(options, list(ParameterGrid(grid)), inputs)

        for seconds in SECONDS:
            chosen = fitting_strategy(setup, model, seconds)
            steps, level, _ = by_brute_force(levels, size, seconds, N)
            assert (chosen.max_steps, chosen.loser_level) == (steps, level)
