from types import SimpleNamespace

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.datasets import make_regression
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV
from cvst.displays import ImportanceDisplay, IncumbentDisplay
from cvst.report import summary
from cvst.report._advice import advice
from cvst.report._allowed import Allowed


def importance(**shares):
    """Return importances of which all repetitions agree."""
    names = sorted(shares, key=lambda name: -shares[name])
    table = np.array([[shares[name]] * 3 for name in names])
    return ImportanceDisplay(
        names=names, importances=table, alone=table, n_configurations=50, too_few=False
    )


def incumbent(leaders):
    n_looks = len(leaders)
    return IncumbentDisplay(
        times=np.arange(1.0, n_looks + 1),
        unit="seconds",
        incumbents=np.array(leaders),
        losses=np.zeros(n_looks),
        loss_stages=["race"] * n_looks,
        stages=["race"] * n_looks,
        point_looks=np.arange(n_looks),
        point_losses=np.zeros(n_looks),
    )


def told(
    values,
    winner,
    name="C",
    reason=None,
    leaders=(0,) * 20,
    own=None,
    allowed=None,
    **shares,
):
    configurations = [{name: value, "other": 1} for value in values]
    shares = {name: 0.9, "other": 0.5, **shares}
    tables = importance(**shares), incumbent(leaders)
    return advice(configurations, winner, *tables, reason, {name: own}, allowed)


@pytest.mark.parametrize(
    ("values", "winner", "expected"),
    [
        ([0.1, 1, 10, 100], 3, "try larger values, such as 1000"),
        ([0.1, 1, 10, 100], 0, "try smaller values, such as 0.01"),
        ([5, 10, 15, 20], 3, "try larger values, such as 25"),
        ([5, 10, 15, 20], 0, "try smaller values, such as 2."),
        ([0.4, 0.6, 0.8], 0, "try smaller values, such as 0.2."),
        (np.geomspace(0.001, 10, 60), 59, "try larger values, such as 25"),
    ],
)
def test_a_winner_at_the_edge_is_told_where_to_go_on(values, winner, expected):
    [sentence] = told(values, winner)
    assert expected in sentence
    assert "end of what was tried" in sentence


@pytest.mark.parametrize(
    ("values", "winner"),
    [
        ([0.1, 1, 10, 100], 1),  # inside
        ([0.2, 0.5, 0.8, 1.0], 3),  # a share ends at 1
        ([1, 2, 3, 4, 5], 0),  # a count begins at 1
        (["a", "b", "c"], 2),  # categories have no edge
        ([1, 10], 1),  # two values have no inside
        ([None, 1, 10, 100], 0),
    ],
)
def test_where_there_is_nothing_beyond_nothing_is_said(values, winner):
    assert told(values, winner) == []


@pytest.mark.parametrize(
    ("values", "own", "expected"),
    [
        ([1, 10, 100, 1000], 1.0, "such as 0.1."),
        ([1.0, 10.0, 100.0, 1000.0], None, "such as 0.1."),
        (np.logspace(0, 3, 4), None, "such as 0.1."),
        ([1.0, 2.0, 3.0, 4.0], None, "such as 0.5."),
    ],
)
def test_a_real_number_goes_on_below_one(values, own, expected):
    """As one that the estimator has, or among the values, tells."""
    [sentence] = told(values, 0, own=own)
    assert "lower end" in sentence
    assert expected in sentence


@pytest.mark.parametrize(
    ("name", "values", "own"),
    [
        ("n_estimators", [1, 10, 100, 1000], 100),
        ("max_depth", [1, 2, 4, 8], None),
        ("forest__max_features", [1, 2, 4, 8], 1.0),
        ("alpha", [0.0, 0.5, 1.0], 1.0),
    ],
)
def test_counts_begin_at_one_and_penalties_at_zero(name, values, own):
    assert told(values, 0, name=name, own=own) == []


def test_a_search_tells_what_its_estimator_has():
    """``alpha=1.0`` of Ridge, also inside of a pipeline."""
    X, y = make_regression(120, 3, noise=1.0, random_state=0)
    pipe = Pipeline([("scale", StandardScaler()), ("ridge", Ridge())])
    search = RaceGridSearchCV(
        pipe,
        {"ridge__alpha": [1, 10, 100, 1000], "ridge__fit_intercept": [True, False]},
        random_state=0,
    ).fit(X, y)
    assert search.best_params_["ridge__alpha"] == 1
    sentence = summary(search)["advice"][0]
    assert sentence.startswith("alpha = 1 is at the lower end")


def allowed_by(model, n_columns=10, path=""):
    """Return what a model allows that was fitted on rows of this many columns."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, n_columns)), rng.integers(0, 2, size=40)
    return Allowed(SimpleNamespace(best_estimator_=clone(model).fit(X, y)), path)


TREE = DecisionTreeClassifier()


@pytest.mark.parametrize(
    ("model", "name", "values", "winner"),
    [
        (ElasticNet(), "l1_ratio", [0.01, 0.03, 0.1, 0.3, 1.0], 4),
        (GradientBoostingClassifier(), "subsample", [0.1, 0.2, 0.5, 1.0], 3),
        (TREE, "max_features", [1, 2, 5, 10], 3),
        (TREE, "min_samples_split", [2, 4, 8, 16], 0),
        (TREE, "max_leaf_nodes", [2, 8, 32, 128], 0),
        (MLPClassifier(max_iter=5), "momentum", [0.2, 0.6, 1.0], 2),
        (Pipeline([("t", TREE)]), "t__max_features", [1, 2, 5, 10], 3),
        (BaggingClassifier(TREE), "estimator__max_features", [1, 2, 5, 10], 3),
        (LGBMClassifier(verbose=-1), "colsample_bytree", [0.1, 0.3, 1.0], 2),
        (LGBMClassifier(verbose=-1), "num_leaves", [2, 8, 32, 128], 0),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_values_that_the_estimator_refuses_are_not_recommended(
    model, name, values, winner
):
    own = model.get_params()[name]
    allowed = allowed_by(model)
    assert told(values, winner, name=name, own=own, allowed=allowed) == []


@pytest.mark.parametrize(
    ("model", "name", "values", "winner", "expected"),
    [
        (TREE, "max_features", [1, 2, 4, 8], 3, "such as 10."),
        (TREE, "min_samples_split", [4, 8, 16], 0, "such as 2."),
        (TREE, "min_samples_split", [8, 16, 32], 2, "such as 44."),
        (Ridge(), "alpha", [0.2, 0.6, 1.0], 2, "such as 1.4."),
        (ElasticNet(), "l1_ratio", [0.1, 0.4, 0.7], 2, "such as 1."),
        (ElasticNet(), "l1_ratio", [0.2, 0.5, 0.8], 2, "such as 0.95."),
        (LGBMClassifier(verbose=-1), "subsample", [0.2, 0.5, 0.8], 2, "such as 0.95."),
    ],
)
def test_values_that_the_estimator_takes_are_recommended(
    model, name, values, winner, expected
):
    own = model.get_params()[name]
    [sentence] = told(values, winner, name=name, own=own, allowed=allowed_by(model))
    assert expected in sentence


def test_names_are_looked_up_with_their_path():
    model = Pipeline([("model", GradientBoostingClassifier())])
    allowed = allowed_by(model, path="model__")
    assert allowed.allows("subsample", 1.0)
    assert allowed.allows("subsample", 1.5) is False
    assert allowed.allows("nothing", 1.5) is None
    assert Allowed().allows("subsample", 1.5) is None


def test_without_a_number_of_columns_there_is_no_example():
    """A step before may make any number of them."""
    [sentence] = told([1, 2, 4, 8], 3, name="max_features")
    assert sentence.endswith("(1 to 8): try larger values.")
    steps = [("scale", StandardScaler()), ("tree", TREE)]
    outer = SimpleNamespace(best_estimator_=Pipeline(steps))
    assert Allowed(outer).n_columns("tree__max_features") is None


def test_without_a_final_fit_the_winner_says_what_it_takes():
    """Steps that are searched are those of the winner."""
    search = SimpleNamespace(
        estimator=Pipeline([("model", None)]),
        best_params_={"model": ElasticNet(), "model__l1_ratio": 0.5},
    )
    allowed = Allowed(search)
    assert allowed.allows("model__l1_ratio", 1.0)
    assert allowed.allows("model__l1_ratio", 1.5) is False
    assert search.best_params_["model"].l1_ratio == ElasticNet().l1_ratio


def test_a_search_asks_its_estimator():
    """The best share of ``l1_ratio`` is 1, whatever the scale of the grid."""
    X, y = make_regression(300, 10, noise=5, random_state=0)
    grid = {"l1_ratio": [0.01, 0.03, 0.1, 0.3, 1.0], "alpha": [0.01, 0.1, 1.0, 10.0]}
    search = RaceGridSearchCV(ElasticNet(), grid, random_state=0).fit(X, y)
    assert search.best_params_["l1_ratio"] == 1.0
    assert not any("l1_ratio" in sentence for sentence in summary(search)["advice"])


def test_parameters_that_hardly_matter_are_named_and_have_no_edge():
    [sentence] = told([0.1, 1, 10, 100], 3, C=0.04)
    assert sentence.startswith("C hardly matters here (at most 4% of the variation")
    assert "larger" not in sentence


def test_a_late_change_asks_for_time_only_if_time_was_short():
    late = (0,) * 19 + (1,)
    early = (1,) + (0,) * 19
    inside = ([0.1, 1, 10, 100], 1)
    assert "more time" in told(*inside, reason="time_budget", leaders=late)[0]
    assert told(*inside, reason="time_budget", leaders=early) == []
    assert told(*inside, reason="confirmed", leaders=late) == []
