import json
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_regression
from sklearn.dummy import DummyClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import PoissonRegressor, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvst import RaceGridSearchCV
from cvst.cli.results import race_looks
from cvst.exceptions import InvalidInputError
from cvst.race import Problem, RaceState, TrackAndConfirm
from cvst.report import page_html, race_summary, summary
from cvst.report.machinery import score_name


def test_every_strategy_becomes_plain_values(any_strategy):
    """JSON without NaN takes it, and gives it back as it was."""
    page = summary(any_strategy)
    assert json.loads(json.dumps(page, allow_nan=False)) == page


def test_records_are_those_of_cv_results(any_strategy):
    """Witness: the search's own table."""
    page, results = summary(any_strategy), any_strategy.cv_results_
    state = any_strategy.race_

    for index, record in enumerate(page["configurations"]):
        assert record["rank"] == results["rank_test_score"][index]
        assert record["dropped_at"] == results["dropped_at"][index]
        assert len(record["looks"]) == results["n_looks"][index]
        for place, look in enumerate(record["looks"]):
            assert record["losses"][place] == state.mean_losses[index, look - 1]
            assert record["scores"][place] == results[f"look{look}_test_score"][index]
            assert record["top"][place] == state.traces[index, look - 1]
    assert page["winner"]["index"] == any_strategy.best_index_
    assert page["winner"]["score"] == any_strategy.best_score_
    assert page["n_active"] == page["looks"][-1]["n_active"]


def test_leaders_are_who_would_have_won_then(any_strategy):
    page = summary(any_strategy)
    assert page["looks"][-1]["leader"] == any_strategy.best_index_
    assert [look["n_train"] for look in page["looks"]] == list(
        any_strategy.race_.subset_sizes
    )


class OwnScore(Ridge):
    def score(self, X, y, sample_weight=None):
        return -float(np.abs(self.predict(X) - y).max())


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (Ridge(), "r2"),
        (DummyClassifier(), "accuracy"),
        (make_pipeline(StandardScaler(), PoissonRegressor()), "d2_tweedie"),
        (GridSearchCV(Ridge(), {}, scoring="neg_max_error"), "neg_max_error"),
        (GaussianMixture(), "log density"),
        (OwnScore(), "score of the estimator"),
    ],
)
def test_the_score_that_is_raced_has_its_name(estimator, name):
    """Without scoring it is the estimator's own, whichever that is."""
    assert score_name(RaceGridSearchCV(estimator, {})) == name


def test_drops_come_with_look_and_reason(fitted):
    page = summary(fitted)
    for index, reason in fitted.race_.drop_reasons.items():
        look = fitted.race_.dropped_at[index]
        assert page["configurations"][index]["drops"] == [[look, reason]]
        assert reason in page["drop_reasons"]


def test_a_choice_of_the_user_is_told_and_keeps_its_rank(fitted):
    """The refit function may overrule the race, which the page must not hide."""
    ranking = fitted.strategy_.ranking(fitted.race_)
    other = int(ranking[1])
    page = race_summary(
        fitted.race_,
        fitted.cv_results_["params"],
        ranking,
        stop_reason="max_steps",
        winner=other,
    )
    ranks = [record["rank"] for record in page["configurations"]]
    assert sorted(ranks) == list(range(1, len(ranks) + 1))
    assert page["winner"]["index"] == other
    assert ranks[ranking[0]] == 1
    assert ranks[other] == 2
    assert any("refit function" in sentence for sentence in page["winner"]["why"])


def test_a_race_under_way_has_a_leader_and_no_reason_to_stop(fitted):
    state = RaceState(fitted.race_.problem, fitted.race_.observations[:2])
    page = race_summary(
        state, fitted.cv_results_["params"], fitted.strategy_.ranking(state)
    )
    assert not page["finished"]
    assert page["stop_sentence"] == "The race is under way: 2 looks are done."
    assert page["looks"][-1]["leader"] == np.nanargmin(state.mean_losses[:, 1])


def test_nothing_is_known_before_the_first_look():
    state = RaceState(Problem(n_configurations=2, n_samples=10))
    page = race_summary(state, [{"a": 1}, {"a": 2}], np.array([0, 1]))
    assert page["looks"] == []
    assert page["winner"]["why"] == []


class Odd(ClassifierMixin, BaseEstimator):
    """Fails for one value, and does not look at the others."""

    def __init__(self, value=None):
        self.value = value

    def fit(self, X, y):
        if self.value == "fail":
            raise ValueError("<b>no</b>")
        self.model_ = DummyClassifier().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_odd_values_and_failed_fits_are_text():
    X, y = np.zeros((60, 1)), np.arange(60) % 2
    search = RaceGridSearchCV(
        Odd(), {"value": ["<i>", "fail", len, None]}, random_state=0
    )
    with pytest.warns(match="failed"):
        search.fit(X, y)
    page = summary(search)

    json.dumps(page, allow_nan=False)
    texts = [record["parameters"]["value"] for record in page["configurations"]]
    assert texts == ["<i>", "fail", "len", "None"]
    assert page["configurations"][1]["failures"][0][1] == "ValueError: <b>no</b>"
    assert set(page["configurations"][1]["losses"]) == {None}


def test_the_score_has_a_name(fitted):
    assert summary(fitted)["scoring"] == "r2"


def test_an_unfitted_search_is_refused():
    with pytest.raises(InvalidInputError, match="Fit it first"):
        summary(RaceGridSearchCV(DummyClassifier(), {}))


def test_names_lose_the_path_that_all_of_them_share(fitted):
    """A pipeline's grid reads as that of its model; the path is told once."""
    state, ranking = fitted.race_, fitted.strategy_.ranking(fitted.race_)
    params = fitted.cv_results_["params"]
    nested = [
        {f"model__regressor__{name}": value for name, value in one.items()}
        for one in params
    ]
    plain = race_summary(state, params, ranking)
    short = race_summary(state, nested, ranking)
    assert (plain.pop("path"), short.pop("path")) == ("", "model__regressor__")
    assert short == plain


def test_the_runner_up_is_compared_over_all_folds(any_strategy):
    """A single fold is chance; witness: the column of means of cv_results_."""
    why = " ".join(summary(any_strategy)["winner"]["why"])
    results = any_strategy.cv_results_
    order = np.argsort(results["rank_test_score"])
    state = any_strategy.race_
    both = state.present[order[:2]].all(axis=0)
    last = state.observations[np.flatnonzero(both)[-1]].look
    if state.active.sum() == 1:
        tied = any_strategy.tie_ is not None
        assert ("All others were dropped" in why) != tied
    elif last.is_fold:
        same = [seen.look.stage == last.stage for seen in state.observations]
        looks = np.flatnonzero(both & same)
        second, first = (
            np.mean([results[f"look{look + 1}_test_score"][index] for look in looks])
            for index in order[1::-1]
        )
        assert f"over the last {len(looks)} folds that both ran" in why
        assert f"its mean r2 was {second:.5g} against {first:.5g}" in why
    else:
        assert "the last that both ran" in why


def test_the_folds_that_decided_are_named(any_strategy):
    """The final decides where there was one, not the folds before it."""
    why = " ".join(summary(any_strategy)["winner"]["why"])
    stages = {seen.look.stage for seen in any_strategy.race_.observations}
    assert ("folds of the final" in why) == ("final" in stages)


def test_rows_of_folds_that_grow_are_told_from_least_to_most():
    """In order of time each fold trains on more rows, and the score is of all."""
    X = np.random.default_rng(0).normal(size=(200, 1))
    search = RaceGridSearchCV(
        Ridge(), {"alpha": [1.0, 1.1]}, ordering="given", random_state=0
    ).fit(X, np.random.default_rng(1).normal(size=200))
    sizes = search.race_.subset_sizes
    assert min(sizes) < max(sizes)
    page = summary(search)
    assert page["winner"]["score_rows"] == f"{min(sizes)} to {max(sizes)}"
    assert (
        f"on {min(sizes)} to {max(sizes)} of 200 rows" in page["winner"]["score_note"]
    )


@pytest.mark.parametrize("reason", ["time_budget", "max_looks"])
def test_every_reason_to_stop_is_said_in_words(fitted, reason):
    state, params = fitted.race_, fitted.cv_results_["params"]
    ranking = fitted.strategy_.ranking(state)
    page = race_summary(state, params, ranking, stop_reason=reason)
    assert reason not in page["stop_sentence"]


def test_stages_sum_up_their_looks(any_search):
    """Witness: the looks themselves."""
    page = summary(any_search)
    for stage in page["stages"]:
        mine = [look for look in page["looks"] if look["stage"] == stage["stage"]]
        assert stage["n_looks"] == len(mine)
        assert stage["n_fits"] == sum(look["n_tested"] for look in mine)
        assert stage["n_dropped"] == sum(look["n_dropped"] for look in mine)
        assert stage["seconds"] == pytest.approx(sum(look["seconds"] for look in mine))
    assert sum(stage["n_looks"] for stage in page["stages"]) == page["n_looks"]


def test_a_growing_pool_counts_who_was_looked_at(proposed):
    """Witness: the state after each look."""
    page, state = summary(proposed), proposed.race_
    for look in page["looks"]:
        so_far = state.until(look["look"])
        seen = so_far.present.any(axis=1)
        assert look["n_active"] == (so_far.active & seen).sum()
    assert page["looks"][-1]["n_active"] == page["n_active"]


def test_configurations_that_wait_for_a_look_are_not_left(proposed):
    """The last look, the heading, the reasons and the command line count the same."""
    waits = {"alpha": 1.0, "gamma": 1.0}
    state = proposed.race_.admit([waits, waits])
    configurations = list(state.configurations)
    ranking = proposed.strategy_.ranking(proposed.race_)
    page = race_summary(state, configurations, ranking, stop_reason="time_budget")
    n_left = int(proposed.race_.active.sum())
    assert (page["n_active"], page["n_waiting"]) == (n_left, 2)
    assert page["looks"][-1]["n_active"] == n_left
    why = " ".join(page["winner"]["why"])
    assert f"first among the {n_left:,} configurations that were looked at" in why
    assert "2 others were not looked at." in why
    assert "<dt>not looked at</dt><dd>2</dd>" in page_html(page, title="waiting")
    told = SimpleNamespace(
        race_=state, strategy_=proposed.strategy_,
        cv_results_={"params": configurations},
    )  # fmt: skip
    assert [one.left for one in race_looks(told)] == [
        one["n_active"] for one in page["looks"]
    ]


def test_the_last_of_those_looked_at_did_not_beat_those_that_were_not():
    """One is left of two, and a third has only joined."""
    X, y = make_regression(60, 3, random_state=0)
    grid = {"alpha": [0.1, 1000.0]}
    search = RaceGridSearchCV(Ridge(), grid, random_state=0).fit(X, y)
    assert search.race_.n_left == 1
    search.race_ = state = search.race_.admit([{"alpha": 1.0}])
    page = race_summary(state, [*search.cv_results_["params"], {"alpha": 1.0}], [0])
    assert "All others that were looked at were dropped." in page["winner"]["why"]
    assert "1 other was not looked at." in page["winner"]["why"]


@pytest.mark.parametrize(("max_looks", "what"), [(1, "rows"), (None, "folds")])
def test_the_legend_of_slices_says_what_is_compared(max_looks, what):
    """A race that ended before its folds has confirmed nothing."""
    X, y = make_regression(160, 3, noise=20.0, random_state=0)
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"),
        {"alpha": np.logspace(-3, 3, 6), "gamma": [0.001, 0.1, 10.0]},
        strategy=TrackAndConfirm(direct_below=5, min_rows=30, n_folds=3),
        max_looks=max_looks,
        random_state=0,
    ).fit(X, y)
    slices, results = summary(search)["slices"], search.cv_results_
    assert slices["labels"] == [f"fewer {what}", f"as many {what} as the winner"]
    keys = np.array([results["n_folds"], results["score_n_train"]])
    as_much = (keys >= keys[:, [search.best_index_]]).all(axis=0)
    assert slices["as_much"] == as_much[slices["numbers"]].astype(int).tolist()


def test_pictures_hold_one_value_per_configuration_that_was_seen(any_search):
    page = summary(any_search)
    slices = page["slices"]
    n_seen = int(any_search.race_.present.any(axis=1).sum())
    assert len(slices["losses"]) == len(slices["numbers"]) == n_seen
    assert {len(axis["positions"]) for axis in slices["axes"]} == {n_seen}
    assert len(page["incumbent"]["times"]) == page["n_looks"]
    assert set(page["importance"]["names"]) == {"alpha", "gamma"}


def test_several_scores_are_there_to_choose_from():
    """Witnesses: the columns of cv_results_, with signs as people say them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + rng.normal(scale=0.5, size=120)
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"),
        {"alpha": [0.01, 1.0, 100.0]},
        scoring=["neg_mean_squared_error", "r2"],
        refit="neg_mean_squared_error",
        random_state=0,
    ).fit(X, y)
    page = summary(search)
    measures = {one["name"]: one for one in page["measures"]}
    assert list(measures) == ["mean_squared_error", "r2"]
    assert [one["lower"] for one in measures.values()] == [True, False]
    # One is the loss of the race and has its standard errors, the other is not.
    assert [one["has_errors"] for one in measures.values()] == [True, False]
    results, state = search.cv_results_, search.race_
    for index, record in enumerate(page["configurations"]):
        shown = {"neg_mean_squared_error": record["scores"], **record["other_scores"]}
        for name, values in shown.items():
            columns = [results[f"look{n}_test_{name}"][index] for n in record["looks"]]
            np.testing.assert_allclose(values, columns)
    leader = measures["r2"]["leader"]
    assert len(leader) == state.n_looks
    assert leader[-1] == pytest.approx(results["mean_test_r2"][search.best_index_])
    assert measures["mean_squared_error"]["leader"][-1] == pytest.approx(
        -search.best_score_
    )
    np.testing.assert_allclose(
        measures["mean_squared_error"]["comparable"], page["slices"]["losses"]
    )


def test_without_a_name_losses_are_shown(fitted):
    """A race alone does not know what its scores are called."""
    state = fitted.race_
    ranking = fitted.strategy_.ranking(state)
    page = race_summary(state, fitted.cv_results_["params"], ranking)
    [measure] = page["measures"]
    assert (measure["name"], measure["source"], measure["lower"]) == (
        ("loss", "losses", True)
    )
    assert measure["leader"] == page["incumbent"]["losses"]
    assert page["scoring"] is None


def test_the_leader_is_told_by_what_differs(fitted):
    """Few digits, and only parameters that differ between leaders."""
    page = summary(fitted)
    looks = page["looks"]
    params = fitted.cv_results_["params"]
    leaders = {look["leader"] for look in looks}
    for look in looks:
        text = look["leader_text"]
        for name, value in params[look["leader"]].items():
            differs = len({params[leader][name] for leader in leaders}) > 1
            assert (f"{name}={value:.4g}" in text) == (differs or len(leaders) == 1)
