import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from cvst import RaceGridSearchCV
from cvst.displays import ImportanceDisplay, IncumbentDisplay
from cvst.report import summary
from cvst.report._advice import advice


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


def told(values, winner, name="C", reason=None, leaders=(0,) * 20, own=None, **shares):
    configurations = [{name: value, "other": 1} for value in values]
    shares = {name: 0.9, "other": 0.5, **shares}
    tables = importance(**shares), incumbent(leaders)
    return advice(configurations, winner, *tables, reason, {name: own})


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
