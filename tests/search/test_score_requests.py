"""What scores request by ``set_score_request`` reaches them, as in scikit-learn.

The witness of all values is ``GridSearchCV`` on the same folds.
"""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    f1_score,
    fbeta_score,
    get_scorer,
    log_loss,
    make_scorer,
    mean_squared_error,
)
from sklearn.model_selection import GridSearchCV, PredefinedSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cvst import PointwiseLoss, RaceGridSearchCV, RaceSearchCV, TrackAndConfirm
from cvst.datasets import open_dataset
from cvst.exceptions import AllFitsFailedError, CheckpointError, InvalidInputError

X, Y = make_classification(
    300, 8, n_informative=4, flip_y=0.2, class_sep=0.6, random_state=3
)
NUMBERS = make_regression(240, 6, noise=25.0, random_state=5)
AMOUNT = np.random.default_rng(1).lognormal(3.0, 1.0, len(Y))
COST = np.array([[0.0, 1.0], [6.0, -1.0]])
FOLDS = StratifiedKFold(4)
GRID = {"max_depth": [1, 2, 4, 7], "min_samples_leaf": [1, 8]}
TREE = DecisionTreeClassifier(random_state=0)


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def saved(y_true, y_pred, amount):
    """Return the amount that is right; it is paired with its rows or fails."""
    assert len(amount) == len(y_true) == len(y_pred)
    return float(np.sum(np.asarray(amount) * (y_true == y_pred)) / np.sum(amount))


def cost_of(y_true, y_pred, cost):
    assert cost.shape == (2, 2)
    return float(np.mean(cost[y_true, y_pred]))


def saved_of_proba(y_true, y_proba, amount, rate=1.0):
    assert len(amount) == len(y_true)
    return float(np.average((y_proba - y_true) ** 2, weights=amount**rate))


class Opaque(BaseEstimator):
    """A scorer that says by scikit-learn's means what it asks for."""

    def __call__(self, estimator, X, y, **asked):
        return saved(y, estimator.predict(X), **asked)

    def score(self, X, y, amount):
        """Its arguments are what can be requested."""


class Several(Opaque):
    """A scorer that returns several numbers."""

    def __call__(self, estimator, X, y, amount):
        predicted = estimator.predict(X)
        return {
            "saved": saved(y, predicted, amount),
            "hits": float(np.mean(predicted == y)),
            "largest": float(np.max(np.asarray(amount)[predicted == y], initial=0.0)),
        }


class Saver(DecisionTreeClassifier):
    """A model whose own score asks for amounts."""

    def score(self, X, y, sample_weight=None, amount=None):
        assert sample_weight is None
        return saved(y, self.predict(X), amount)


def both(scoring, fit, *, model=TREE, grid=GRID, rows=(X, Y), cv=FOLDS, **options):
    """Return GridSearchCV and the race on the same folds."""
    refit = {"refit": options.pop("refit", True)}
    theirs = GridSearchCV(model, grid, scoring=scoring, cv=cv, **refit)
    ours = RaceGridSearchCV(
        model,
        grid,
        scoring=scoring,
        cv=cv,
        strategy="cross_validation",
        **refit,
        **options,
    )
    return theirs.fit(*rows, **fit), ours.fit(*rows, **fit)


def assert_same(theirs, ours, names=("score",)):
    assert ours.best_params_ == theirs.best_params_
    for name in names:
        key = f"mean_test_{name}"
        values = theirs.cv_results_[key]
        assert len(np.unique(values)) > 1
        np.testing.assert_allclose(ours.cv_results_[key], values, rtol=1e-9)


def opaque(kind=Opaque):
    return kind().set_score_request(amount=True)


SCORERS = {
    "function": lambda: make_scorer(saved).set_score_request(amount=True),
    "error of probabilities": lambda: make_scorer(
        saved_of_proba, greater_is_better=False, response_method="predict_proba"
    ).set_score_request(amount=True),
    "callable": opaque,
}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("make", SCORERS.values(), ids=SCORERS)
def test_rows_of_metadata_reach_the_score(make, n_jobs):
    theirs, ours = both(make(), {"amount": AMOUNT}, n_jobs=n_jobs)
    assert_same(theirs, ours)
    plain = GridSearchCV(TREE, GRID, cv=FOLDS).fit(X, Y).cv_results_
    assert not np.allclose(
        plain["mean_test_score"], ours.cv_results_["mean_test_score"]
    )
    assert ours.best_score_estimate_ is not None
    # Their own ``score`` passes it on as well.
    half = slice(0, 150)
    given = X[half], Y[half]
    assert ours.score(*given, amount=AMOUNT[half]) == pytest.approx(
        theirs.score(*given, amount=AMOUNT[half])
    )


@pytest.mark.parametrize("strategy", ["track_and_confirm", "cvst"])
@pytest.mark.parametrize("make", SCORERS.values(), ids=SCORERS)
def test_races_on_subsets_too(make, strategy):
    """Each look of a race is what the scorer says about its rows."""
    seen = []
    scorer = make()

    def recorded(estimator, X, y, amount):
        seen.append((X.tobytes(), np.asarray(amount).tobytes()))
        return scorer(estimator, X, y, amount=amount)

    class Recorded(Opaque):
        def __call__(self, estimator, X, y, amount):
            return recorded(estimator, X, y, amount)

    for scoring in scorer, opaque(Recorded):
        search = RaceGridSearchCV(
            TREE, GRID, scoring=scoring, strategy=strategy, random_state=0
        )
        search.fit(X, Y, amount=AMOUNT)
    of_row = {row.tobytes(): amount for row, amount in zip(X, AMOUNT, strict=True)}
    width = X.shape[1] * 8
    for rows, amounts in seen:
        wanted = [of_row[rows[at : at + width]] for at in range(0, len(rows), width)]
        assert np.frombuffer(amounts).tolist() == wanted
    assert len({len(rows) for rows, _ in seen}) > 1


@pytest.mark.parametrize(
    "given",
    [list, tuple, lambda x: sparse.csr_array(x[:, None]), "series", "frame"],
    ids=["list", "tuple", "sparse", "series", "frame"],
)
def test_rows_in_any_container(given):
    pd = pytest.importorskip("pandas")
    kinds = {
        "series": lambda x: pd.Series(x, index=np.arange(len(x))[::-1]),
        "frame": lambda x: pd.DataFrame({"a": x, "b": 1.0}),
    }
    value = kinds.get(given, given)(AMOUNT)
    kind = type(value)

    def saved_anyhow(y_true, y_pred, amount):
        assert type(amount) in (kind, list)
        if sparse.issparse(amount):
            amount = amount.toarray()
        rows = np.asarray(amount).reshape(len(y_true), -1)[:, 0]
        return saved(y_true, y_pred, rows)

    scorer = make_scorer(saved_anyhow).set_score_request(amount=True)
    assert_same(*both(scorer, {"amount": value}))


@pytest.mark.parametrize("refit", ["saved", "cost", "hits", "renamed", "opaque"])
def test_several_scores_get_what_each_asks_for(refit):
    scoring = {
        "saved": make_scorer(saved).set_score_request(amount=True),
        "renamed": make_scorer(saved).set_score_request(amount="price"),
        "cost": make_scorer(cost_of, greater_is_better=False).set_score_request(
            cost=True
        ),
        "hits": "accuracy",
        "opaque": opaque(),
    }
    fit = {"amount": AMOUNT, "price": 1 / AMOUNT, "cost": COST}
    theirs, ours = both(scoring, fit, refit=refit)
    assert_same(theirs, ours, scoring)
    means = [ours.cv_results_[f"mean_test_{name}"] for name in scoring]
    assert len({values.tobytes() for values in means}) == 4  # one is there twice
    scored = get_scorer("accuracy")(ours.best_estimator_, X, Y)
    if refit == "cost":
        scored = -cost_of(Y, ours.predict(X), COST)
    elif refit == "renamed":
        scored = saved(Y, ours.predict(X), 1 / AMOUNT)
    elif refit in ("saved", "opaque"):
        scored = saved(Y, ours.predict(X), AMOUNT)
    assert ours.score(X, Y, **fit) == pytest.approx(scored)


def test_a_pointwise_loss_beside_a_score_that_asks():
    loss = PointwiseLoss(lambda truth, guess: (truth != guess) * 1.0, name="wrong")
    scoring = {
        "wrong": loss,
        "saved": make_scorer(saved).set_score_request(amount=True),
    }
    for refit in scoring:
        search = RaceGridSearchCV(
            TREE,
            GRID,
            scoring=scoring,
            refit=refit,
            cv=FOLDS,
            strategy="cross_validation",
        ).fit(X, Y, amount=AMOUNT)
        theirs = GridSearchCV(TREE, GRID, scoring=scoring["saved"], cv=FOLDS)
        theirs.fit(X, Y, amount=AMOUNT)
        np.testing.assert_allclose(
            search.cv_results_["mean_test_saved"],
            theirs.cv_results_["mean_test_score"],
        )


@pytest.mark.parametrize("refit", ["saved", "hits"])
def test_a_callable_that_returns_several_scores(refit):
    theirs, ours = both(opaque(Several), {"amount": AMOUNT}, refit=refit)
    assert_same(theirs, ours, ["saved", "hits", "largest"])
    assert ours.score(X, Y, amount=AMOUNT) == pytest.approx(
        theirs.score(X, Y, amount=AMOUNT)
    )


def test_the_score_of_the_estimator_itself():
    model = Saver(random_state=0).set_score_request(amount=True, sample_weight=False)
    theirs, ours = both(None, {"amount": AMOUNT}, model=model)
    assert_same(theirs, ours)
    assert ours.best_score_ == theirs.best_score_


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_score_of_a_pipeline_that_routes_by_itself(n_jobs):
    """Its own ``score`` looks at scikit-learn's settings, in every worker."""
    last = Saver(random_state=0).set_score_request(amount=True, sample_weight=True)
    model = make_pipeline(StandardScaler(), last)
    options = {"grid": {"saver__max_depth": [1, 2, 4]}, "n_jobs": n_jobs}
    try:
        GridSearchCV(model, options["grid"]).fit(X, Y, amount=AMOUNT)
    except TypeError:
        pytest.skip("this scikit-learn routes nothing to the score of a pipeline")
    assert_same(*both(None, {"amount": AMOUNT}, model=model, **options))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pipelines_route_the_arguments_of_fit_in_every_worker(n_jobs):
    model = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False),
        LogisticRegression().set_fit_request(sample_weight=True),
    )
    options = {"grid": {"logisticregression__C": [1e-3, 1.0]}, "n_jobs": n_jobs}
    scorer = get_scorer("neg_log_loss").set_score_request(sample_weight=False)
    fit = {"sample_weight": AMOUNT}
    theirs, ours = both(scorer, fit, model=model, return_predictions=True, **options)
    assert_same(theirs, ours)
    known = ours.out_of_fold_predictions_
    folds = [known.fold == number for number in range(4)]
    means = [[-log_loss(Y[f], one[f]) for f in folds] for one in known.predictions]
    wanted = theirs.cv_results_["mean_test_score"][known.configurations]
    np.testing.assert_allclose(np.mean(means, axis=1), wanted)


def test_the_loss_of_a_constant_is_known():
    """Slow configurations are told by it before the first look at all rows."""
    scorer = SCORERS["error of probabilities"]()
    search = RaceGridSearchCV(TREE, GRID, scoring=scorer).fit(X, Y, amount=AMOUNT)
    expected = saved_of_proba(Y, np.full(len(Y), Y.mean()), AMOUNT)
    assert search.race_.problem.constant_loss == pytest.approx(expected)


def test_what_is_not_by_row_is_passed_whole():
    scorer = make_scorer(cost_of, greater_is_better=False)
    assert_same(*both(scorer.set_score_request(cost=True), {"cost": COST}))
    scorer = make_scorer(
        saved_of_proba, greater_is_better=False, response_method="predict_proba"
    ).set_score_request(amount=True, rate=True)
    fit = {"amount": AMOUNT, "rate": 2.5}
    theirs, ours = both(scorer, fit)
    assert_same(theirs, ours)
    _, other = both(scorer, {**fit, "rate": 0.5})
    key = "mean_test_score"
    assert not np.allclose(other.cv_results_[key], ours.cv_results_[key])


@pytest.mark.parametrize(
    "value",
    [np.array(2.0), np.float64(2.0), 2, dict.fromkeys([*range(299), "beta"], 2.0)],
    ids=["array", "number of NumPy", "number", "mapping as long as the rows"],
)
def test_values_that_scikit_learn_cannot_count_are_passed_whole(value):
    """Its rule asks for a length, which these do not have or do not mean."""

    def beta_score(y_true, y_pred, beta):
        beta = beta["beta"] if isinstance(beta, dict) else float(beta)
        return fbeta_score(y_true, y_pred, beta=beta)

    scorer = make_scorer(beta_score).set_score_request(beta=True)
    ours = RaceGridSearchCV(
        TREE, GRID, scoring=scorer, cv=FOLDS, strategy="cross_validation"
    ).fit(X, Y, beta=value)
    theirs = GridSearchCV(
        TREE, GRID, scoring=make_scorer(fbeta_score, beta=2), cv=FOLDS
    )
    assert_same(theirs.fit(X, Y), ours)


def test_a_metric_of_scikit_learn_that_gets_more():
    """Our own fast version of it knows nothing of what is passed on."""
    scorer = make_scorer(fbeta_score).set_score_request(beta=True)
    theirs, ours = both(scorer, {"beta": 4.0})
    assert_same(theirs, ours)
    fixed = GridSearchCV(TREE, GRID, scoring=make_scorer(fbeta_score, beta=4), cv=FOLDS)
    np.testing.assert_allclose(
        fixed.fit(X, Y).cv_results_["mean_test_score"],
        ours.cv_results_["mean_test_score"],
    )
    scorer = make_scorer(mean_squared_error, greater_is_better=False)
    scorer.set_score_request(multioutput=True)
    rows = NUMBERS[0], np.column_stack([NUMBERS[1], NUMBERS[0] @ np.arange(6.0)])
    options = {"model": Ridge(), "grid": {"alpha": [0.1, 10.0, 500.0]}, "cv": 3}
    theirs, ours = both(scorer, {"multioutput": [0.1, 5.0]}, rows=rows, **options)
    assert_same(theirs, ours)


def test_weights_and_metadata_together():
    def weighed(y_true, y_pred, amount, sample_weight):
        return float(np.average((y_true == y_pred) * amount, weights=sample_weight))

    weights = np.random.default_rng(2).uniform(0.1, 3.0, len(Y))
    model = LogisticRegression().set_fit_request(sample_weight=True)
    scorer = make_scorer(weighed).set_score_request(amount=True, sample_weight=True)
    fit = {"amount": AMOUNT, "sample_weight": weights}
    grid = {"C": [1e-3, 0.1, 10.0]}
    assert_same(*both(scorer, fit, model=model, grid=grid))


def test_a_scorer_that_takes_all_it_asked_for_together():
    """Nothing in its signature names the weights, but its request does."""

    class Weighed(Opaque):
        def __call__(self, estimator, X, y, **asked):
            assert set(asked) == {"amount", "sample_weight"}
            kept = (estimator.predict(X) == y) * asked["amount"]
            return float(np.average(kept, weights=asked["sample_weight"]))

        def score(self, X, y, amount, sample_weight):
            """Its arguments are what can be requested."""

    weights = np.random.default_rng(2).uniform(0.1, 3.0, len(Y))
    model = DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=False)

    def weighed(y_true, y_pred, **asked):
        return float(np.average(y_true == y_pred, weights=asked["sample_weight"]))

    for scorer in Weighed(), make_scorer(weighed):
        scorer.set_score_request(amount=True, sample_weight=True)
        fit = {"amount": AMOUNT, "sample_weight": weights}
        assert_same(*both(scorer, fit, model=model))


def test_a_scorer_class_derived_from_that_of_scikit_learn():
    """It has the parts of a scorer, but counts in a way of its own."""

    class Doubled(type(get_scorer("accuracy"))):
        def _score(self, method_caller, estimator, X, y_true, **asked):
            return 2 * saved(y_true, estimator.predict(X), **asked)

    scorer = Doubled(saved, 1, {}, "predict").set_score_request(amount=True)
    assert_same(*both(scorer, {"amount": AMOUNT}))


def test_what_is_requested_but_not_given_is_left_out():
    scorer = make_scorer(f1_score).set_score_request(average=True)
    plain = both(scorer, {})
    assert_same(*plain)
    given = both(scorer, {"average": "macro"})
    assert_same(*given)
    means = [one.cv_results_["mean_test_score"] for one in (plain[1], given[1])]
    assert not np.allclose(*means)


def test_what_nobody_requests_is_refused():
    search = RaceGridSearchCV(TREE, GRID, scoring=make_scorer(saved))
    # Older versions of scikit-learn have no name for this error.
    with pytest.raises((UnsetMetadataPassedError, TypeError), match="amount"):
        search.fit(X, Y, amount=AMOUNT)


def test_another_length_is_explained():
    scorer = make_scorer(saved).set_score_request(amount=True)
    search = RaceGridSearchCV(TREE, GRID, scoring=scorer)
    with pytest.raises(
        AllFitsFailedError, match=r"amount has 299 entries for 300 rows, so the score"
    ):
        search.fit(X, Y, amount=AMOUNT[1:])
    scorer = opaque()
    with pytest.raises(AllFitsFailedError, match=r"Give|give one entry per row\."):
        search.set_params(scoring=scorer).fit(X, Y, amount=AMOUNT[1:])


def test_renamed_weights_of_another_length_are_refused():
    scorer = get_scorer("accuracy").set_score_request(sample_weight="amount")
    search = RaceGridSearchCV(TREE, GRID, scoring=scorer)
    with pytest.raises(InvalidInputError, match="299 entries for 300 rows"):
        search.fit(X, Y, amount=AMOUNT[1:])


def test_a_separate_test_set_has_no_metadata():
    calls = []

    class Watched(LogisticRegression):
        def fit(self, X, y):
            calls.append(len(y))
            return super().fit(X, y)

    scorer = make_scorer(saved).set_score_request(amount=True)
    search = RaceGridSearchCV(Watched(), {"C": [0.1, 1.0]}, scoring=scorer)
    with pytest.raises(InvalidInputError, match=r"'amount'.*none for those of X_val"):
        search.fit(X[:200], Y[:200], X_val=X[200:], y_val=Y[200:], amount=AMOUNT[:200])
    assert not calls


def test_a_separate_test_set_gets_what_is_not_by_row():
    scorer = make_scorer(cost_of, greater_is_better=False).set_score_request(cost=True)
    search = RaceGridSearchCV(
        TREE, GRID, scoring=scorer, strategy="cross_validation", rescale=None
    )
    search.fit(X[:200], Y[:200], X_val=X[200:], y_val=Y[200:], cost=COST)
    split = PredefinedSplit(np.repeat([-1, 0], [200, 100]))
    theirs = GridSearchCV(TREE, GRID, scoring=scorer, cv=split).fit(X, Y, cost=COST)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )


class Asking(PointwiseLoss):
    """Losses of rows that ask for more, which they cannot get."""

    def get_metadata_routing(self):
        request = make_scorer(saved).set_score_request(amount=True)
        return request.get_metadata_routing()


@pytest.mark.parametrize("named", [False, True])
def test_a_pointwise_loss_that_asks_is_refused(named):
    loss = Asking(lambda truth, guess: (truth != guess) * 1.0, name="wrong")
    scoring = {"hits": "accuracy", "own": loss} if named else loss
    search = RaceGridSearchCV(
        TREE, GRID, scoring=scoring, refit="hits" if named else True
    )
    with pytest.raises(InvalidInputError, match=r"'wrong' requests 'amount'"):
        search.fit(X, Y, amount=AMOUNT)


@pytest.mark.parametrize("others", [False, True])
def test_other_metadata_are_other_data_for_a_checkpoint(tmp_path, others):
    scorer = make_scorer(saved).set_score_request(amount=True)
    scoring = {"hits": "accuracy", "saved": scorer} if others else scorer
    search = RaceGridSearchCV(
        TREE,
        GRID,
        scoring=scoring,
        refit="hits" if others else True,
        checkpoint=tmp_path / "race.cvst",
        random_state=0,
    )
    first = search.fit(X, Y, amount=AMOUNT).cv_results_
    again = search.fit(X, Y, amount=AMOUNT.copy()).cv_results_
    np.testing.assert_array_equal(
        first["mean_fit_time"],
        again["mean_fit_time"],  # read, not done again
    )
    other = AMOUNT.copy()
    other[7] += 1.0
    of = "saved" if others else "the score"
    with pytest.raises(CheckpointError, match=f"amount of {of}"):
        search.fit(X, Y, amount=other)


def test_other_metadata_are_other_data_for_a_warm_start():
    scorer = make_scorer(saved).set_score_request(amount=True)
    search = RaceSearchCV(
        TREE, GRID, scoring=scorer, warm_start=True, random_state=0, max_looks=1
    )
    search.fit(X, Y, amount=AMOUNT)
    search.set_params(max_looks=2).fit(X, Y, amount=AMOUNT.copy())
    assert search.n_looks_ == 2
    with pytest.raises(InvalidInputError, match="not the data of the last fit"):
        search.fit(X, Y, amount=AMOUNT[::-1].copy())


@pytest.mark.parametrize("make", [SCORERS["function"], opaque], ids=["f", "callable"])
def test_ensembles_are_selected_by_the_score_with_its_metadata(make):
    """Witness of the gain: folds, weights and scores by hand."""
    search = RaceGridSearchCV(
        TREE,
        {"max_depth": [3, 5], "max_features": [0.3, 0.6]},
        scoring=make(),
        cv=FOLDS,
        strategy="cross_validation",
        ensemble=True,
        random_state=0,
    ).fit(X, Y, amount=AMOUNT)
    known = search.out_of_fold_predictions_
    chosen = [
        known.configurations.tolist().index(i) for i in search.ensemble_.configurations
    ]
    means = np.tensordot(search.ensemble_.weights, known.predictions[chosen], axes=1)

    def score(proba):
        folds = [known.fold == number for number in range(4)]
        return np.mean([saved(Y[f], proba[f].argmax(axis=1), AMOUNT[f]) for f in folds])

    singles = [score(one) for one in known.predictions]
    assert score(means) >= max(singles) - 1e-12
    best = search.cv_results_["mean_test_score"][known.configurations]
    np.testing.assert_allclose(singles, best, rtol=1e-9)
    # By the plain share of hits another ensemble is chosen.
    plain = RaceGridSearchCV(**search.get_params(deep=False)).set_params(
        scoring="accuracy"
    )
    plain.fit(X, Y)
    assert (
        plain.ensemble_.weights.tolist(),
        plain.ensemble_.configurations.tolist(),
    ) != (
        search.ensemble_.weights.tolist(),
        search.ensemble_.configurations.tolist(),
    )


def test_rows_on_disk_bring_their_metadata(tmp_path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    table.assign(y=Y).to_parquet(tmp_path / "rows.parquet")
    stored, _ = open_dataset(tmp_path / "rows.parquet", "y")
    scorer = make_scorer(saved).set_score_request(amount=True)
    searches = [
        RaceGridSearchCV(
            TREE, GRID, scoring=scorer, cv=FOLDS, strategy="cross_validation"
        ).fit(rows, Y, amount=AMOUNT)
        for rows in (table, stored)
    ]
    values = [one.cv_results_["mean_test_score"] for one in searches]
    np.testing.assert_allclose(*values)


@pytest.mark.parametrize("raced", [True, False])
def test_fewer_rows_than_given_bring_their_metadata(raced):
    """A race of a draw of the rows passes on what belongs to them."""
    rng = np.random.default_rng(7)
    many = rng.normal(size=(1500, 3))
    labels = (many[:, 0] + rng.normal(size=1500) > 0).astype(int)
    amount = np.arange(1500.0) + 1
    of_row = {row.tobytes(): one for row, one in zip(many, amount, strict=True)}
    seen = set()

    class Checked(Opaque):
        def __call__(self, estimator, X, y, amount):
            assert amount.tolist() == [of_row[row.tobytes()] for row in X]
            seen.update(amount.tolist())
            return saved(y, estimator.predict(X), amount)

    scorer = opaque(Checked)
    search = RaceGridSearchCV(
        TREE,
        {"max_depth": [1, 3]},
        scoring=scorer if raced else {"hits": "accuracy", "kept": scorer},
        refit=raced or "hits",
        strategy=TrackAndConfirm(max_rows=1000),
        random_state=0,
        error_score="raise",
    )
    search.fit(many, labels, amount=amount)
    assert 300 < len(seen) <= 1000


def test_regressors_with_a_deadline_for_each_fit():
    """Fits in processes that can be ended know the metadata too."""

    def earned(y_true, y_pred, amount):
        return -float(np.average(np.abs(y_true - y_pred), weights=amount))

    X, y = NUMBERS
    amount = np.random.default_rng(4).lognormal(0.0, 1.0, len(y))
    scorer = make_scorer(earned).set_score_request(amount=True)
    options = {
        "model": DecisionTreeRegressor(random_state=0),
        "grid": {"max_depth": [2, 4, 6]},
        "cv": 3,
        "fit_timeout": 60,
    }
    assert_same(*both(scorer, {"amount": amount}, rows=(X, y), **options))


def saved_sparse(y_true, y_pred, amount):
    return saved(y_true, y_pred, amount.toarray()[:, 0])


def test_sparse_rows_without_rows_of_their_own():
    """A table of coordinates cannot be cut, as scikit-learn knows."""
    scorer = make_scorer(saved_sparse).set_score_request(amount=True)
    table = sparse.coo_array(AMOUNT[:, None])
    assert_same(*both(scorer, {"amount": table}))


class Prices:
    """What ``repr`` shows by its address alone."""

    def __init__(self, fine):
        self.fine = fine


def fined(y_true, y_pred, prices):
    return -prices.fine * float(np.mean(y_true != y_pred))


def test_objects_are_the_same_for_a_warm_start_by_what_they_have():
    search = RaceSearchCV(
        TREE,
        GRID,
        scoring=make_scorer(fined).set_score_request(prices=True),
        warm_start=True,
        random_state=0,
        max_looks=1,
    )
    search.fit(X, Y, prices=Prices(2.0))
    search.set_params(max_looks=2).fit(X, Y, prices=Prices(2.0))
    assert search.n_looks_ == 2
    with pytest.raises(InvalidInputError, match="prices of the score"):
        search.fit(X, Y, prices=Prices(3.0))


def test_sparse_metadata_in_other_rows_are_others_for_a_warm_start():
    scorer = make_scorer(saved_sparse).set_score_request(amount=True)
    search = RaceSearchCV(
        TREE, GRID, scoring=scorer, warm_start=True, random_state=0, max_looks=1
    )
    amount = np.zeros(len(Y))
    amount[:200] = 2.0
    search.fit(X, Y, amount=sparse.csr_array(amount[:, None]))
    with pytest.raises(InvalidInputError, match="not the data of the last fit"):
        search.fit(X, Y, amount=sparse.csr_array(amount[::-1, None]))


def test_a_number_in_an_array_is_known_to_a_checkpoint(tmp_path):
    def beta_score(y_true, y_pred, beta):
        return fbeta_score(y_true, y_pred, beta=float(beta))

    scorer = make_scorer(beta_score).set_score_request(beta=True)
    search = RaceGridSearchCV(
        TREE, GRID, scoring=scorer, checkpoint=tmp_path / "race", random_state=0
    )
    search.fit(X, Y, beta=np.array(2.0))
    with pytest.raises(CheckpointError, match="beta of the score"):
        search.fit(X, Y, beta=np.array(3.0))


def by_rows(y_true, y_pred, sample_weight):
    """Divides by the rows, of which some have no weight."""
    return float(np.sum(sample_weight * (y_true == y_pred)) / len(y_true))


def minus_log_loss(y_true, y_proba, sample_weight):
    """Fails if the labels are not those of the columns."""
    return -log_loss(y_true, y_proba, sample_weight=sample_weight)


def f1_of_labels(y_true, y_pred, sample_weight):
    """Averages over all labels that it sees."""
    return f1_score(y_true, y_pred, average="macro", sample_weight=sample_weight)


NO_WEIGHT = {
    "by rows": make_scorer(by_rows),
    "log loss": make_scorer(minus_log_loss, response_method="predict_proba"),
    "labels": make_scorer(f1_of_labels),
    "areas": get_scorer("roc_auc_ovr_weighted"),
}


# The class has no area, and no true labels that count.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", NO_WEIGHT)
def test_a_metric_sees_the_rows_without_weight(name):
    """One class has no weight at all; the fits use it."""
    X, y = make_classification(
        240, 6, n_informative=4, n_classes=3, flip_y=0.2, random_state=0
    )
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    weights[::7] = 0
    weights[y == 2] = 0
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    assert_same(
        *both(
            NO_WEIGHT[name].set_score_request(sample_weight=True),
            {"sample_weight": weights},
            model=tree.set_fit_request(sample_weight=False),
            grid={"max_depth": [1, 2, 4]},
            rows=(X, y),
            random_state=0,
        )
    )
