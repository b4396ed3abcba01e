"""What a user's own loss, folds, strategy or evaluator gets wrong, in one sentence."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold

import cvst.displays
from cvst import PointwiseLoss, RaceGridSearchCV
from cvst.evaluation import OneByOne, Task, batch_evaluator_for, check_evaluator
from cvst.exceptions import InvalidInputError, TooFewRowsError, UnsupportedScoreError
from cvst.race import Look, Strategy, Verdict

GRID = {"C": [0.1, 1.0, 10.0]}


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).normal(size=(120, 3))
    return X, (X[:, 0] > 0).astype(int)


def refused(rows, kind=InvalidInputError, estimator=None, **options):
    """Return the one line that a search says."""
    search = RaceGridSearchCV(estimator or LogisticRegression(), GRID, **options)
    with pytest.raises(kind) as caught:
        search.fit(*rows)
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_folds_by_group_without_groups_ask_for_groups(rows):
    told = refused(rows, cv=GroupKFold(3))
    assert "GroupKFold" in told
    assert "groups=groups" in told


def test_own_folds_that_are_too_many_are_named(rows):
    told = refused(rows, TooFewRowsError, cv=KFold(500))
    assert "KFold(n_splits=500" in told
    assert "120 rows" in told


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda y, p: float(np.mean(y != p)), "()"),
        (lambda y, p: (y != p)[:-1], "(23,)"),
        (lambda y, p: (y != p)[:, None], "(24, 1)"),
    ],
)
def test_a_loss_without_a_number_per_row_is_no_failed_fit(rows, function, shape):
    loss = PointwiseLoss(function, name="mine")
    told = refused(rows, UnsupportedScoreError, scoring=loss, random_state=0)
    assert f"'mine' returned an array of shape {shape} for 24 rows" in told


class Own(Strategy):
    """Two looks, with a verdict of somebody's making."""

    def __init__(self, verdict=None):
        self.verdict = verdict

    def stop_reason(self, state):
        return "enough" if state.n_looks >= 2 else None

    def next_look(self, state):
        train, test = state.problem.prefix(60)
        return Look(train, test, 60, np.arange(state.n_configurations))

    def judge(self, state, look, seen):
        return self.verdict


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict(np.ones(2, bool), np.ones(3)), ["top", "(2,)", "3 configurations"]),
        (Verdict(np.ones(3, bool), np.ones(4)), ["p_values", "(4,)"]),
        (Verdict(np.ones(3, bool), np.ones(3), keep=np.ones(1, bool)), ["keep"]),
        (Verdict(np.ones(3, bool), np.ones(3), {7: "bad"}), ["7", "0 to 2"]),
        (Verdict(np.ones(3, bool), np.ones(3), ["a"]), ["drops are ['a']", "dictio"]),
        (Verdict(np.ones(3, bool), np.ones(3), {"a": "bad"}), ["drops are {'a'"]),
        (None, ["None", "cvst.race.Verdict"]),
    ],
)
def test_a_verdict_that_does_not_fit_is_refused(rows, verdict, words):
    told = refused(rows, strategy=Own(verdict))
    for word in words:
        assert word in told


def test_what_is_no_look_is_refused(rows):
    class Lost(Own):
        def next_look(self, state):
            return None

    class LostLater(Own):
        def next_look(self, state):
            return None if state.n_looks else super().next_look(state)

    told = "next_look() returned None, which is not a look. Return a cvst.race.Look."
    assert refused(rows, strategy=Lost()) == told
    verdict = Verdict(np.ones(3, bool), np.ones(3))
    assert refused(rows, strategy=LostLater(verdict)) == told


def test_an_incomplete_strategy_is_told_all_that_is_missing(rows):
    class Incomplete(Strategy):
        def judge(self, state, look, seen):
            return Verdict(seen.mean_losses < 1, seen.mean_losses)

    with pytest.raises(TypeError, match=r"next_look.*stop_reason"):
        Incomplete()

    class Duck:
        def judge(self, state, look, seen):
            return None

    told = refused(rows, strategy=Duck())
    assert "lacks next_look, stop_reason" in told
    assert "a class: Own(...)" in refused(rows, strategy=Own)


class Forgetful(OneByOne):
    """Answers some configurations another number of times than once."""

    def __init__(self, times):
        self.times = times

    def evaluate(self, task):
        return [
            outcome
            for outcome in super().evaluate(task)
            for _ in range(self.times if outcome.configuration == 1 else 1)
        ]


@pytest.mark.parametrize(
    ("times", "words"), [(0, "no outcome for [1]"), (2, "too many outcomes for [1]")]
)
def test_an_evaluator_answers_every_configuration_once(rows, times, words):
    class Mine(LogisticRegression):
        pass

    batch_evaluator_for.register(Mine, lambda _: Forgetful(times))
    told = refused(rows, estimator=Mine())
    assert "Forgetful.evaluate" in told
    assert words in told


class Silent(OneByOne):
    """Answers with something else than outcomes."""

    def __init__(self, answer):
        self.answer = answer

    def evaluate(self, task):
        return self.answer


@pytest.mark.parametrize("scoring", ["accuracy", ["accuracy", "roc_auc"]])
@pytest.mark.parametrize(
    ("answer", "words"),
    [(None, "returned None, which holds"), ([0.5], "yielded 0.5, which is no outcome")],
)
def test_what_is_no_outcome_is_refused(rows, scoring, answer, words):
    """Also where a model is asked for several responses, and by the check."""

    class Mine(LogisticRegression):
        pass

    batch_evaluator_for.register(Mine, lambda _: Silent(answer))
    refit = "accuracy" if isinstance(scoring, list) else True
    told = refused(rows, estimator=Mine(), scoring=scoring, refit=refit)
    assert f"Silent.evaluate {words}" in told
    assert "Yield one cvst.evaluation.Outcome" in told
    task = Task(Mine(), {0: {"C": 1.0}}, *(part[:100] for part in rows), rows[0][100:])
    with pytest.raises(InvalidInputError, match=words):
        check_evaluator(Silent(answer), task)


@pytest.fixture(scope="module")
def fitted(rows):
    grid = {"C": [0.1, 1.0, 10.0], "tol": [1e-4, 1e-3]}
    return RaceGridSearchCV(LogisticRegression(), grid).fit(*rows)


@pytest.mark.parametrize("name", cvst.displays.__all__)
def test_displays_without_matplotlib_say_what_to_install(fitted, name, monkeypatch):
    display = getattr(cvst.displays, name)
    if not hasattr(display, "from_search") or name == "SequentialTestDisplay":
        pytest.skip("not of a search")
    for module in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"install.*cvst\[plots\]"):
        display.from_search(fitted).plot()
