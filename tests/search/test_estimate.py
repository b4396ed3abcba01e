"""What the winner will score on new rows: ``best_score_estimate_``."""

from __future__ import annotations

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    make_classification,
    make_regression,
)
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, mean_squared_error
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from cvst import (
    CVST,
    CrossValidation,
    PointwiseLoss,
    RaceGridSearchCV,
    RaceSearchCV,
    SimplestNotWorse,
)
from cvst.exceptions import CVSTWarning
from cvst.race import TrackAndConfirm
from cvst.search import ScoreEstimate
from cvst.search.estimate import Evidence, Growth
from cvst.search.estimate._growth import USUAL
from cvst.search.estimate._score_estimate import _of_many_rows
from cvst.statistics import corrected_best, standard_error_of_mean

GRID = {"n_neighbors": [1, 3, 5, 9, 15, 21, 30]}
STRATEGIES = {
    "folds": CrossValidation(),
    "few": TrackAndConfirm(),
    "subsets and a final": TrackAndConfirm(direct_below=0, min_rows=40),
    "paper": CVST(max_steps=8),
}


@pytest.fixture(scope="module")
def classes():
    return make_classification(
        300, 6, n_informative=4, flip_y=0.2, class_sep=0.8, random_state=0
    )


@pytest.fixture(scope="module")
def numbers():
    return make_regression(240, 6, noise=40.0, random_state=0)


def neighbours(**options):
    # Fewer folds than a plain search has leave room for the looks at half the rows.
    settings = {"strategy": CrossValidation(4), "random_state": 0, **options}
    return RaceGridSearchCV(KNeighborsClassifier(), GRID, **settings)


def half_scores(search, X, y, score, n_folds=2):
    """Fit the winner to the last half, in race order, of the rows of some folds."""
    order = search_order(search, X)
    scores = []
    for seen in search.race_.observations[:n_folds]:
        train = order[np.sort(seen.look.train)]
        half = train[len(train) // 2 :]
        model = clone(search.estimator).set_params(**search.best_params_)
        model.fit(X[half], y[half])
        test = order[seen.look.test]
        scores.append(score(y[test], model.predict(X[test])))
    return scores


def search_order(search, X):
    """Return the original row of each row of the race, from the rows of the losses."""
    order = np.empty(len(X), dtype=int)
    for seen, (_, rows, _) in zip(
        search.race_.observations, search.pointwise_losses_, strict=True
    ):
        order[seen.look.test] = rows
    return order


def test_it_is_the_score_less_the_optimism_and_the_growth(classes):
    """Optimism by the losses that the user sees, growth by fits of one's own."""
    X, y = classes
    search = neighbours(return_pointwise=True).fit(X, y)
    told = search.best_score_estimate_
    table = np.hstack([1 - losses for _, _, losses in search.pointwise_losses_])
    assert all(len(rows) == 75 for _, rows, _ in search.pointwise_losses_)
    found = corrected_best(table, seed=search.race_.problem.seed)
    assert told.evidence.optimism == pytest.approx(found.optimism)
    assert told.optimism == told.evidence.optimism > 0
    halves = half_scores(search, X, y, accuracy_score)
    first = [
        search.cv_results_[f"look{n}_test_score"][search.best_index_] for n in (1, 2)
    ]
    gain = np.mean(first) - np.mean(halves) - told.optimism
    shrink = (225**-0.7 - 300**-0.7) / (113**-0.7 - 225**-0.7)
    assert told.growth == pytest.approx(shrink * gain)
    assert told.value == pytest.approx(search.best_score_ - told.optimism + told.growth)
    assert told.n_configurations == 7


def test_those_that_left_count_on_the_folds_they_ran(classes):
    """On the others they are as good as the winner, by the losses the user sees."""
    search = RaceGridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 2, 3, 5, 8, 12], "min_samples_leaf": [1, 5, 20]},
        scoring="roc_auc",
        strategy=TrackAndConfirm(final_folds=5),
        return_pointwise=True,
        random_state=0,
    ).fit(*classes)
    state, best = search.race_, search.best_index_
    table = []
    for look, (members, _, losses) in enumerate(search.pointwise_losses_, start=1):
        scores = search.cv_results_[f"look{look}_test_score"][members]
        values = scores[:, np.newaxis] - (losses - losses.mean(axis=1, keepdims=True))
        winner = values[list(members).index(best)]
        table.append(np.tile(winner, (state.n_configurations, 1)))
        table[-1][members] = values
    ran = [len(members) for members, _, _ in search.pointwise_losses_]
    assert ran[0] == state.n_configurations > ran[2] > ran[-1] > 1
    told, seed = search.best_score_estimate_, state.problem.seed
    found = corrected_best(np.hstack(table), seed=seed)
    assert found.best == best
    assert told.evidence.optimism == pytest.approx(found.optimism)
    assert told.n_configurations == state.n_configurations
    stayed = corrected_best(np.hstack(table)[members], seed=seed)
    assert found.optimism > 1.5 * stayed.optimism


def test_a_root_is_linearised_at_the_winner(numbers):
    """Values of rows have the mean and the spread of the score, whatever its curve."""
    X, y = numbers
    search = RaceGridSearchCV(
        KNeighborsRegressor(),
        GRID,
        scoring="neg_root_mean_squared_error",
        strategy=CrossValidation(4),
        return_pointwise=True,
        random_state=0,
    ).fit(X, y)
    told, best = search.best_score_estimate_, search.best_index_
    values = []
    for _, _, losses in search.pointwise_losses_:
        root = np.sqrt(losses.mean(axis=1, keepdims=True))
        values.append(-root - (losses - root**2) / (2 * root))
    table = np.hstack(values)
    assert told.evidence.optimism == pytest.approx(
        corrected_best(table, seed=search.race_.problem.seed).optimism
    )
    assert told.evidence.error == pytest.approx(standard_error_of_mean(table[best])[0])
    halves = half_scores(search, X, y, lambda y, p: -(mean_squared_error(y, p) ** 0.5))
    first = [search.cv_results_[f"look{n}_test_score"][best] for n in (1, 2)]
    shrink = (180**-0.7 - 240**-0.7) / (90**-0.7 - 180**-0.7)
    gain = np.mean(first) - np.mean(halves) - told.optimism
    assert told.growth == pytest.approx(shrink * gain)


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_every_strategy_has_one(classes, strategy):
    search = neighbours(strategy=strategy).fit(*classes)
    told = search.best_score_estimate_
    assert told.low < told.value < told.high
    assert told.low >= 0
    assert told.high <= 1
    assert told.level == 0.9
    assert told.optimism >= 0
    assert told.n_configurations > 1


def test_a_race_that_proposes_has_one(classes):
    search = RaceSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 2, 4, 8], "min_samples_leaf": [1, 5, 20]},
        n_iter=6,
        random_state=0,
    ).fit(*classes)
    told = search.best_score_estimate_
    assert told.low < told.value < told.high


def test_the_number_of_workers_does_not_matter(classes):
    one = neighbours(n_jobs=1, strategy=TrackAndConfirm()).fit(*classes)
    two = neighbours(n_jobs=2, strategy=TrackAndConfirm()).fit(*classes)
    assert one.best_score_estimate_ == two.best_score_estimate_
    again = neighbours(strategy=TrackAndConfirm()).fit(*classes)
    assert again.best_score_estimate_ == one.best_score_estimate_


def test_the_growth_of_a_race_with_subsets_needs_no_further_fit(classes, monkeypatch):
    def refuse(source):
        return lambda look: pytest.fail("a further look")

    monkeypatch.setattr("cvst.search._fitted.look_again_at", refuse)
    grid = {"max_depth": [1, 2, 3, 4, 5, 6], "min_samples_leaf": [1, 2, 4, 8, 16, 32]}
    search = RaceGridSearchCV(
        DecisionTreeClassifier(random_state=0), grid, random_state=0
    ).fit(*classes)
    told, state = search.best_score_estimate_, search.race_
    assert {"confirm", "final"} <= {seen.look.stage for seen in state.observations}
    assert told.evidence.growth.left > 0
    assert not told.evidence.growth.lucky
    # The table is that of the confirmation, which has more than the last few.
    finalists = state.observations[-1].look.configurations
    assert told.n_configurations > len(finalists)


def test_weights_count_like_repeated_rows(numbers):
    """With weights of 0 and 1, the estimate is that of the rows of weight 1."""
    X, y = numbers
    weights = np.ones(len(y))
    plain = RaceGridSearchCV(
        Ridge(),
        {"alpha": [0.1, 1.0, 10.0, 100.0]},
        strategy=CrossValidation(),
        scoring="neg_mean_squared_error",
        random_state=0,
    )
    same = clone(plain).fit(X, y, sample_weight=weights).best_score_estimate_
    told = clone(plain).fit(X, y).best_score_estimate_
    assert same.value == pytest.approx(told.value)
    assert (same.low, same.high) == pytest.approx((told.low, told.high))
    weights[::4] = 0
    fewer = clone(plain).fit(X, y, sample_weight=weights).best_score_estimate_
    assert fewer.evidence.freedom < 0.8 * told.evidence.freedom
    heavy = np.where(np.arange(len(y)) < 20, 50.0, 1.0)
    uneven = clone(plain).fit(X, y, sample_weight=heavy).best_score_estimate_
    assert uneven.high - uneven.low > told.high - told.low


def test_rows_of_a_group_count_as_one(classes):
    X, y = classes
    X, y = X[:60], y[:60]
    groups = np.repeat(np.arange(60), 5)
    X, y = np.repeat(X, 5, axis=0), np.repeat(y, 5)
    X = X + np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
    search = neighbours()
    told = clone(search).fit(X, y, groups=groups).best_score_estimate_
    assert told.evidence.freedom == pytest.approx(59, abs=2)
    free = clone(search).fit(X, y).best_score_estimate_
    assert told.evidence.error > 1.5 * free.evidence.error


def test_losses_of_ones_own_have_the_sign_of_the_score(numbers):
    X, y = numbers
    loss = PointwiseLoss(lambda y, p: np.abs(y - p), name="absolute")
    grid = {"alpha": [0.1, 1.0, 10.0]}
    settings = {"strategy": CrossValidation(), "random_state": 0}
    own = RaceGridSearchCV(Ridge(), grid, scoring=loss, **settings).fit(X, y)
    known = RaceGridSearchCV(
        Ridge(), grid, scoring="neg_mean_absolute_error", **settings
    ).fit(X, y)
    assert own.best_score_estimate_.value == pytest.approx(
        known.best_score_estimate_.value
    )
    assert own.best_score_estimate_.value < 0


def test_losses_of_0_and_1_of_ones_own_lie_between_minus_1_and_0(classes):
    wrong = PointwiseLoss(lambda y, p: (y != p).astype(float), name="wrong")
    own = neighbours(scoring=wrong).fit(*classes).best_score_estimate_
    known = neighbours(scoring="accuracy").fit(*classes).best_score_estimate_
    assert own.value == pytest.approx(known.value - 1)
    assert (own.low, own.high) == pytest.approx((known.low - 1, known.high - 1))


def test_a_score_without_errors_still_has_an_interval():
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y, 9, -9)
    told = neighbours().fit(X, y).best_score_estimate_
    assert told.value == 1
    assert 0.97 < told.low < 0.995
    assert told.high == 1


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "neg_log_loss", "r2"])
def test_scores_of_all_kinds(classes, scoring):
    estimator, grid = LogisticRegression(), {"C": [0.001, 0.1, 10.0]}
    if scoring == "r2":
        estimator, grid = Ridge(), {"alpha": [0.1, 10.0]}
    search = RaceGridSearchCV(estimator, grid, scoring=scoring, random_state=0)
    told = search.fit(*classes).best_score_estimate_
    assert told.low < told.value < told.high
    assert abs(told.value - search.best_score_) < 0.1


@pytest.mark.parametrize("explained", [0.0, 0.3, 0.6, 0.9])
def test_r2_of_few_rows_is_that_of_many(explained):
    """The mean r2 of many small samples, scored by the best model, is too low."""
    rng = np.random.default_rng(0)
    n_points = 40
    best, error = rng.normal(size=(2, 20_000, n_points))
    y = np.sqrt(explained) * best + np.sqrt(1 - explained) * error
    scores = 1 - (1 - explained) * np.mean(error**2, axis=1) / y.var(axis=1)
    looks = [SimpleNamespace(n_test=n_points)] * len(scores)
    table = SimpleNamespace(scores=scores[None], looks=looks)
    assert scores.mean() + _of_many_rows(table, 0) == pytest.approx(explained, abs=3e-3)
    assert scores.mean() < explained - 5e-3


def test_r2_is_judged_as_that_of_many_rows(numbers):
    search = RaceGridSearchCV(
        Ridge(), {"alpha": [1.0, 100.0]}, strategy=CrossValidation(), random_state=0
    ).fit(*numbers)
    told, folds = search.best_score_estimate_, []
    for number in range(1, 6):
        score = search.cv_results_[f"look{number}_test_score"][search.best_index_]
        folds.append(score + (1 - score) / 48 * (1 + 2 * search.best_score_))
    assert told.evidence.score == pytest.approx(np.mean(folds))
    assert told.evidence.score > search.best_score_


def test_several_scores_are_judged_by_the_raced_one(classes):
    several = neighbours(scoring=["accuracy", "f1"], refit="accuracy").fit(*classes)
    one = neighbours(scoring="accuracy").fit(*classes)
    assert several.best_score_estimate_ == one.best_score_estimate_


def test_a_separate_test_set_trains_on_all_rows(classes):
    X, y = classes
    search = neighbours(strategy=TrackAndConfirm())
    search.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    told = search.best_score_estimate_
    assert told.growth == 0
    assert told.evidence.freedom == pytest.approx(99)
    assert told.value == pytest.approx(search.best_score_ - told.optimism)


def test_one_that_fails_is_left_out(classes):
    grid = {"n_neighbors": [3, 9, 25, 100_000]}
    search = RaceGridSearchCV(
        KNeighborsClassifier(),
        grid,
        strategy=CrossValidation(),
        random_state=0,
        error_score=0.0,
    )
    with pytest.warns(FitFailedWarning, match="1 of 4 configurations failed"):
        search.fit(*classes)
    without = RaceGridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": [3, 9, 25]},
        strategy=CrossValidation(),
        random_state=0,
    ).fit(*classes)
    told = search.best_score_estimate_
    assert told.n_configurations == 3
    assert told.value == pytest.approx(without.best_score_estimate_.value)


def test_a_winner_that_was_chosen_for_other_reasons_owes_less_to_luck(classes):
    five = {"strategy": CrossValidation()}
    plain = neighbours(**five).fit(*classes)
    simple = neighbours(refit=SimplestNotWorse("n_neighbors:-"), **five).fit(*classes)
    assert simple.best_index_ != plain.best_index_
    behind = plain.best_score_ - simple.best_score_
    expected = max(0, plain.best_score_estimate_.evidence.optimism - behind)
    assert simple.best_score_estimate_.evidence.optimism == pytest.approx(expected)


def test_without_kept_losses_there_is_none(classes, monkeypatch):
    monkeypatch.setattr("cvst.race._problem.MOST_KEPT", 100)
    search = neighbours().fit(*classes)
    assert search.best_score_estimate_ is None
    assert "to expect" not in search._repr_html_()
    p_values = search.cv_results_["p_value_against_best"]
    assert np.flatnonzero(np.isfinite(p_values)).tolist() == [search.best_index_]
    simple = neighbours(refit=SimplestNotWorse("n_neighbors:-")).fit(*classes)
    assert simple.best_params_ == search.best_params_


class Endless(Ridge):
    """Predicts what has no finite squared error."""

    def predict(self, X):
        return np.full(len(X), 1e200)


@pytest.mark.filterwarnings("ignore")
def test_where_all_losses_are_infinite_there_is_none(numbers):
    strategy = TrackAndConfirm(direct_below=0, min_rows=40)
    search = RaceGridSearchCV(Endless(), {"alpha": [0.1, 1.0]}, strategy=strategy)
    assert search.fit(*numbers).best_score_estimate_ is None


def test_folds_forward_in_time_have_one(numbers):
    X, y = numbers
    search = RaceGridSearchCV(
        Ridge(), {"alpha": [0.1, 10.0]}, cv=TimeSeriesSplit(4), random_state=0
    ).fit(X, y)
    told = search.best_score_estimate_
    assert told.low < told.value < told.high


def test_a_time_budget_and_partial_fits_allow_no_further_fit(classes, monkeypatch):
    def refuse(source):
        return lambda look: pytest.fail("a further look")

    monkeypatch.setattr("cvst.search._fitted.look_again_at", refuse)
    search = neighbours(strategy=TrackAndConfirm(), time_budget=60.0).fit(*classes)
    told = search.best_score_estimate_
    # Five folds, so that the usual growth is that of four fifths of the rows.
    assert told.growth == pytest.approx(0.12 * told.evidence.error, rel=0.02)
    assert told.evidence.growth.error == pytest.approx(told.growth)


def test_the_usual_growth_is_smaller_for_more_folds(classes):
    few, many = (
        neighbours(strategy=CrossValidation(n)).fit(*classes).best_score_estimate_
        for n in (5, 10)
    )
    # By the power of the rows: (0.9^-0.7 - 1) / (0.8^-0.7 - 1).
    ratio = (many.growth / many.evidence.error) / (few.growth / few.evidence.error)
    assert ratio == pytest.approx(0.452, abs=0.01)


def test_an_interrupt_of_the_further_look_keeps_the_race(classes, monkeypatch):
    def interrupted(source):
        def look_again(look):
            raise KeyboardInterrupt

        return look_again

    monkeypatch.setattr("cvst.search._fitted.look_again_at", interrupted)
    with pytest.warns(CVSTWarning, match="while it estimated.*no best_estimator_"):
        search = neighbours(on_interrupt="return").fit(*classes)
    assert search.interrupted_in_ == "estimate"
    assert search.best_params_ in search.cv_results_["params"]
    assert not hasattr(search, "best_estimator_")
    assert search.best_score_estimate_ is None


def test_pickles_and_checkpoints_keep_it(classes, tmp_path):
    plain = neighbours(strategy=TrackAndConfirm()).fit(*classes)
    told = plain.best_score_estimate_
    assert pickle.loads(pickle.dumps(plain)).best_score_estimate_ == told
    for _ in range(2):  # the second goes on with a race that is over
        search = neighbours(strategy=TrackAndConfirm(), checkpoint=tmp_path / "race")
        assert search.fit(*classes).best_score_estimate_ == told


def test_it_is_short_to_read():
    told = ScoreEstimate(0.91234, 0.88, 0.94, 0.9, 0.01, 0.002, 12, "boot<strap")
    assert repr(told) == "<ScoreEstimate 0.9123, 90 % interval 0.88 to 0.94>"
    html = told._repr_html_()
    assert "boot&lt;strap" in html
    assert "0.88 to 0.94" in html


def test_intervals_cover_as_often_as_they_say():
    """A small form of benchmarks/estimate, with a known truth."""
    inside, naive, corrected = 0, [], []
    n_draws = 30
    for draw in range(n_draws):
        rng = np.random.default_rng(draw)
        X = rng.normal(size=(80, 2))
        y = rng.normal(size=80) + 0.3 * X[:, 0]
        fresh_X = rng.normal(size=(2000, 2))
        fresh_y = rng.normal(size=2000) + 0.3 * fresh_X[:, 0]
        search = RaceGridSearchCV(
            KNeighborsRegressor(),
            {"n_neighbors": [3, 6, 12, 24]},
            scoring="neg_mean_squared_error",
            random_state=draw,
        ).fit(X, y)
        truth = -mean_squared_error(fresh_y, search.predict(fresh_X))
        told = search.best_score_estimate_
        inside += told.low <= truth <= told.high
        naive.append(search.best_score_ - truth)
        corrected.append(told.value - truth)
    assert inside / n_draws >= 0.75
    assert np.mean(corrected) < np.mean(naive)


def test_shares_of_rows_that_do_not_scatter_have_an_interval():
    """Folds may have equal shares of hits, and so no error, though rows differ."""
    known = Evidence(0.5, 0.0, Growth(), error=0.0, freedom=9.0, top=1.0)
    low, high = known.ends
    assert 0 < low < 0.5 < high < 1


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "f1_macro"])
def test_no_end_of_an_interval_is_an_impossible_score(scoring):
    """Nearly perfect models on few rows: a symmetric interval ends above 1."""
    X, y = make_classification(60, 3, n_redundant=0, class_sep=1.5, random_state=2)
    search = RaceGridSearchCV(
        LogisticRegression(),
        {"C": [0.1, 1.0]},
        scoring=scoring,
        strategy=CrossValidation(4),
        random_state=0,
    ).fit(X, y)
    told = search.best_score_estimate_
    assert told.low <= told.value <= told.high <= 1.0
    free = replace(told.evidence, lowest=-np.inf, highest=np.inf)
    assert free.ends[1] > 1.0, "the case is none"


def test_an_estimate_stays_within_the_possible_scores():
    known = Evidence(0.01, 0.05, Growth(), 0.02, 9.0, None, 0.0, 1.0)
    assert known.value == 0.0
    assert known.ends[0] == 0.0 < known.ends[1]


def by_large_blocks(estimator, X, y):
    """Return a score that exists on many rows alone."""
    found = {"hits": accuracy_score(y, estimator.predict(X))}
    return found | ({"many": found["hits"]} if len(y) > 50 else {})


def test_a_score_without_blocks_has_no_estimate(classes):
    """Single rows would stand for all, and the interval leave the possible scores."""
    options = {"scoring": by_large_blocks, "strategy": CrossValidation(5)}
    known = neighbours(refit="hits", **options).fit(*classes)
    assert known.best_score_estimate_ is not None
    search = neighbours(refit="many", **options).fit(*classes)
    assert search.best_score_ == known.best_score_
    assert search.best_score_estimate_ is None


@pytest.mark.parametrize("seed", [1, 4, 11])
def test_a_few_rows_of_the_smaller_look_make_no_growth(seed):
    """A tree of half the rows is sure of some, and wrong: each costs a loss of 36."""
    grid = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 10]}
    tree = DecisionTreeClassifier(random_state=0)
    search = RaceGridSearchCV(tree, grid, scoring="neg_log_loss", random_state=seed)
    told = search.fit(*load_breast_cancer(return_X_y=True)).best_score_estimate_
    # It is guessed; believed, it would be two to eight standard errors.
    assert told.growth == pytest.approx(USUAL * told.evidence.error, rel=0.1)
    assert told.value <= search.best_score_
