"""Suggested spaces fit their estimators: names, values, wrappers and words."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier, XGBRegressor

from cvst import RaceRandomSearchCV
from cvst.exceptions import InvalidInputError
from cvst.learners import KernelLogisticRegression
from cvst.spaces import Space, SuggestedSpace, suggest
from cvst.spaces._families import FAMILIES

N_ROWS, N_FEATURES = 60, 4
# Enough rounds to show what a thousand would, in less time.
FEW_ROUNDS = 25
# Costly members of an ensemble, cut to what a test needs.
CHEAPER = {"n_estimators": 5, "max_iter": 30}


def known_estimators():
    """Every class of scikit-learn that has a family, and the boosting libraries."""
    classes = dict(all_estimators())
    for name in sorted(FAMILIES["sklearn"]):
        yield name, classes[name]()
    yield "KernelLogisticRegression", KernelLogisticRegression()
    yield "KernelRidge rbf", KernelRidge(kernel="rbf")
    yield "KernelRidge poly", KernelRidge(kernel="poly")
    yield "SVC linear", SVC(kernel="linear")
    yield "SVR poly", SVR(kernel="poly")
    yield "LGBMClassifier", LGBMClassifier(verbosity=-1, n_jobs=1)
    yield "LGBMRegressor", LGBMRegressor(verbosity=-1, n_jobs=1)
    yield "XGBClassifier", XGBClassifier(n_jobs=1)
    yield "XGBRegressor", XGBRegressor(n_jobs=1)
    yield "XGBRegressor gblinear", XGBRegressor(n_jobs=1, booster="gblinear")
    yield "AdaBoost trees", AdaBoostClassifier(DecisionTreeClassifier())


KNOWN = dict(known_estimators())


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Small fits are slowed down by threads that wait for each other."""
    with threadpool_limits(1):
        yield


def small_data(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    y = X[:, 0] + 0.5 * rng.normal(size=N_ROWS)
    name = type(estimator).__name__
    if name in {"MultinomialNB", "ComplementNB", "CategoricalNB", "BernoulliNB"}:
        X = (X > 0).astype(int)
    if name.startswith("MultiTask"):
        return X, np.column_stack([y, -y])
    if name in {"PoissonRegressor", "GammaRegressor", "TweedieRegressor"}:
        return X, np.exp(y)
    # Two classes of equal size: nu of NuSVC has an upper bound otherwise.
    return X, (y > np.median(y)).astype(int) if is_classifier(estimator) else y


def extremes(space):
    """Each dimension at either end with the others in the middle, and two corners."""
    ends = np.maximum(np.array(space.n_choices) - 1, 1).astype(float)
    middle = np.floor(ends / 2) + 0.5 * (np.array(space.n_choices) == 0)
    points = [np.zeros_like(ends), ends]
    for column, end in enumerate(ends):
        for coordinate in {0.0, end}:
            point = middle.copy()
            point[column] = coordinate
            points.append(point)
    return [space.decode(point) for point in points]


def fitted(estimator, configuration, rounds):
    model = clone(estimator)
    params = model.get_params(deep=False)
    model.set_params(**{k: v for k, v in CHEAPER.items() if k in params})
    if "random_state" in params:
        model.set_params(random_state=0)
    if rounds is not None:
        few = min(configuration[rounds[0]], FEW_ROUNDS)
        configuration = {**configuration, rounds[0]: few}
    model.set_params(**configuration)
    X, y = small_data(estimator)
    with warnings.catch_warnings():
        # Extremes need not converge, but they must be possible.
        warnings.simplefilter("ignore")
        return model.fit(X, y).predict(X)


@pytest.mark.parametrize("name", KNOWN)
def test_every_suggestion_can_be_set_and_fitted(name):
    """Ends of all ranges, draws and first settings are taken by the estimator."""
    estimator = KNOWN[name]
    suggested = suggest(estimator, n_samples=N_ROWS, n_features=N_FEATURES)
    space = Space.of(suggested)

    configurations = extremes(space) + space.sample(20, 0) + list(suggested.start)

    for configuration in configurations:
        prediction = fitted(estimator, configuration, suggested.rounds)
        assert len(prediction) == N_ROWS
        assert np.isfinite(prediction).all(), configuration


@pytest.mark.parametrize("n_samples", [None, 20, 300, 10**6])
@pytest.mark.parametrize("name", KNOWN)
def test_first_settings_lie_in_the_space_and_differ(name, n_samples):
    suggested = suggest(KNOWN[name], n_samples=n_samples)
    space = Space.of(suggested)

    points = np.array([space.encode(start) for start in suggested.start])

    assert 4 <= len(points) <= 10 or n_samples == 20
    assert len(np.unique(points, axis=0)) == len(points)


@pytest.mark.parametrize("name", KNOWN)
def test_every_parameter_has_one_sentence_of_reason(name):
    suggested = suggest(KNOWN[name])
    assert suggested.reasons.keys() == suggested.keys()
    for reason in suggested.reasons.values():
        assert reason[0].isupper()
        assert reason.endswith(".")
        assert ". " not in reason
    assert suggested.source


@pytest.mark.parametrize(
    ("estimator", "prefix"),
    [
        (make_pipeline(StandardScaler(), SVC()), "svc__"),
        (
            make_pipeline(StandardScaler(), LGBMClassifier()),
            "lgbmclassifier__",
        ),
        (TransformedTargetRegressor(Ridge()), "regressor__"),
        (
            TransformedTargetRegressor(make_pipeline(StandardScaler(), Ridge())),
            "regressor__ridge__",
        ),
        (CalibratedClassifierCV(SVC()), "estimator__"),
        (MultiOutputRegressor(KNeighborsRegressor()), "estimator__"),
        (OneVsRestClassifier(LogisticRegression()), "estimator__"),
        (
            Pipeline([("a", StandardScaler()), ("b", OneVsRestClassifier(SVC()))]),
            "b__estimator__",
        ),
        (Pipeline([("p", make_pipeline(StandardScaler(), SVC()))]), "p__svc__"),
    ],
)
def test_the_estimator_worth_tuning_is_found(estimator, prefix):
    suggested = suggest(estimator)
    assert all(name.startswith(prefix) for name in suggested)
    assert set(suggested) <= set(estimator.get_params())
    for configuration in suggested.start:
        clone(estimator).set_params(**configuration)


def test_chains_are_searched_under_the_name_they_have():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the name depends on the version
        chain = ClassifierChain(LogisticRegression())
        names = set(chain.get_params())
    assert set(suggest(chain)) <= names


@pytest.mark.parametrize(
    ("estimator", "rounds"),
    [
        (LGBMClassifier(), ("n_estimators", 1000)),
        (XGBClassifier(), ("n_estimators", 1000)),
        (HistGradientBoostingClassifier(), ("max_iter", 1000)),
        (AdaBoostClassifier(), ("n_estimators", 500)),
        (
            make_pipeline(StandardScaler(), XGBRegressor()),
            ("xgbregressor__n_estimators", 1000),
        ),
        (RandomForestClassifier(), None),
        (SVC(), None),
    ],
)
def test_rounds_of_boosting_are_named(estimator, rounds):
    suggested = suggest(estimator)
    assert suggested.rounds == rounds
    if rounds is not None:
        assert suggested[rounds[0]].high == rounds[1]


def test_large_data_get_more_rounds():
    assert suggest(LGBMClassifier(), n_samples=10**6).rounds == ("n_estimators", 2000)


def test_names_that_the_user_chose_are_kept():
    suggested = suggest(LGBMClassifier(feature_fraction=0.5, num_iterations=50))
    assert "feature_fraction" in suggested
    assert "colsample_bytree" not in suggested
    assert suggested.rounds == ("num_iterations", 1000)
    assert all("num_iterations" in start for start in suggested.start)


def catboost_stand_in(**given):
    """Make what says it is CatBoost's, and shows only what it was made with."""

    class CatBoostClassifier:
        def get_params(self, deep=True):
            return dict(given)

    CatBoostClassifier.__module__ = "catboost.core"
    return CatBoostClassifier()


def test_catboost_is_known_by_name():
    """The names are those of CatBoost 1.2, tried with the library itself."""
    suggested = suggest(catboost_stand_in())
    assert set(suggested) == {
        "learning_rate",
        "iterations",
        "depth",
        "l2_leaf_reg",
        "random_strength",
        "rsm",
    }
    assert suggested.rounds == ("iterations", 1000)


def test_catboosts_other_names_are_kept():
    given = {"n_estimators": 100, "max_depth": 4, "task_type": "GPU"}
    suggested = suggest(catboost_stand_in(**given))
    assert {"n_estimators", "max_depth"} < set(suggested)
    assert not {"iterations", "depth", "rsm"} & set(suggested)
    assert suggested.rounds == ("n_estimators", 1000)


def test_a_subclass_of_ones_own_is_known():
    class Mine(RandomForestClassifier):
        pass

    assert suggest(Mine()).keys() == suggest(RandomForestClassifier()).keys()


def test_the_kernel_decides_what_is_tuned():
    assert set(suggest(SVC(kernel="linear"))) == {"C"}
    assert set(suggest(SVC())) == {"C", "gamma"}
    assert set(suggest(SVC(kernel="poly"))) == {"C", "gamma", "degree", "coef0"}
    assert set(suggest(KernelRidge())) == {"alpha"}


def test_the_solver_decides_what_is_tuned():
    assert set(suggest(LogisticRegression())) == {"C"}
    mixed = LogisticRegression(solver="saga", l1_ratio=0.5)
    assert set(suggest(mixed)) == {"C", "l1_ratio"}


def test_widths_of_kernels_follow_the_number_of_features():
    for n_features in (1, 10, 1000):
        gamma = suggest(SVC(), n_features=n_features)["gamma"]
        assert np.sqrt(gamma.low * gamma.high) == pytest.approx(1 / n_features)


def test_bounds_follow_the_number_of_rows():
    assert suggest(KNeighborsClassifier(), n_samples=40)["n_neighbors"].high == 10
    assert suggest(LGBMClassifier(), n_samples=100)["min_child_samples"].high == 10
    assert suggest(ExtraTreesClassifier(), n_samples=10)["min_samples_leaf"].high == 2


class Unknown(BaseEstimator):
    pass


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (Unknown(), r"No space is known for Unknown\. Give param_distributions"),
        (
            make_pipeline(StandardScaler(), LinearRegression()),
            r"known for LinearRegression \(at linearregression\)\. Give",
        ),
        (make_pipeline(StandardScaler(), "passthrough"), "known for 'passthrough'"),
        (TransformedTargetRegressor(), "known for TransformedTargetRegressor"),
        (StackingClassifier([("a", SVC())]), "known for StackingClassifier"),
        (SVC, "No space is known for"),
        (3, "No space is known for 3"),
    ],
)
def test_an_unknown_estimator_gets_the_way_out(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        suggest(estimator)


def test_a_suggestion_is_a_dictionary_for_any_search():
    X, y = small_data(KNeighborsClassifier())
    suggested = suggest(KNeighborsClassifier(), n_samples=len(X))
    theirs = RandomizedSearchCV(
        KNeighborsClassifier(), suggested, n_iter=5, cv=3, random_state=0
    ).fit(X, y)
    ours = RaceRandomSearchCV(
        KNeighborsClassifier(), suggested, n_iter=5, cv=3, random_state=0
    ).fit(X, y)
    assert set(theirs.best_params_) == set(ours.best_params_) == set(suggested)
    assert clone(ours).param_distributions.start == suggested.start


def test_a_suggestion_can_be_copied_changed_and_pickled():
    suggested = suggest(LGBMClassifier())
    for again in (copy.deepcopy(suggested), pickle.loads(pickle.dumps(suggested))):
        assert isinstance(again, SuggestedSpace)
        assert again == suggested
        assert again.start == suggested.start
        assert again.rounds == suggested.rounds
    again["num_leaves"] = [7, 15]
    again["max_depth"] = [3]
    assert "num_leaves: [7, 15]" in repr(again)
    assert "max_depth: [3]" in repr(again)
    assert suggested != again


def test_a_suggestion_explains_itself():
    suggested = suggest(make_pipeline(StandardScaler(), GaussianProcessRegressor()))
    text, page = repr(suggested), suggested._repr_html_()
    assert text.startswith("Suggested space of GaussianProcessRegressor")
    assert max(map(len, text.splitlines())) <= 88
    for name, reason in suggested.reasons.items():
        assert name in text
        assert name in page
        assert reason.split()[0] in text
        assert reason.split("'")[0] in page
    assert page.count("<tr>") == 1 + len(suggested)
