"""Values and numbers of rows that are odd but not wrong, and those that are wrong."""

from __future__ import annotations

import re
import warnings
from html import escape

import numpy as np
import pytest
from scipy.stats import randint, uniform
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold

from cvst import (
    CVST,
    RaceGridSearchCV,
    RaceRandomSearchCV,
    RaceSearchCV,
    TrackAndConfirm,
    load_checkpoint,
)
from cvst.evaluation import PointwiseLoss
from cvst.exceptions import (
    AllFitsFailedError,
    CheckpointError,
    CVSTWarning,
    FallbackWarning,
    InvalidInputError,
)
from cvst.proposals import GaussianProposer
from cvst.race import Problem
from cvst.report import html_report
from cvst.search._wording import described
from cvst.search.rows import _fallback
from cvst.spaces._values import marginal_of

STRATEGIES = ["track_and_confirm", "cvst", "cross_validation"]


def two_classes(n_rows):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) >= n_rows // 2
    return rng.normal(size=(n_rows, 2)) + y[:, None], y.astype(int)


class Marked(Ridge):
    """Ridge regression with a parameter that does nothing."""

    def __init__(self, alpha=1.0, mark=None):
        super().__init__(alpha=alpha)
        self.mark = mark


# --- too few rows or classes in the first fold (no KeyError) --------------------------


@pytest.mark.parametrize("strategy", ["track_and_confirm", "cross_validation"])
@pytest.mark.parametrize("cv", [KFold(2), None])
def test_a_first_fold_of_one_class_is_told(strategy, cv):
    """Labels in order: all training rows of a fold are of one class."""
    X, y = two_classes(40)
    groups = y if cv is None else None
    search = RaceGridSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, strategy=strategy, cv=cv
    )
    with (
        pytest.warns(FallbackWarning, match="the first subset would hold 20 rows of 1"),
        pytest.raises(AllFitsFailedError, match="failed on 20 rows"),
    ):
        search.fit(X, y, groups=groups)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("n_rows", [2, 3, 4, 5])
def test_a_handful_of_rows_is_enough_for_regression(strategy, n_rows):
    rng = np.random.default_rng(n_rows)
    X, y = rng.normal(size=(n_rows, 1)), rng.normal(size=n_rows)
    search = RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, strategy=strategy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        if n_rows < 4:  # a single row to test on has no r2
            warnings.filterwarnings("ignore", ".* test scores are non-finite")
        search.fit(X, y)
    assert search.best_params_["alpha"] in (0.1, 1.0)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all() or n_rows < 4


def test_the_rows_needed_are_found_by_halves(monkeypatch):
    """As many as counting finds, without counting."""
    asked = []
    subset_sizes = CVST.subset_sizes

    def noted(self, problem):
        asked.append(problem.n_samples)
        return subset_sizes(self, problem)

    monkeypatch.setattr(CVST, "subset_sizes", noted)
    X, y = two_classes(30)
    search = RaceGridSearchCV(
        Ridge(), {"alpha": [0.1, 1.0]}, strategy=CVST(max_steps=4000)
    )
    # With 8002 rows the first of 4001 parts has two.
    with pytest.warns(FallbackWarning, match="needs about 8002 rows"):
        search.fit(X, y)
    assert len(asked) < 60


def test_a_number_of_rows_beyond_all_search_ends_it():
    tried = []

    def never(number):
        tried.append(number)
        return False

    assert _fallback._smallest(never, 7) >= _fallback.LARGEST_SEARCH
    assert len(tried) < 60


def test_thousands_of_steps_cost_no_time_of_their_own(monkeypatch):
    """Sizes of the steps come without a call per step, and equal the rule's own."""
    problem = Problem(2, 9000)
    strategy = CVST(max_steps=4000)
    rule = strategy._schedule_rule()
    expected = [rule.n_train(step, problem) for step in range(1, 4001)]
    monkeypatch.setattr(type(rule), "n_train", None)
    assert strategy.subset_sizes(problem) == expected


def test_steps_beyond_all_bounds_are_refused():
    X, y = two_classes(30)
    search = RaceGridSearchCV(
        Ridge(), {"alpha": [0.1, 1.0]}, strategy=CVST(max_steps=10**9)
    )
    with pytest.raises(InvalidInputError, match="at most 100,000"):
        search.fit(X, y)


# --- losses that raise ----------------------------------------------------------------


class OddError(Exception):
    """Takes what no other exception takes."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


@pytest.mark.parametrize("error", [OddError(1, 2), KeyError("x"), RuntimeError("no")])
def test_a_loss_that_raises_anything_is_a_failed_configuration(error):
    """Where a model predicts too little, the loss raises; the others race on."""

    def loss(y_true, y_pred):
        if np.ptp(y_pred) < 1e-3:
            raise error
        return (y_true - y_pred) ** 2

    X, y = two_classes(200)
    search = RaceGridSearchCV(
        Ridge(), {"alpha": [1.0, 2.0, 1e12]}, scoring=PointwiseLoss(loss)
    )
    with pytest.warns(FitFailedWarning, match=type(error).__name__):
        search.fit(X, y)
    assert search.best_params_["alpha"] < 1e12
    assert type(error).__name__ in search.cv_results_["failure"][2]


# --- numbers beyond all floats --------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("digits", [20, 400, 5000])
def test_whole_numbers_beyond_all_floats_can_be_tried(strategy, digits):
    """As a value that does nothing, and as a penalty, where it is a failed fit."""
    X, y = two_classes(120)
    marks = {"mark": [1, 10**digits, -(10**digits)], "alpha": [1.0, 2.0]}
    search = RaceGridSearchCV(Marked(), marks, strategy=strategy, random_state=0)
    assert search.fit(X, y).best_params_["alpha"] in (1.0, 2.0)
    penalties = {"alpha": [1.0, 10**digits]}
    search = RaceGridSearchCV(Marked(), penalties, strategy=strategy, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        search.fit(X, y)
    assert search.best_params_ == {"alpha": 1.0}


def test_drawn_whole_numbers_beyond_all_floats_can_be_tried():
    X, y = two_classes(120)
    space = {"mark": [1, 10**400, 3], "alpha": [1.0, 2.0, 3.0]}
    search = RaceRandomSearchCV(Marked(), space, n_iter=6, random_state=0)
    assert search.fit(X, y).best_params_["alpha"] in (1.0, 2.0, 3.0)


def test_numbers_of_thousands_of_digits_can_be_kept_proposed_and_reported(tmp_path):
    """Python refuses to write them in decimal digits."""
    X, y = two_classes(120)
    space = {"mark": [10**5000, 10**5000 + 1, 2], "alpha": [1.0, 2.0]}
    options = {"random_state": 0, "max_looks": 2}
    kept = RaceGridSearchCV(Marked(), space, checkpoint=tmp_path / "race", **options)
    again = clone(kept.fit(X, y)).fit(X, y)
    assert again.cv_results_["params"] == kept.cv_results_["params"]
    assert load_checkpoint(tmp_path / "race").best_params_ == kept.best_params_
    assert "<!DOCTYPE html>" in html_report(kept)
    proposing = RaceSearchCV(Marked(), space, n_iter=6, random_state=0).fit(X, y)
    assert proposing.best_params_["alpha"] in (1.0, 2.0)


HUGE = 10**5000


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("cv", HUGE, r"cv=1e\+5000 cannot split these 60 rows"),
        ("error_score", HUGE, r"error_score=1e\+5000 is beyond the range"),
        ("error_score", -(10**400), r"error_score=-10+… is beyond the range"),
    ],
    ids=["cv", "error_score", "error_score that Python can write"],
)
def test_settings_of_thousands_of_digits_are_refused_in_a_sentence(name, value, told):
    search = RaceGridSearchCV(Ridge(), {"alpha": [1, 2]}, max_looks=10**400)
    with pytest.raises(InvalidInputError, match=told):
        search.set_params(**{name: value}).fit(*two_classes(60))


@pytest.mark.parametrize(
    ("search", "shown"),
    [
        (
            RaceGridSearchCV(Marked(), {"mark": [1, HUGE, -HUGE]}, cv=2),
            "param_grid={mark: [1, 1e+5000, -1e+5000]}",
        ),
        (
            RaceGridSearchCV(Ridge(HUGE), {"alpha": [1, 2]}, cv=2),
            "Ridge(alpha=1e+5000)",
        ),
        # As it would write itself, by its class.
        (
            RaceRandomSearchCV(
                Marked(mark=HUGE), {"alpha": uniform(0, 1)}, n_iter=3, cv=2
            ),
            "estimator=<Marked>",
        ),
    ],
    ids=["grid", "estimator", "draws"],
)
def test_searches_with_numbers_of_thousands_of_digits_are_shown(
    search, shown, tmp_path
):
    """Before and after the race, by the console, the notebook and the checkpoint."""
    X, y = two_classes(60)
    search = clone(search).set_params(
        strategy="cross_validation", random_state=0, checkpoint=tmp_path / "race"
    )
    assert shown in repr(search)
    assert escape(shown) in search._repr_html_()
    assert repr(search.fit(X, y)).startswith(f"{type(search).__name__}(")
    assert "configurations" in search._repr_html_()
    assert search.best_params_ == load_checkpoint(tmp_path / "race").best_params_
    other = clone(search).set_params(estimator__alpha=-HUGE)
    with pytest.raises(CheckpointError, match=r"alpha of .* and is -1e\+5000 now"):
        other.fit(X, y)


def test_a_nested_search_is_described_in_a_checkpoint_as_before():
    """By what differs from the class, as scikit-learn writes it."""
    search = RaceGridSearchCV(Ridge(), {"alpha": [1.0]}, cv=2)
    assert described(search, 200) == " ".join(repr(search).split())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"strategy": CVST(max_steps=HUGE)}, "max_steps=1e+5000 must be"),
        ({"strategy": TrackAndConfirm(n_leaders=-HUGE)}, "n_leaders=-1e+5000 is too"),
        ({"refit": lambda results: HUGE}, "refit returned 1e+5000"),
        ({"param_grid": {HUGE: [1]}}, "1e+5000 is not a parameter"),
        ({"time_budget": HUGE}, "time_budget=1e+5000 is more seconds"),
        ({"fit_timeout": HUGE}, "fit_timeout=1e+5000 is more seconds"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_errors_name_numbers_of_thousands_of_digits(given, message):
    X, y = two_classes(60)
    search = RaceGridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, cv=2).set_params(**given)
    kinds = InvalidInputError, IndexError
    with pytest.raises(kinds, match=re.escape(message)):
        search.fit(X, y)


def test_targets_beyond_all_floats_are_refused():
    with pytest.raises(InvalidInputError, match="beyond all that a float can be"):
        RaceGridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}).fit([[0.0]] * 30, [HUGE] * 30)


def test_objects_with_numbers_of_thousands_of_digits_have_a_text():
    """Exact, since races that go on know their strategy by it."""
    assert repr(CVST(max_steps=HUGE)) == f"CVST(max_steps={HUGE:#x})"
    assert (
        repr(GaussianProposer(n_first=HUGE)) == f"GaussianProposer(n_first={HUGE:#x})"
    )
    with pytest.raises(InvalidInputError) as caught:
        marginal_of("alpha", randint(1, HUGE))
    assert len(str(caught.value)) < 400


class Unspeakable:
    """Has no text."""

    def __repr__(self):
        raise RuntimeError("no words")


def test_values_without_a_text_can_be_tried():
    """And named, by their type, where a fit fails."""
    X, y = two_classes(120)
    grid = [{"mark": [Unspeakable(), Unspeakable()]}, {"alpha": [-1.0]}]
    search = RaceGridSearchCV(Marked(), grid)
    with pytest.warns(FitFailedWarning, match="alpha"):
        search.fit(X, y)
    assert isinstance(search.best_params_["mark"], Unspeakable)
    grid = {"mark": [Unspeakable()], "alpha": [-1.0, -2.0]}
    search = RaceGridSearchCV(Marked(), grid)
    with pytest.raises(AllFitsFailedError, match="mark=<Unspeakable>"):
        search.fit(X, y)


# --- settings that are not numbers ----------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (name, value)
        for name in sorted(set(TrackAndConfirm().get_params()) - {"widen"})
        for value in ("a", None, [1], float("nan"), 1 + 2j)
        # Without a limit on the rows is a choice.
        if value is not None or not name.startswith("max_") or name == "max_survivors"
    ],
)
def test_settings_of_the_default_strategy_must_be_numbers(name, value):
    X, y = two_classes(200)
    strategy = TrackAndConfirm(**{name: value})
    search = RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, strategy=strategy)
    with pytest.raises(InvalidInputError, match=f"{name}="):
        search.fit(X, y)


@pytest.mark.parametrize("strategy", ["track_and_confirm", "cvst", "cross_validation"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_scorers_that_give_infinity_to_all_are_told_of_once(strategy, value):
    """Infinity less infinity is NaN, of which NumPy would warn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    search = RaceGridSearchCV(
        Ridge(),
        {"alpha": [0.1, 1.0, 10.0]},
        scoring=lambda estimator, X, y: value,
        strategy=strategy,
        random_state=0,
    )
    with pytest.warns(CVSTWarning, match="test scores are non-finite") as told:
        search.fit(X, X[:, 0])
    assert not [one for one in told if issubclass(one.category, RuntimeWarning)]
    assert search.best_index_ == 0
