"""Hyper-parameters follow the rows so that models mean the same on fewer of them."""

from __future__ import annotations

import doctest
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from sklearn.tree import DecisionTreeRegressor

from cvst.evaluation import register_rescaling, rescaling_table, resolve_rescaling
from cvst.evaluation.machinery import configured
from cvst.evaluation.rescaling._table import _REGISTERED
from cvst.exceptions import InvalidInputError
from cvst.learners import KernelLogisticRegression

PAGE = Path(__file__).parents[3] / "docs" / "user_guide" / "rescaling.md"


@pytest.fixture
def clean_table():
    """Start from the bare table and forget what a test registers."""
    before = dict(_REGISTERED)
    _REGISTERED.clear()
    yield
    _REGISTERED.clear()
    _REGISTERED.update(before)


def used(estimator, configuration=None, n_train=25, n_samples=100, rescale="auto"):
    """Return the parameters of a model as a race would fit it."""
    configurations = [configuration or {}]
    rescaling = resolve_rescaling(rescale, estimator, configurations, True)
    return configured(
        estimator, rescaling.configuration(0, n_train, n_samples)
    ).get_params()


@pytest.mark.parametrize(
    ("estimator", "parameter", "expected"),
    [
        (KernelRidge(alpha=2.0), "alpha", 0.5),
        (Ridge(alpha=2.0), "alpha", 0.5),
        (RidgeClassifier(alpha=2), "alpha", 0.5),
        (HuberRegressor(alpha=2.0), "alpha", 0.5),
        (SVC(C=2.0), "C", 8.0),
        (SVR(C=2.0), "C", 8.0),
        (LinearSVC(C=2.0), "C", 8.0),
        (LinearSVR(C=2.0), "C", 8.0),
        (NuSVR(C=2.0), "C", 8.0),
        (LogisticRegression(C=2.0), "C", 8.0),
        (LogisticRegression(C=np.inf), "C", np.inf),
        (Lasso(alpha=2.0), "alpha", 2.0),
        (ElasticNet(alpha=2.0), "alpha", 2.0),
        (SGDClassifier(alpha=2.0), "alpha", 2.0),
        (NuSVC(nu=0.3), "nu", 0.3),
        (DecisionTreeRegressor(ccp_alpha=2.0), "ccp_alpha", 2.0),
        (MLPRegressor(alpha=2.0), "alpha", 2.0),
        (MLPRegressor(alpha=2.0, solver="lbfgs"), "alpha", 0.5),
    ],
    ids=str,
)
def test_a_quarter_of_the_rows_changes_a_value_as_the_table_says(
    estimator, parameter, expected
):
    assert used(estimator)[parameter] == expected


@pytest.mark.parametrize(
    ("estimator", "copies"),
    [
        (Ridge(alpha=3.0, solver="svd"), 4),
        (KernelRidge(alpha=0.7, kernel="rbf"), 4),
        (HuberRegressor(alpha=0.5, max_iter=2000, tol=1e-12), 4),
        (LogisticRegression(C=0.3, tol=1e-12, max_iter=10000), 4),
        (SVC(C=0.7, tol=1e-9), 4),
        (SVR(C=0.7, tol=1e-9), 4),
        (NuSVR(C=0.7, tol=1e-9), 4),
        (Lasso(alpha=0.1, tol=1e-12), 4),
        (NuSVC(nu=0.4, tol=1e-9), 4),
        (RidgeClassifier(alpha=3.0), 4),
        (LinearSVC(C=0.05, dual=False, tol=1e-9), 4),
        (KernelLogisticRegression(alpha=0.5), 4),
        (
            MLPRegressor(
                hidden_layer_sizes=3, solver="lbfgs", alpha=3.0, random_state=0
            ),
            4,
        ),
    ],
    ids=str,
)
def test_rows_seen_four_times_give_the_model_of_rows_seen_once(estimator, copies):
    """Witness: the objective itself; a copied row adds its loss again.

    So a model fitted on all copies with the value of the grid must equal the model
    fitted on one copy with the rescaled value.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=40)
    if is_classifier(estimator):
        y = (y > 0).astype(int)
    rescaling = resolve_rescaling("auto", estimator, [{}], True)
    small = configured(estimator, rescaling.configuration(0, 40, 40 * copies))
    large = configured(estimator, {}).fit(np.tile(X, (copies, 1)), np.tile(y, copies))
    small.fit(X, y)
    fresh = rng.normal(size=(20, 3))
    response = "decision_function" if hasattr(large, "decision_function") else "predict"
    np.testing.assert_allclose(
        getattr(small, response)(fresh), getattr(large, response)(fresh), atol=2e-3
    )
    if rescaling.exponents:
        unscaled = configured(estimator, {}).fit(X, y)
        difference = getattr(unscaled, response)(fresh) - getattr(large, response)(
            fresh
        )
        assert np.abs(difference).max() > 5e-3


def test_the_grid_means_what_it_means_on_all_rows():
    rescaling = resolve_rescaling("auto", Ridge(), [{"alpha": 0.3}], True)
    assert rescaling.configuration(0, 70, 70) == {"alpha": 0.3}


def test_values_of_the_grid_go_before_those_of_the_estimator():
    assert used(Ridge(alpha=1.0), {"alpha": 8.0})["alpha"] == 2.0


def test_what_the_estimator_fixes_is_rescaled_in_every_step():
    estimator = Pipeline(
        [
            (
                "columns",
                ColumnTransformer(
                    [("select", SelectFromModel(LogisticRegression(C=1.0)), [0])]
                ),
            ),
            ("model", SVC(C=2.0)),
        ]
    )
    params = used(estimator, {"model__gamma": 0.1})
    assert params["model__C"] == 8.0
    assert params["columns__select__estimator__C"] == 4.0
    assert params["model__gamma"] == 0.1


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (BaggingRegressor(Ridge(alpha=2.0)), "estimator__alpha"),
        (TransformedTargetRegressor(Ridge(alpha=2.0)), "regressor__alpha"),
    ],
    ids=str,
)
def test_estimators_inside_others_are_found(estimator, name):
    assert used(estimator)[name] == 0.5


def test_a_step_that_the_grid_replaces_brings_its_own_rule():
    estimator = Pipeline([("scale", StandardScaler()), ("model", Ridge())])
    grid = [
        {"model": Ridge(alpha=4.0)},
        {"model": Ridge(alpha=4.0), "model__alpha": 8.0},
        {"model": SVR(C=1.0)},
        {"model": Lasso(alpha=4.0)},
        {"model": "passthrough"},
        {"scale": "passthrough"},
        {"steps": [("only", KernelRidge(alpha=4.0))]},
    ]
    rescaling = resolve_rescaling("auto", estimator, grid, True)
    used = [rescaling.configuration(index, 25, 100) for index in range(len(grid))]
    assert used[0]["model__alpha"] == 1.0
    assert used[1]["model__alpha"] == 2.0
    assert used[2]["model__C"] == 4.0
    assert set(used[3]) == {"model"}
    assert set(used[4]) == {"model"}
    assert used[5]["model__alpha"] == 0.25
    assert used[6]["only__alpha"] == 1.0
    assert rescaling.exponents == {
        "model__alpha": 1.0,
        "model__C": -1.0,
        "only__alpha": 1.0,
    }
    assert grid[0]["model"].alpha == 4.0


def test_the_exponent_of_a_network_follows_its_solver_in_the_grid():
    grid = [{"solver": "adam"}, {"solver": "lbfgs"}, {"solver": "lbfgs", "alpha": 4.0}]
    rescaling = resolve_rescaling("auto", MLPRegressor(alpha=2.0), grid, True)
    assert rescaling.configuration(0, 25, 100) == {"solver": "adam"}
    assert rescaling.configuration(1, 25, 100) == {"solver": "lbfgs", "alpha": 0.5}
    assert rescaling.configuration(2, 25, 100) == {"solver": "lbfgs", "alpha": 1.0}
    assert rescaling.exponents == {"alpha": 1.0}


@pytest.mark.parametrize("value", [[1.0, 2.0], (1, 2), np.array([1.0, 2.0])], ids=str)
def test_arrays_are_rescaled_element_by_element(value):
    np.testing.assert_array_equal(used(Ridge(alpha=value))["alpha"], [0.25, 0.5])


@pytest.mark.parametrize("value", ["scale", None, True, ("a", "b")], ids=str)
def test_values_that_are_no_numbers_stay(value):
    params = used(SVC(), {"gamma": value}, rescale={"gamma": 1})
    assert params["gamma"] == value


def test_only_parameters_that_a_subclass_still_has_are_rescaled():
    assert issubclass(LogisticRegressionCV, LogisticRegression)
    rescaling = resolve_rescaling("auto", LogisticRegressionCV(), [{}], True)
    assert rescaling.configuration(0, 1, 2) == {}


@pytest.mark.parametrize(("rescale", "wanted"), [(None, True), ("auto", False)])
def test_without_rescaling_configurations_stay_as_they_are(rescale, wanted):
    rescaling = resolve_rescaling(rescale, Ridge(), [{"alpha": 1.0}], wanted)
    assert rescaling.configuration(0, 25, 100) == {"alpha": 1.0}
    assert rescaling.exponents == {}


def test_a_dict_of_exponents_replaces_the_table_whatever_the_strategy():
    estimator = Pipeline(
        [("scale", StandardScaler()), ("model", SVR(C=3.0, gamma=1.0))]
    )
    rescaling = resolve_rescaling({"model__gamma": -0.5}, estimator, [{}], False)
    assert rescaling.configuration(0, 25, 100) == {"model__gamma": 2.0}
    assert rescaling.exponents == {"model__gamma": -0.5}


def test_a_function_gets_the_grids_parameters_and_both_sizes():
    calls = []

    def rule(params, n_train, n_samples):
        calls.append((dict(params), n_train, n_samples))
        params["alpha"] = n_train
        return params

    grid = [{"alpha": 1.0}]
    rescaling = resolve_rescaling(rule, Ridge(), grid, True)
    assert rescaling.configuration(0, 25, 100) == {"alpha": 25}
    assert calls == [({"alpha": 1.0}, 25, 100)]
    assert grid == [{"alpha": 1.0}]
    assert rescaling.exponents == {}


@pytest.mark.parametrize(
    ("rescale", "message"),
    [
        ({"alhpa": 1}, r"'alhpa'.*not a parameter of Ridge.*alpha"),
        ({"alpha": "n"}, r"'alpha' is 'n', which is not a finite number"),
        ({"alpha": True}, r"'alpha' is True"),
        ("table", r"rescale='table' is not known.*'auto'"),
    ],
)
def test_bad_rules_are_refused_in_one_sentence(rescale, message):
    with pytest.raises(InvalidInputError, match=message):
        resolve_rescaling(rescale, Ridge(), [{}], True)


def test_a_function_that_returns_no_parameters_is_refused():
    rescaling = resolve_rescaling(lambda params, n, N: None, Ridge(), [{}], True)
    with pytest.raises(InvalidInputError, match="returned None, which is not a dict"):
        rescaling.configuration(0, 1, 2)


class Spline(BaseEstimator):
    def __init__(self, stiffness=1.0, mode="sum"):
        self.stiffness = stiffness
        self.mode = mode


class BentSpline(Spline):
    pass


@pytest.mark.usefixtures("clean_table")
def test_users_register_their_own_classes():
    register_rescaling(
        Spline,
        stiffness=lambda params: 1 if params["mode"] == "sum" else 0,
        reason="sum of squares + stiffness * bending",
    )
    assert used(Spline(8.0))["stiffness"] == 2.0
    assert used(BentSpline(8.0))["stiffness"] == 2.0
    assert used(Spline(8.0), {"mode": "mean"})["stiffness"] == 8.0
    last = rescaling_table()[-1]
    assert last.estimator.endswith("Spline")
    assert (last.parameter, last.reason) == (
        "stiffness",
        "sum of squares + stiffness * bending",
    )


@pytest.mark.usefixtures("clean_table")
def test_a_registration_replaces_the_table():
    register_rescaling(Ridge, alpha=0)
    assert used(Ridge(alpha=2.0))["alpha"] == 2.0
    rows = [row for row in rescaling_table() if row.estimator.endswith(".Ridge")]
    assert [(row.parameter, row.exponent) for row in rows] == [("alpha", 0)]


class StraightSpline(BentSpline):
    pass


class OwnLasso(Lasso):
    pass


@pytest.mark.usefixtures("clean_table")
def test_a_subclass_keeps_the_lines_of_its_own():
    """Whether they are of the table or registered, and whichever came first."""
    assert issubclass(Lasso, ElasticNet)
    register_rescaling(ElasticNet, alpha=1)
    assert used(ElasticNet(alpha=2.0))["alpha"] == 0.5
    assert used(Lasso(alpha=2.0))["alpha"] == 2.0
    assert used(OwnLasso(alpha=2.0))["alpha"] == 2.0
    register_rescaling(BentSpline, stiffness=-1)
    register_rescaling(Spline, stiffness=1)
    assert used(Spline(8.0))["stiffness"] == 2.0
    assert used(BentSpline(8.0))["stiffness"] == 32.0
    assert used(StraightSpline(8.0))["stiffness"] == 32.0
    table = {row.estimator: row.exponent for row in rescaling_table()}
    assert table["sklearn.linear_model.ElasticNet"] == 1
    assert table["sklearn.linear_model.Lasso"] == 0


@pytest.mark.usefixtures("clean_table")
def test_bad_registrations_are_refused():
    with pytest.raises(InvalidInputError, match="which is not a class"):
        register_rescaling(Ridge(), alpha=1)
    with pytest.raises(InvalidInputError, match="'alpha' is 'one'"):
        register_rescaling(Ridge, alpha="one")


def test_a_rescaling_travels_to_other_processes():
    rescaling = resolve_rescaling("auto", Ridge(alpha=2.0), [{}], True)
    copy = pickle.loads(pickle.dumps(rescaling))
    assert copy.configuration(0, 1, 2) == {"alpha": 1.0}


@pytest.mark.usefixtures("clean_table")
def test_the_page_prints_every_line_of_the_table():
    """Estimators that share parameter, exponent and reason share a line."""
    groups = {}
    for row in rescaling_table():
        exponent = "0 or +1" if callable(row.exponent) else f"{row.exponent:+.0f}"
        key = f"`{row.parameter}`", exponent.replace("+0", "0"), row.reason
        groups.setdefault(key, []).append(f"`{row.estimator.rpartition('.')[2]}`")
    page = PAGE.read_text(encoding="utf-8")
    section = page.split("## The table")[1].split("Exponent 0 means")[0]
    shown = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert shown == [
        f"| {' | '.join([', '.join(names), *key])} |" for key, names in groups.items()
    ]


@pytest.mark.usefixtures("clean_table")
def test_the_examples_of_the_page_run():
    failures, examples = doctest.testfile(str(PAGE), module_relative=False)
    assert failures == 0
    assert examples > 0


@pytest.mark.parametrize("rescale", ["auto", None, {"final__alpha": 2.0}])
def test_configurations_that_come_later_are_rescaled_alike(rescale):
    """Also those that bring an estimator of their own; the witness knows all."""
    pipeline = Pipeline([("scale", StandardScaler()), ("final", Ridge(alpha=2.0))])
    first = [{"final__alpha": 1.0}, {}]
    later = [
        {"final": KernelRidge(alpha=4.0)},
        {"final": SVC(), "final__C": 8.0},
        {"final__alpha": 16.0},
    ]
    known = resolve_rescaling(rescale, pipeline, [*first, *later], True)
    grown = resolve_rescaling(rescale, pipeline, first, True)
    for one in later:
        grown = grown.extended([one])
    assert grown.exponents == known.exponents
    for number in range(5):
        actual = grown.configuration(number, 10, 100)
        assert actual == known.configuration(number, 10, 100)
    if rescale == "auto":
        assert grown.configuration(3, 10, 100)["final__C"] == pytest.approx(80.0)


def test_a_function_rescales_configurations_that_come_later():
    """It is asked for each of them."""
    rescaling = resolve_rescaling(
        lambda params, n_train, n_samples: {"alpha": params["alpha"] + n_train},
        Ridge(),
        [{"alpha": 1.0}],
        True,
    )
    grown = rescaling.extended([{"alpha": 2.0}])
    assert grown.configuration(1, 10, 100) == {"alpha": 12.0}
    assert len(rescaling.configurations) == 1
