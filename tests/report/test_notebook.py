from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_breast_cancer, make_regression
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV, RaceSearchCV
from cvst.race import Look, LookLosses, Problem, RaceState, Verdict
from cvst.report import html_report, notebook_html, page_html
from cvst.report import summary as summary_of
from cvst.search import STRATEGIES


def test_every_strategy_has_a_fragment_that_closes_what_it_opens(any_strategy):
    """Witness: an HTML parser with a stack."""
    stack = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag, attributes):
            stack.append(tag)

        def handle_endtag(self, tag):
            assert stack.pop() == tag

    Parser().feed(notebook_html(any_strategy))
    assert stack == []


def test_names_and_values_are_escaped(fitted, monkeypatch):
    page = summary_of(fitted)
    page["winner"]["parameters"] = {"<script>": "a & b"}
    monkeypatch.setattr("cvst.report._notebook.summary", lambda search, **options: page)
    html = notebook_html(fitted)
    assert "<script" not in html
    assert "<b>&lt;script&gt;</b> = a &amp; b" in html


@pytest.mark.parametrize("most", [0, 24], ids=["stages", "looks"])
def test_names_of_scores_and_steps_are_escaped(monkeypatch, most):
    """Nor do they reach the page as they are; plots draw them as text."""
    monkeypatch.setattr("cvst.report._notebook.MOST_LOOKS", most)
    X, y = make_regression(60, 3, random_state=0)
    search = RaceGridSearchCV(
        Pipeline([("<i>step", Ridge())]),
        {"<i>step__alpha": [0.1, 1.0, 10.0], "<i>step__solver": ["auto", "<i>none"]},
        scoring={"<i>score": "r2", "<i>other": "neg_mean_squared_error"},
        refit="<i>score",
        strategy="cross_validation",
        random_state=0,
    )
    with pytest.warns(FitFailedWarning, match="<i>none"):
        search.fit(X, y)
    for html in (notebook_html(search), html_report(search, title="<i>title")):
        assert "&lt;i&gt;score" in html
        assert "<i>" not in html


def test_the_score_is_called_no_estimate(fitted):
    html = notebook_html(fitted)
    assert f"{fitted.best_score_:.5g}" in html
    assert "not an estimate for all rows" in html


def test_what_to_expect_on_new_rows_comes_first(fitted):
    html = notebook_html(fitted)
    told = summary_of(fitted)["winner"]["estimate"]
    assert told["low"] < told["value"] < told["high"]
    assert f"{told['value']:.4g} (90 % interval" in told["text"]
    assert 0 < html.index(told["text"]) < html.index("not an estimate for all rows")


def test_an_old_search_without_an_estimate_is_shown(fitted, monkeypatch):
    monkeypatch.delattr(fitted, "best_score_estimate_")
    assert "to expect on new rows" not in notebook_html(fitted)


def test_a_state_is_shown_in_a_line_and_a_table_of_stages(any_search):
    """Rows and losses of a race would fill pages."""
    state = any_search.race_
    assert len(repr(state)) < 120
    assert f"{state.n_looks} looks at {state.n_configurations} configu" in repr(state)
    html = state._repr_html_()
    stages = {one.look.stage for one in state.observations}
    assert html.count("<tr>") == len(stages) + 1
    assert len(html) < 1000
    assert "nan" not in html


@pytest.mark.parametrize(
    ("scoring", "name", "sign"),
    [(None, "r2", 1), ("neg_mean_absolute_error", "mean_absolute_error", -1)],
)
def test_a_state_shows_the_score_that_was_asked_for(scoring, name, sign):
    """Witness: the best mean of the race; an error is shown as one."""
    X, y = make_regression(60, 3, noise=9.0, random_state=0)
    grid = {"alpha": [0.1, 1.0, 10.0]}
    search = RaceGridSearchCV(Ridge(), grid, scoring=scoring, random_state=0)
    html = search.fit(X, y).race_._repr_html_()
    assert f"<th>best mean {name}</th>" in html
    assert f"<td>{sign * search.best_score_:.5g}</td>" in html
    assert "loss" not in html


@pytest.mark.parametrize("strategy", [*STRATEGIES, "proposing"])
def test_the_best_of_the_last_stage_is_the_score_of_the_winner(strategy, monkeypatch):
    """Not the best single fold of anyone, on whatever rows."""
    monkeypatch.setattr("cvst.report._notebook.MOST_LOOKS", 1)
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0)
    depths = {"max_depth": [1, 2, 3, 4, 5, 6], "min_samples_leaf": [1, 2, 5, 10]}
    search = (
        RaceSearchCV(tree, depths, n_iter=20, random_state=0)
        if strategy == "proposing"
        else RaceGridSearchCV(tree, depths, strategy=strategy, random_state=0)
    ).fit(X, y)
    page, state = summary_of(search), search.race_
    best = search.best_score_
    if strategy == "cvst":
        # It chooses by ranks over several looks, of which a state alone knows nothing.
        best = np.nanmax(state.scores[state.active, -1])
    assert np.nanmax(search.race_.scores) > search.best_score_
    assert page["stages"][-1]["leader"] == pytest.approx(search.best_score_)
    shown = {state._repr_html_(): best, notebook_html(search): search.best_score_}
    for html, value in shown.items():
        last = html.split("<tr>")[-1]
        assert last.startswith(f"<td>{state.stage}</td>")
        assert f"<td>{value:.5g}</td>" in last
    page["looks"] = 25 * page["looks"]
    assert f"leader&#39;s {page['measures'][0]['name']}" in page_html(page, title="all")


def test_a_stage_that_was_broken_off_shows_no_best():
    """Two folds of a final that needs five are chance; with one left they are not."""
    state = RaceState(Problem(n_configurations=3, n_samples=100))
    nothing = np.full(3, np.nan)
    for fold, losses in enumerate([[0.1, 0.5, 0.4], [0.5, 0.2, 0.4]]):
        look = Look(slice(80), slice(80, 100), 80, np.arange(3), "final",
                    is_fold=True, fold=fold, fewest_folds=3)  # fmt: skip
        seen = LookLosses(np.empty((3, 0)), np.array(losses), nothing, nothing)
        state = state.observe(look, seen, Verdict(np.ones(3, bool), nothing))
    assert "<th>best mean loss</th>" in state._repr_html_()
    assert "<td>—</td>" in state._repr_html_()
    seen = LookLosses(np.empty((3, 0)), np.array([0.3, 0.2, 0.1]), nothing, nothing)
    drops = {1: "test"}
    over = state.observe(look, seen, Verdict(np.ones(3, bool), nothing, drops))
    # The best fold is .1, and the best mean of all that of the one that was dropped.
    assert "<td>0.3</td>" in over._repr_html_()
    alone = state.observe(
        look, seen, Verdict(np.ones(3, bool), nothing, {1: "", 2: ""})
    )
    assert "<td>0.3</td>" in alone._repr_html_()


def test_a_state_of_one_uses_the_singular():
    state = RaceState(Problem(n_configurations=1, n_samples=10))
    assert repr(state) == "<RaceState: 0 looks at 1 configuration, 1 left>"
    assert state._repr_html_() == (
        "<p>&lt;RaceState: 0 looks at 1 configuration, 1 left&gt;</p>"
    )


def test_long_races_are_told_by_stage(fitted, monkeypatch):
    monkeypatch.setattr("cvst.report._notebook.MOST_LOOKS", 1)
    html = notebook_html(fitted)
    assert "Stage by stage" in html
    assert "Look by look" not in html
    n_fits = int(fitted.race_.present.sum())
    assert f"<td>{n_fits:,}</td>" in html


def test_one_configuration_is_called_one(recwarn):
    """No "1 configurations", no "nan", no types of NumPy."""
    X, y = make_regression(60, 2, random_state=0)
    grid = {"alpha": [np.float64(1.0)]}
    html = notebook_html(RaceGridSearchCV(Ridge(), grid, random_state=0).fit(X, y))
    assert "1 configuration took part." in html
    assert "np.float64" not in html
    assert "nan" not in html


LONG = 10**5000


class Loaded(RegressorMixin, BaseEstimator):
    """Predicts a constant, whatever it carries."""

    def __init__(self, load=None, constant=0):
        self.load = load
        self.constant = constant

    def fit(self, X, y):
        self.mean_ = y.mean() + self.constant
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize(
    "loads",
    [
        [LONG, 1],
        [{"top": LONG}, {"top": 1}],
        [{LONG}, {1}],
        [np.array([LONG, 1]), np.array([1, LONG])],
        [Loaded(LONG), Loaded(1)],
    ],
    ids=["number", "dict", "set", "array", "estimator"],
)
def test_whole_numbers_that_python_does_not_write_are_told(loads):
    """Those of more than 4,300 digits; scikit-learn has no diagram of them."""
    X, y = np.arange(60.0)[:, None], np.arange(60.0)
    space = {"load": loads, "constant": [0, 1]}
    search = RaceSearchCV(Loaded(), space, n_iter=3, random_state=0).fit(X, y)
    assert "<b>constant</b> = 0" in search._repr_html_()
    assert "constant" in page_html(summary_of(search), title="long")
