"""Models that stand in for plain fits: a scorer must not be able to tell them apart."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from cvst import RaceGridSearchCV
from cvst.evaluation import OneByOne, Task, batch_evaluator_for
from cvst.evaluation._protocol import RaceRows, Scratch
from cvst.evaluation.machinery import MODEL, StandIns

CLASSES = make_classification(240, 6, n_informative=4, flip_y=0.2, random_state=0)
NUMBERS = make_regression(240, 6, noise=20.0, random_state=0)

MODELS = {
    "boosting": (
        GradientBoostingClassifier(random_state=0, max_depth=2),
        {"n_estimators": [3, 6, 9]},
    ),
    "lightgbm": (
        LGBMClassifier(n_jobs=1, verbose=-1, random_state=0),
        {"n_estimators": [3, 6, 9]},
    ),
    "forest": (RandomForestClassifier(random_state=0), {"n_estimators": [3, 6, 9]}),
    "neighbours": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 9]}),
    "svm": (SVC(gamma=0.2), {"C": [0.1, 1.0, 10.0]}),
    "pipeline": (
        make_pipeline(StandardScaler(), SVC(gamma=0.2)),
        {"svc__C": [0.1, 1.0, 10.0]},
    ),
    "ridge": (Ridge(), {"alpha": [0.1, 1.0, 10.0]}),
    "kernel ridge": (KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0, 10.0]}),
}


def task_of(name):
    model, grid = MODELS[name]
    X, y = CLASSES if is_classifier(model) else NUMBERS
    ((key, values),) = grid.items()
    numbered = {3 * i: {key: value} for i, value in enumerate(values)}
    return Task(model, numbered, X[:160], y[:160], X[160:], response=MODEL), y[160:]


def answers(model, X):
    """Return all that a model answers about some rows."""
    methods = "predict", "predict_proba", "decision_function"
    return [getattr(model, one)(X) for one in methods if hasattr(model, one)]


def truth_or_error(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error)


def equal(mine, theirs):
    if isinstance(theirs, (list, tuple)):
        return len(mine) == len(theirs) and all(map(equal, mine, theirs))
    if theirs is None or isinstance(theirs, type | str):
        return mine == theirs
    return np.shape(mine) == np.shape(theirs) and np.allclose(mine, theirs, atol=1e-6)


def changed(model, X):
    """Ask for other numbers than those of the fit, as a scorer should not."""
    if hasattr(model, "n_neighbors"):
        model.n_neighbors = 2
    return model.predict(X)


# What scorers may do with a model; each is asked of a stand-in and of a plain fit.
DEEDS = {
    "all responses": answers,
    "other rows": lambda model, X: answers(model, X[:7] + 0.1),
    "a part": lambda model, X: answers(model, X[10:30]),
    "twice": lambda model, X: [answers(model, X), answers(model, X)],
    "labels": lambda model, X: model.classes_,
    "labels, then answers": lambda model, X: [model.classes_, model.predict(X)],
    "log of shares": lambda model, X: model.predict_log_proba(X),
    "kind": lambda model, X: [is_classifier(model), type(model).__name__],
    "whole name": lambda model, X: str(type(model)),
    "text": lambda model, X: repr(model),
    "parameters": lambda model, X: str(sorted(model.get_params(deep=False))),
    "coefficients": lambda model, X: model.coef_,
    "importances": lambda model, X: model.feature_importances_,
    "booster": lambda model, X: model.booster_.num_trees(),
    "neighbours": lambda model, X: model.kneighbors(X[:5]),
    "members": lambda model, X: len(model.estimators_),
    "last step": lambda model, X: model[-1].support_vectors_,
    "steps by name": lambda model, X: model.named_steps["svc"].dual_coef_,
    "columns": lambda model, X: model.n_features_in_,
    "fitted": lambda model, X: check_is_fitted(model) is None,
    "own variables": lambda model, X: str(sorted(vars(model))),
    "nothing of the kind": lambda model, X: model.no_such_thing_,
    "clone": lambda model, X: [
        type(clone(model)) is type(model),
        truth_or_error(clone(model).predict, X),
    ],
    "copy": lambda model, X: answers(copy.copy(model), X),
    "deep copy": lambda model, X: answers(copy.deepcopy(model), X),
    "pickle": lambda model, X: answers(pickle.loads(pickle.dumps(model)), X),
    "changed": changed,
    "deleted": lambda model, X: delattr(model, "n_features_in_"),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_stand_in_does_what_a_plain_fit_does(name):
    task, _ = task_of(name)
    evaluator = StandIns(batch_evaluator_for(task.estimator))
    for what, deed in DEEDS.items():
        mine = {one.configuration: one for one in evaluator.evaluate(task)}
        assert sorted(mine) == sorted(task.configurations)
        for theirs in OneByOne().evaluate(task):
            (model, X), plain = mine[theirs.configuration].prediction, theirs.prediction
            assert isinstance(model, type(plain.model))
            expected = truth_or_error(deed, *plain)
            assert equal(truth_or_error(deed, model, X), expected), what


@pytest.mark.parametrize("name", MODELS)
def test_blocks_of_rows_are_parts_of_the_whole(name):
    task, _ = task_of(name)
    evaluator = StandIns(batch_evaluator_for(task.estimator))
    rows = np.array([0, 5, 7, 20])
    for outcome in evaluator.evaluate(task):
        whole = outcome.prediction.model.predict(outcome.prediction.X)
        model, X = outcome.prediction.at(rows)
        np.testing.assert_array_equal(model.predict(X), whole[rows])
        np.testing.assert_array_equal(model.predict(outcome.prediction.X), whole)


def test_what_a_scorer_writes_into_its_predictions_is_its_own():
    task, _ = task_of("svm")
    for outcome in StandIns(batch_evaluator_for(SVC())).evaluate(task):
        model, X = outcome.prediction
        first = model.predict(X)
        model.predict(X)[:] = -1
        np.testing.assert_array_equal(model.predict(X), first)


class CountedFits(Ridge):
    """Counts its own fits."""

    n_fits = 0

    def fit(self, X, y):
        type(self).n_fits += 1
        return super().fit(X, y)


class SharedByRidge:
    """Shares what Ridge shares, so that only plain fits are counted."""

    prefer = "threads"

    def groups(self, estimator, configurations):
        return batch_evaluator_for(Ridge()).groups(Ridge(), configurations)

    def evaluate(self, task):
        task = replace(task, estimator=Ridge())
        yield from batch_evaluator_for(Ridge()).evaluate(task)


def test_predictions_take_no_fit_of_their_own_and_the_rest_takes_one():
    task, _ = task_of("ridge")
    task = replace(task, estimator=CountedFits())
    CountedFits.n_fits = 0
    models = [one.prediction for one in StandIns(SharedByRidge()).evaluate(task)]
    for model, X in models:
        model.predict(X)
        assert model.alpha in (0.1, 1.0, 10.0)
    assert CountedFits.n_fits == 0
    for model, X in models:
        assert len(model.coef_) == X.shape[1]
        model.predict(X[:3])
    assert CountedFits.n_fits == len(models)


class CountedClones(Ridge):
    """Counts how often one is made."""

    n_made = 0

    def __init__(self, alpha=1.0):
        type(self).n_made += 1
        super().__init__(alpha=alpha)


@pytest.mark.parametrize("is_large", [False, True])
def test_models_stand_in_anew_only_for_other_values(is_large):
    """A look may change the values of a configuration, but hardly ever does."""
    task, _ = task_of("ridge")
    X, scratch = NUMBERS[0], Scratch()
    template = CountedClones()
    template.alpha = np.ones(3) if is_large else 1.0
    for alphas, n_made in [((0.1, 1.0), 2), ((0.1, 1.0), 0), ((0.1, 1), 1)]:
        look = replace(
            task,
            estimator=template,
            configurations={n: {"alpha": alpha} for n, alpha in enumerate(alphas)},
            race_rows=RaceRows(X, slice(0, 160), slice(160, 240), scratch.for_a_look()),
        )
        before = CountedClones.n_made
        for outcome, alpha in zip(
            StandIns(Shared()).evaluate(look), alphas, strict=True
        ):
            model = outcome.prediction.model
            assert type(model.alpha) is type(alpha)
            assert model.alpha == alpha
        # What may be large is not kept.
        expected = len(alphas) if is_large else n_made
        assert CountedClones.n_made - before == expected


class Shared(SharedByRidge):
    """One group of all, and no work yet."""

    def groups(self, estimator, configurations):
        return [list(configurations)]


def test_a_fit_that_fails_fails():
    task, _ = task_of("ridge")
    numbered = {0: {"alpha": 1.0}, 1: {"alpha": -1.0}, 2: {"alpha": 2.0}}
    task = replace(task, configurations=numbered)
    found = {}
    for outcome in StandIns(batch_evaluator_for(Ridge())).evaluate(task):
        model, X = outcome.prediction
        found[outcome.configuration] = truth_or_error(model.predict, X)
    assert issubclass(found[1], ValueError)
    assert len(found[0]) == len(found[2]) == 80


class TooLarge:
    """Runs out of memory, as long as there are several."""

    prefer = "threads"

    def groups(self, estimator, configurations):
        return [list(configurations)]

    def evaluate(self, task):
        raise MemoryError
        yield


def test_without_memory_for_shared_work_each_is_fitted_alone(caplog):
    caplog.set_level("INFO", logger="cvst")
    task, _ = task_of("ridge")
    mine = {one.configuration: one for one in StandIns(TooLarge()).evaluate(task)}
    for theirs in OneByOne().evaluate(task):
        model, X = mine[theirs.configuration].prediction
        np.testing.assert_array_equal(
            model.predict(X), theirs.prediction.model.predict(X)
        )
    assert "fitted one by one: sharing failed with MemoryError" in caplog.text


def asks_for_shares(estimator, X, y):
    shown = "predict_proba" if hasattr(estimator, "predict_proba") else "predict"
    said = getattr(estimator, shown)(X)
    return float(np.mean((said[:, 1] if said.ndim > 1 else said) * (2 * y - 1)))


def asks_for_all(estimator, X, y):
    vars(estimator)
    return asks_for_shares(estimator, X, y)


def asks_a_named_score(estimator, X, y):
    """Ask a scorer of scikit-learn, which wants to know the names of methods."""
    return get_scorer("balanced_accuracy")(estimator, X, y)


@pytest.mark.parametrize("name", ["boosting", "lightgbm", "neighbours", "pipeline"])
@pytest.mark.parametrize("scorer", [asks_for_shares, asks_for_all, asks_a_named_score])
def test_a_race_on_a_callable_is_that_of_plain_fits(name, scorer, monkeypatch):
    model, grid = MODELS[name]
    found = []
    for shared in (True, False):
        if not shared:
            monkeypatch.setattr("cvst.search._evaluator.StandIns", lambda _: OneByOne())
        search = RaceGridSearchCV(model, grid, scoring=scorer, random_state=0)
        found.append(search.fit(*CLASSES))
    mine, plain = found
    assert mine.best_index_ == plain.best_index_
    for column in ("mean_test_score", "std_test_score", "rank_test_score"):
        np.testing.assert_allclose(
            mine.cv_results_[column], plain.cv_results_[column], atol=1e-6
        )
    for one, other in zip(
        mine.race_.observations, plain.race_.observations, strict=True
    ):
        np.testing.assert_allclose(one.losses, other.losses, atol=1e-6)


def test_times_of_fits_are_told_though_fits_come_late():
    model, grid = MODELS["boosting"]
    search = RaceGridSearchCV(model, grid, scoring=asks_for_shares, random_state=0)
    search.fit(*CLASSES)
    assert np.all(search.cv_results_["mean_fit_time"] > 0)


def test_parameters_that_fail_fail_though_nothing_is_asked():
    search = RaceGridSearchCV(
        Ridge(),
        {"alpha": [1.0, -1.0, 2.0]},
        scoring=lambda estimator, X, y: float(len(y)),
        random_state=0,
    )
    with pytest.warns(FitFailedWarning, match="alpha"):
        search.fit(*NUMBERS)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("model", "stands_in"),
    [
        (SVC(gamma=0.2), True),
        (make_pipeline(StandardScaler(), SVC(gamma=0.2)), True),
        (LogisticRegression(), True),
        (RandomForestClassifier(random_state=0), False),
    ],
    ids=str,
)
def test_one_alone_goes_the_way_of_the_others_where_it_is_another_one(model, stands_in):
    """So that a callable compares models that were all made in the same way."""
    X, y = CLASSES
    task = Task(model, {7: {}}, X[:160], y[:160], X[160:], response=MODEL)
    evaluator = batch_evaluator_for(model)
    (outcome,) = StandIns(evaluator).evaluate(task)
    found = outcome.prediction
    assert (type(found.model) is not type(model)) == stands_in
    (shared,) = evaluator.evaluate(replace(task, response="predict"))
    np.testing.assert_array_equal(found.model.predict(found.X), shared.prediction)
