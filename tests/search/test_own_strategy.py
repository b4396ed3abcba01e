"""A strategy and a stage of one's own get what ours get."""

from __future__ import annotations

import doctest
import importlib.util
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from cvst import RaceGridSearchCV
from cvst.displays import SurvivorsDisplay, TracesDisplay
from cvst.race import Look, Strategy, Verdict
from cvst.race._rehearsal import MOST_LOOKS, rehearse
from cvst.report import summary

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "own_strategies"
PAGE = ROOT / "docs" / "developer" / "add_a_strategy.md"
GRID = {"gamma": [0.01, 0.1, 1, 10, 100, 1000], "alpha": [0.01, 0.1, 1]}

pytestmark = pytest.mark.skipif(
    not FOLDER.exists(), reason="source distributions have no examples"
)


def load(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def search_with(strategy, **options):
    model = KernelRidge(kernel="rbf")
    return RaceGridSearchCV(model, GRID, strategy=strategy, random_state=0, **options)


def draw(search):
    """Draw a race, where matplotlib is installed."""
    for display in (SurvivorsDisplay, TracesDisplay):
        drawn = display.from_search(search)
        if importlib.util.find_spec("matplotlib"):
            drawn.plot()


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(300, 1))
    return X, np.sin(3 * X[:, 0]) + rng.normal(scale=0.1, size=300)


@pytest.mark.parametrize("name", ["halving", "stage"])
def test_the_examples_run_and_the_page_shows_them(name):
    module = load(name)
    assert doctest.testmod(module).failed == 0
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    start = "class Halving" if name == "halving" else "@dataclass"
    shown = source[source.index(start) :].rstrip()
    assert shown in PAGE.read_text(encoding="utf-8")
    assert len(shown.splitlines()) <= 31


def test_a_short_strategy_gets_plan_report_and_displays(data):
    """What is said of a race comes from the protocol alone."""
    search = search_with(load("halving").Halving()).fit(*data)
    plan = search.plan(*data)
    looks = [one.look for one in search.race_.observations]
    # All looks of the race to come, though the strategy says nothing about them.
    assert len(looks) == 5
    assert [(one.stage, one.n_train, one.max_configurations) for one in plan.looks] == [
        (look.stage, look.n_train, len(look.configurations)) for look in looks
    ]
    assert plan.refit_seconds > 0
    assert "a race can have more or fewer" in " ".join(str(plan).split())
    page = summary(search)
    assert "one is left" in page["stop_sentence"]
    # Its looks leave nothing to estimate from, so no estimate is pointed to.
    assert search.best_score_estimate_ is None
    assert "best_score_estimate_" not in page["winner"]["score_note"]
    assert page["winner"]["parameters"]["gamma"] in {"1", "10"}
    assert any("worse half" in str(one["drops"]) for one in page["configurations"])
    assert "Halving" in search._repr_html_()
    draw(search)
    again = search.set_params(strategy__first_rows=30).fit(*data)
    assert again.race_.subset_sizes[0] == 30


def test_a_short_strategy_keeps_a_budget(data):
    """The clock ends it, and the leader is known."""
    search = search_with(load("halving").Halving(), time_budget=30).fit(*data)
    assert search.stop_reason_ == "one is left"
    assert search.budget_settings_ == {"max_looks": None}


class UntilOneIsLeft(Strategy):
    """Drop the worst on more and more rows: equal losses have no worst."""

    def stop_reason(self, state):
        return "one is left" if state.active.sum() == 1 else None

    def next_look(self, state):
        n_train = min(100 + 10 * state.n_looks, 250)
        rows = state.problem.prefix(n_train)
        return Look(*rows, n_train, np.flatnonzero(state.active))

    def judge(self, state, look, seen):
        top = seen.mean_losses < 1.01 * np.median(seen.mean_losses)
        if seen.mean_losses.min() == seen.mean_losses.max():
            top[:] = True
        elif top.all():
            top[np.argmax(seen.mean_losses)] = False
        drops = dict.fromkeys(look.configurations[~top].tolist(), "worst")
        return Verdict(top, np.full(len(top), np.nan), drops)


def test_a_race_is_rehearsed_once(data, monkeypatch):
    """However often a plan or a budget asks, and again for other parameters."""
    asked = []

    def counted(*args):
        asked.append(args)
        return rehearse(*args)

    monkeypatch.setattr("cvst.race._strategy.rehearse", counted)
    strategy = UntilOneIsLeft()
    search = search_with(strategy, time_budget=20).fit(*data)
    assert search.stop_reason_ == "one is left"
    assert len(asked) == 1
    plan = search_with(UntilOneIsLeft()).plan(*data)
    assert len(plan.looks) == MOST_LOOKS
    assert len(asked) == 2
    # And what it knows of the rows is not pickled with it.
    assert "_rehearsed" in vars(search.strategy_)
    assert "_rehearsed" not in vars(pickle.loads(pickle.dumps(search.strategy_)))


def test_an_incomplete_strategy_is_told_all_that_is_missing():
    class Half(Strategy):
        def judge(self, state, look, seen):
            return None

    with pytest.raises(TypeError, match=r"next_look.*stop_reason"):
        Half()


class Growing(Strategy):
    """Look at all, then propose a value between the two best, three times."""

    def stop_reason(self, state):
        return "enough" if state.n_looks == 4 else None

    def propose(self, state):
        if not state.observations:
            return ()
        best, second = self.ranking(state)[:2]
        gammas = [state.configurations[i]["gamma"] for i in (best, second)]
        alpha = state.configurations[best]["alpha"]
        return [{"gamma": float(np.sqrt(np.prod(gammas))), "alpha": alpha}]

    def next_look(self, state):
        rows = state.problem.prefix(150)
        known = np.flatnonzero(~state.present.any(axis=1))
        return Look(*rows, 150, known, stage="new" if state.n_looks else "all")

    def judge(self, state, look, seen):
        nothing = np.full(len(seen.mean_losses), np.nan)
        return Verdict(np.ones(len(nothing), dtype=bool), nothing)


class Still(Growing):
    """Say that there is nothing to propose."""

    proposes = False


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_configurations_join_during_the_race(data, n_jobs):
    """States, spaces, results, displays and reports take those that come later."""
    search = search_with(Growing(), n_jobs=n_jobs, return_pointwise=True).fit(*data)
    state = search.race_
    assert (state.problem.n_configurations, state.n_configurations) == (18, 21)
    assert len(search.cv_results_["params"]) == len(
        search.cv_results_["rank_test_score"]
    )
    assert len(search.cv_results_["params"]) == 21
    assert state.space.codes.shape == (2, 21)
    assert state.until(2).n_configurations == 19
    assert [len(one.look.configurations) for one in state.observations] == [18, 1, 1, 1]
    new = search.cv_results_["params"][18]
    # The same loss as for a race that knew it from the beginning.
    alone = search_with(Still()).set_params(
        param_grid={name: [value] for name, value in new.items()}
    )
    with pytest.warns(UserWarning, match="one configuration only"):
        alone.fit(*data)
    assert state.mean_losses[18, 1] == pytest.approx(
        alone.race_.mean_losses[0, 0], rel=1e-9
    )
    page = summary(search)
    assert page["n_configurations"] == 21
    assert [look["n_active"] for look in page["looks"]] == [18, 19, 20, 21]
    draw(search)
    assert search.cv_results_["mean_test_score"][search.best_index_] == pytest.approx(
        np.nanmax(search.cv_results_["mean_test_score"])
    )


class Doubling(Strategy):
    """Propose twice the best alpha, three times."""

    def stop_reason(self, state):
        return "enough" if state.n_looks == 3 else None

    def propose(self, state):
        if not state.observations:
            return ()
        return [{"alpha": 2.0 * state.configurations[-1]["alpha"]}]

    def next_look(self, state):
        rows = state.problem.prefix(150)
        return Look(*rows, 150, np.flatnonzero(state.active))

    def judge(self, state, look, seen):
        nothing = np.full(len(seen.mean_losses), np.nan)
        return Verdict(np.ones(len(nothing), dtype=bool), nothing)


def test_a_strategy_that_proposes_races_from_one_configuration(data):
    """To write ``propose`` is enough to say so."""
    model = KernelRidge(kernel="rbf")
    search = RaceGridSearchCV(model, {"alpha": [0.1]}, strategy=Doubling())
    search.fit(*data)
    assert [one["alpha"] for one in search.cv_results_["params"]] == [0.1, 0.2, 0.4]
    plan = search.plan(*data)
    assert "More configurations join" in str(plan)
    # What will be proposed cannot be known, and is not guessed.
    assert len(plan.looks) == 1
