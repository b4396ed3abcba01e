"""Parsimony: p-values against the best, and the simplest that is not worse."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from cvst import CrossValidation, RaceGridSearchCV, SimplestNotWorse, load_checkpoint
from cvst.exceptions import InvalidInputError
from cvst.statistics import paired_excess_test

DEPTHS = {"max_depth": [1, 2, 3, 5, 8, None]}


@pytest.fixture(scope="module")
def classes():
    return make_classification(
        300, 8, n_informative=4, flip_y=0.1, class_sep=0.7, random_state=0
    )


def tree_search(**options):
    settings = {"strategy": CrossValidation(), "random_state": 0, **options}
    return RaceGridSearchCV(DecisionTreeClassifier(random_state=0), DEPTHS, **settings)


def out_of_fold(search):
    """Return the losses of all configurations on all rows, by row."""
    n_rows = sum(len(rows) for _, rows, _ in search.pointwise_losses_)
    table = np.full((len(search.cv_results_["params"]), n_rows), np.nan)
    for configurations, rows, losses in search.pointwise_losses_:
        table[np.ix_(configurations, rows)] = losses
    return table


def test_p_values_of_right_and_wrong_are_those_of_a_binomial_test(classes):
    search = tree_search(return_pointwise=True).fit(*classes)
    table, best = out_of_fold(search), search.best_index_
    for number, p_value in enumerate(search.cv_results_["p_value_against_best"]):
        worse = int(np.sum(table[number] > table[best]))
        better = int(np.sum(table[number] < table[best]))
        expected = 1.0
        if worse + better:
            test = stats.binomtest(worse, worse + better, alternative="greater")
            expected = test.pvalue
        assert p_value == pytest.approx(expected)
    assert search.cv_results_["p_value_against_best"].min() < 0.05


def test_p_values_of_numbers_are_those_of_the_race_and_never_below_students():
    X, y = make_regression(400, 10, noise=30.0, random_state=0)
    search = RaceGridSearchCV(
        Ridge(),
        {"alpha": [0.1, 10.0, 100.0, 300.0]},
        strategy=CrossValidation(),
        scoring="neg_mean_squared_error",
        return_pointwise=True,
        random_state=0,
    ).fit(X, y)
    table, best = out_of_fold(search), search.best_index_
    p_values = search.cv_results_["p_value_against_best"]
    assert p_values[best] == 1
    for number in set(range(4)) - {best}:
        plain = stats.ttest_rel(table[number], table[best], alternative="greater")
        assert p_values[number] >= plain.pvalue * (1 - 1e-9)
        guarded = paired_excess_test([table[number] - table[best]])[0]
        assert p_values[number] == pytest.approx(guarded)


def test_what_was_dropped_before_has_no_p_value():
    X, y = make_regression(600, 8, noise=10.0, random_state=0)
    grid = {"alpha": np.logspace(-3, 7, 40).tolist()}
    search = RaceGridSearchCV(Ridge(), grid, random_state=0).fit(X, y)
    results = search.cv_results_
    known = np.isfinite(results["p_value_against_best"])
    assert 1 < known.sum() < len(known)
    # All of one stage ran the same folds, whichever came out first.
    folds = [
        seen.look.configurations
        for seen in search.race_.observations
        if seen.look.is_fold
    ]
    assert set(np.flatnonzero(known)) <= set(np.concatenate(folds))


def test_the_simplest_of_those_that_are_not_worse(classes):
    plain, simple = tree_search(), tree_search(refit=SimplestNotWorse("max_depth:+"))
    plain.fit(*classes)
    simple.fit(*classes)
    p_values = plain.cv_results_["p_value_against_best"]
    depths = [np.inf if d is None else d for d in DEPTHS["max_depth"]]
    allowed = [d for d, p in zip(depths, p_values, strict=True) if p > 0.05]
    assert simple.best_params_["max_depth"] == min(allowed)
    assert simple.best_estimator_.max_depth == min(allowed)
    assert simple.best_params_ != plain.best_params_
    # The p-values stay those against the best of the race.
    assert np.array_equal(p_values, simple.cv_results_["p_value_against_best"])


@pytest.mark.parametrize("as_function", [False, True])
def test_orders_and_keys_say_the_same(as_function):
    results = {
        "params": [
            {"alpha": 1.0, "depth": 3},
            {"alpha": 10.0, "depth": 2},
            {"alpha": 10.0, "depth": 1},
            {"alpha": 99.0, "depth": 1},
        ],
        "p_value_against_best": np.array([1.0, 0.3, 0.2, np.nan]),
    }
    order = ["alpha:-", "depth:+"]
    if as_function:
        order = lambda one: (-one["alpha"], one["depth"])  # noqa: E731
    assert SimplestNotWorse(order)(results) == 2
    assert SimplestNotWorse(order, level=0.25)(results) == 1
    assert SimplestNotWorse(order, level=0.5)(results) == 0


def test_equally_simple_ones_are_taken_by_the_test():
    results = {
        "params": [{"alpha": 1.0, "b": n} for n in range(3)],
        "p_value_against_best": np.array([0.2, 1.0, 0.4]),
    }
    assert SimplestNotWorse("alpha:-")(results) == 1


def test_it_is_cloned_pickled_and_kept_in_checkpoints(classes, tmp_path):
    file = tmp_path / "race"
    search = tree_search(refit=SimplestNotWorse("max_depth:+"), checkpoint=file)
    fitted = clone(search).fit(*classes)
    again = clone(search).fit(*classes)
    assert again.best_params_ == fitted.best_params_
    assert pickle.loads(pickle.dumps(fitted)).refit == search.refit
    stored = load_checkpoint(file).cv_results_["p_value_against_best"]
    assert np.array_equal(stored, fitted.cv_results_["p_value_against_best"])
    with pytest.raises(InvalidInputError, match="refit was"):
        tree_search(refit=SimplestNotWorse("max_depth:-"), checkpoint=file).fit(
            *classes
        )


def test_the_level_can_be_set_like_any_parameter(classes):
    search = tree_search().set_params(refit=SimplestNotWorse("max_depth:+", 0.99))
    assert search.get_params()["refit"].level == 0.99
    plain = tree_search().fit(*classes)
    assert search.fit(*classes).best_params_ == plain.best_params_


def test_with_several_scores_the_raced_one_counts(classes):
    scores = {"scoring": ["accuracy", "roc_auc"], "race_by": "accuracy"}
    search = tree_search(refit=SimplestNotWorse("max_depth:+"), **scores).fit(*classes)
    one = tree_search(refit=SimplestNotWorse("max_depth:+"), scoring="accuracy")
    assert search.best_params_ == one.fit(*classes).best_params_


@pytest.mark.parametrize(
    ("simplest", "words"),
    [
        ("max_depth", "'max_depth:+' if larger values are more complex"),
        ("max_depth:up", "does not say which values are simple"),
        (["max_depth:+", ""], "does not say which values are simple"),
        ([], "must be text such as 'alpha:-'"),
        (3, "must be text such as 'alpha:-'"),
    ],
)
def test_an_order_without_direction_is_refused_at_once(simplest, words):
    with pytest.raises(InvalidInputError) as caught:
        SimplestNotWorse(simplest)
    assert words in str(caught.value)


def bad_number(configuration):
    return "simple"


def no_number(configuration):
    return None


def two_or_three(configuration):
    return (1, 2) if configuration["max_depth"] == 1 else (1, 2, 3)


@pytest.mark.parametrize(
    ("simplest", "words"),
    [
        ("depth:+", "names 'depth', which is not a parameter of the search"),
        (bad_number, "bad_number returned 'simple'"),
        (no_number, "no_number returned None"),
        (two_or_three, "tuples of 2 and of 3 numbers"),
    ],
)
def test_what_does_not_fit_the_grid_is_refused_before_any_fit(classes, simplest, words):
    search = tree_search(refit=SimplestNotWorse(simplest))
    with pytest.raises(InvalidInputError, match=words):
        search.fit(*classes)
    assert not hasattr(search, "race_")


def test_names_cannot_be_ordered():
    rule = SimplestNotWorse("criterion:+")
    with pytest.raises(InvalidInputError, match="'gini', which is not a number"):
        rule.keys([{"criterion": "gini"}])


@pytest.mark.parametrize("level", [-0.1, 1.0, "low"])
def test_a_level_is_a_share(level):
    with pytest.raises(InvalidInputError, match="level="):
        SimplestNotWorse("alpha:-", level)


def test_a_search_without_p_values_is_told_so(classes):
    search = GridSearchCV(
        DecisionTreeClassifier(), DEPTHS, refit=SimplestNotWorse("max_depth:+")
    )
    with pytest.raises(InvalidInputError, match="only races have"):
        search.fit(*classes)


@pytest.mark.parametrize("simplest", ["p:+", lambda one: one["p"]])
def test_numbers_that_no_float_holds_are_the_least_simple(simplest):
    keys = SimplestNotWorse(simplest).keys(
        [{"p": 1}, {"p": 10**400}, {"p": -(10**400)}]
    )
    assert sorted(range(3), key=keys.__getitem__) == [2, 0, 1]
