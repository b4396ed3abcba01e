"""Every score of scikit-learn that fits a task: its value, and one loss per row."""

import warnings
from functools import cache, partial

import numpy as np
import pytest
from sklearn import metrics
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from cvst import RaceGridSearchCV
from cvst.evaluation import resolve_loss
from cvst.evaluation._protocol import FittedModel
from cvst.evaluation.losses.influence import WholeScore
from cvst.exceptions import InvalidInputError

N_TRAIN, N_TEST = 60, 90


def data(kind):
    """Return inputs, targets and an estimator for a kind of task."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N_TRAIN + N_TEST, 3))
    signal = X[:, 0] + 0.8 * rng.normal(size=len(X))
    if kind == "binary":
        return X, (signal > 0.5).astype(int), LogisticRegression()
    if kind == "decisions":
        return X, np.where(signal > 0.5, 1, -1), SVC()
    if kind == "words":
        y = np.array(["no", "yes"])[(signal > 0.5).astype(int)]
        return X, y, KNeighborsClassifier(11)
    if kind == "classes":
        y = np.array(["x", "y", "z"])[np.digitize(signal, [-0.5, 0.5])]
        return X, y, KNeighborsClassifier(15)
    if kind == "sets":
        other = X[:, 1] + rng.normal(size=len(X))
        y = np.column_stack([signal > 0, other > 0.3, signal > 1]).astype(int)
        return X, y, OneVsRestClassifier(LogisticRegression())
    if kind == "forest of sets":
        y = np.column_stack([signal > 0, X[:, 1] > 0.3]).astype(int)
        return X, y, RandomForestClassifier(5, random_state=0)
    if kind == "numbers":
        return X, np.exp(signal), PoissonRegressor()
    assert kind == "outputs"
    y = np.column_stack([np.exp(signal), np.exp(-signal) + X[:, 2] ** 2])
    return X, y, LinearRegression()


KINDS = [
    "binary",
    "decisions",
    "words",
    "classes",
    "sets",
    "forest of sets",
    "numbers",
    "outputs",
]


# Scores that scikit-learn computes, but that cannot tell models of such a task apart:
# clusterings of numbers, log losses of sets (0 for a model that is sure of all labels),
# and two guesses at one of two classes.
CLUSTERINGS = [
    name
    for name in get_scorer_names()
    if "cluster" in get_scorer(name)._score_func.__module__
]
DO_NOT_FIT = {
    *[(kind, name) for kind in ("numbers", "outputs") for name in CLUSTERINGS],
    *[
        (kind, name)
        for kind in ("sets", "forest of sets")
        for name in get_scorer_names()
        if "log_loss" in name
    ],
    *[(kind, "top_k_accuracy") for kind in ("binary", "words", "decisions")],
}


@cache
def fitted(kind):
    X, y, estimator = data(kind)
    model = estimator.fit(X[:N_TRAIN], y[:N_TRAIN])
    return model, X[N_TRAIN:], y, y[N_TRAIN:]


def expected_score(scorer, model, X, y, weights=None):
    """Return scikit-learn's value; None where it refuses or has none."""
    arguments = {} if weights is None else {"sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            score = scorer(model, X, y, **arguments)
        except (ValueError, TypeError, AttributeError, IndexError):
            return None
    return score if np.isfinite(score) else None


def assessed(loss, model, X, y, weights=None):
    prediction = getattr(model, loss.response)(X)
    return loss.assess(y, weights)(prediction, getattr(model, "classes_", None))


def weights_of(n):
    return np.random.default_rng(0).integers(0, 4, n).astype(float)


# Of a set of labels they need not, and scikit-learn says so every time.
@pytest.mark.filterwarnings("ignore:The y_prob values do not sum to one")
@pytest.mark.parametrize("name", get_scorer_names())
def test_every_name_that_fits_a_task_gives_scikit_learns_score(name):
    """Witness: the scorer of that name on the same model and rows, with weights too."""
    n_tasks = 0
    for kind in KINDS:
        if (kind, name) in DO_NOT_FIT:
            continue
        model, X, y, y_test = fitted(kind)
        scorer = get_scorer(name)
        for weights in (None, weights_of(N_TEST)):
            expected = expected_score(scorer, model, X, y_test, weights)
            if expected is None:
                continue
            n_tasks += 1
            loss = resolve_loss(name, model, y)
            losses, score, _ = assessed(loss, model, X, y_test, weights)
            mean = np.average(losses, weights=weights)
            by_mean = loss.score([mean], y_test, weights)[0]
            assert losses.shape == (N_TEST,)
            assert by_mean == pytest.approx(expected, rel=1e-9, abs=1e-12)
            if score is not None:
                assert score == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert n_tasks > 0


CURVE = ("decision_function", "predict_proba")


def shown(value):
    """Name a case the same in every process, for tests that run side by side."""
    return str(value).split(" at 0x")[0]


SCORERS = [
    ("words", make_scorer(metrics.f1_score, pos_label="yes")),
    ("words", make_scorer(metrics.f1_score, pos_label="no")),
    ("words", make_scorer(metrics.fbeta_score, beta=2, pos_label="yes")),
    ("classes", make_scorer(metrics.fbeta_score, beta=0.5, average="macro")),
    ("classes", make_scorer(metrics.f1_score, labels=["x", "z"], average="macro")),
    ("classes", make_scorer(metrics.f1_score, labels=["x", "z"], average="micro")),
    ("classes", make_scorer(metrics.f1_score, labels=["x", "z"], average="weighted")),
    ("classes", make_scorer(metrics.recall_score, labels=["x", "q"], average="macro")),
    ("classes", make_scorer(metrics.jaccard_score, average="weighted")),
    (
        "classes",
        make_scorer(
            metrics.precision_score, labels=["q"], average="macro", zero_division=1.0
        ),
    ),
    ("classes", make_scorer(metrics.balanced_accuracy_score, adjusted=True)),
    ("classes", make_scorer(metrics.cohen_kappa_score)),
    ("classes", make_scorer(metrics.cohen_kappa_score, weights="linear")),
    ("classes", make_scorer(metrics.cohen_kappa_score, weights="quadratic")),
    ("classes", make_scorer(metrics.cohen_kappa_score, labels=["x", "z"])),
    ("classes", make_scorer(metrics.cohen_kappa_score, labels=["z", "x", "y"])),
    ("binary", make_scorer(metrics.accuracy_score, normalize=False)),
    ("binary", make_scorer(metrics.roc_auc_score, response_method="predict_proba")),
    (
        "binary",
        make_scorer(metrics.roc_auc_score, max_fpr=0.3, response_method=CURVE),
    ),
    (
        "words",
        make_scorer(
            metrics.average_precision_score,
            pos_label="no",
            response_method="predict_proba",
        ),
    ),
    (
        "decisions",
        make_scorer(
            metrics.average_precision_score, pos_label=-1, response_method=CURVE
        ),
    ),
    *[
        (
            kind,
            make_scorer(
                metric,
                average=average,
                response_method="predict_proba",
                **({"multi_class": "ovr"} if metric is metrics.roc_auc_score else {}),
            ),
        )
        for kind in ("classes", "sets")
        for average in ("macro", "weighted", "micro")
        for metric in (metrics.roc_auc_score, metrics.average_precision_score)
    ],
    ("outputs", make_scorer(metrics.r2_score, force_finite=False)),
    (
        "outputs",
        make_scorer(
            metrics.root_mean_squared_error,
            multioutput=[1, 3],
            greater_is_better=False,
        ),
    ),
    ("outputs", make_scorer(metrics.explained_variance_score, multioutput=[1, 3])),
    (
        "outputs",
        make_scorer(metrics.explained_variance_score, multioutput="variance_weighted"),
    ),
    (
        "numbers",
        make_scorer(partial(metrics.median_absolute_error), greater_is_better=False),
    ),
]


@pytest.mark.parametrize(("kind", "scorer"), SCORERS, ids=shown)
def test_a_scorer_object_with_arguments_gives_its_own_score(kind, scorer):
    """Witness: the scorer itself on the same model and rows."""
    model, X, y, y_test = fitted(kind)
    loss = resolve_loss(scorer, model, y)
    for weights in (None, weights_of(N_TEST)):
        expected = expected_score(scorer, model, X, y_test, weights)
        if expected is None:
            assert weights is not None
            continue
        losses, _, _ = assessed(loss, model, X, y_test, weights)
        mean = np.average(losses, weights=weights)
        actual = loss.score([mean], y_test, weights)[0]
        assert actual == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("scoring", "kind", "message"),
    [
        ("f1", "classes", "y has 3.*'f1_macro'"),
        ("f1", "words", r"pos_label=1 is not among.*\['no', 'yes'\].*pos_label='yes'"),
        ("f1", "sets", "3 columns.*'f1_macro'"),
        ("f1", "numbers", "holds numbers"),
        ("roc_auc", "classes", "y has 3. Use 'roc_auc_ovr'"),
        ("roc_auc", "numbers", "holds numbers"),
        ("average_precision", "words", "pos_label=1 is not among the labels"),
        ("balanced_accuracy", "sets", "counts one label per row"),
        ("explained_variance", "words", "needs numbers"),
        ("positive_likelihood_ratio", "classes", "y has 3. Use 'balanced_accuracy'"),
        ("neg_negative_likelihood_ratio", "sets", "3 columns. Use 'accuracy'"),
        ("positive_likelihood_ratio", "numbers", "two classes.*Use 'r2'"),
        ("neg_max_error", "outputs", "y has 2. Use 'neg_mean_squared_error'"),
        ("neg_median_absolute_error", "words", "y holds texts. Use 'accuracy'"),
        ("rand_score", "sets", "y has 3. Use 'accuracy'"),
        ("v_measure_score", "outputs", "y has 2. Use 'neg_mean_squared_error'"),
    ],
)
def test_what_does_not_fit_the_task_is_refused_with_a_way_out(scoring, kind, message):
    """Witness: scikit-learn raises as well, once all is fitted."""
    model, X, y, y_test = fitted(kind)
    with pytest.raises(InvalidInputError, match=message):
        resolve_loss(scoring, model, y)
    assert expected_score(get_scorer(scoring), model, X, y_test) is None


def test_log_loss_of_sets_is_refused_for_the_model_that_would_win():
    """Witness: scikit-learn's own value for a model that expects every label."""
    model, X, y, y_test = fitted("sets")
    for name in ("neg_log_loss", "d2_log_loss_score"):
        with pytest.raises(InvalidInputError, match=r"expects all of them wins.*brier"):
            resolve_loss(name, model, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sure = metrics.log_loss(y_test, np.ones(y_test.shape))
        own = metrics.log_loss(y_test, model.predict_proba(X))
    assert sure < 1e-9 < own


@pytest.mark.parametrize("kind", ["sets", "forest of sets"])
@pytest.mark.parametrize("name", ["neg_brier_score", "d2_brier_score"])
def test_races_on_brier_scores_of_sets_have_the_means_of_scikit_learn(kind, name):
    """Witness: GridSearchCV on the same folds; a forest predicts label by label."""
    X, y, estimator = data(kind)
    grid = {"estimator__C": [0.01, 1, 100]}
    if kind != "sets":
        grid = {"max_depth": [1, 2, 6]}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The y_prob values do not sum to one")
        plain = GridSearchCV(estimator, grid, scoring=name, cv=KFold(4)).fit(X, y)
        race = RaceGridSearchCV(
            estimator, grid, scoring=name, cv=KFold(4), strategy="cross_validation"
        ).fit(X, y)
    np.testing.assert_allclose(
        race.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    assert race.best_params_ == plain.best_params_


def median_gap(y_true, y_pred):
    return float(np.median(np.abs(y_true - y_pred)))


def opaque(estimator, X, y):
    return metrics.f1_score(y, estimator.predict(X))


def test_a_metric_of_ones_own_and_an_opaque_scorer_give_their_own_scores():
    model, X, y, y_test = fitted("numbers")
    scorer = make_scorer(median_gap, greater_is_better=False)
    loss = resolve_loss(scorer, model, y)
    losses, score, _ = assessed(loss, model, X, y_test)
    assert score == scorer(model, X, y_test)
    assert losses.mean() == pytest.approx(-score)

    model, X, y, y_test = fitted("binary")
    loss = resolve_loss(opaque, model, y)
    losses, score, _ = loss.assess(y_test)(FittedModel(model, X), None)
    assert score == opaque(model, X, y_test)
    assert losses.mean() == pytest.approx(-score)
    assert loss(model, X, y_test) == score


@pytest.mark.parametrize(
    ("name", "y_test"),
    [
        ("roc_auc", np.ones(8, dtype=int)),
        ("roc_auc_ovr", np.ones(8, dtype=int)),
    ],
)
def test_rows_without_a_score_tell_no_models_apart(name, y_test):
    y = np.array([0, 1] * 8)
    loss = resolve_loss(name, LogisticRegression(), y)
    values = np.random.default_rng(0).random(8)
    prediction = np.column_stack([1 - values, values])
    losses, score, _ = loss.assess(y_test)(prediction, np.array([0, 1]))
    assert np.isnan(score)
    assert np.all(losses == 0)


def test_a_class_that_a_small_subset_lacked_counts_as_never_predicted():
    y = np.array(["a", "b", "c"] * 4)
    loss = resolve_loss("roc_auc_ovr", KNeighborsClassifier(), y)
    rng = np.random.default_rng(0)
    two = rng.dirichlet([1, 1], 12)
    three = np.column_stack([two[:, 0], np.zeros(12), two[:, 1]])
    expected = metrics.roc_auc_score(y, three, multi_class="ovr")
    _, score, _ = loss.assess(y)(two, np.array(["a", "c"]))
    assert score == pytest.approx(expected)


def test_labels_that_no_training_row_had_are_counted():
    loss = resolve_loss("f1_macro", KNeighborsClassifier(), np.array([0, 1, 0, 1]))
    y_test, predicted = np.array([0, 1, 2, 2]), np.array([0, 3, 2, 0])
    _, score, _ = loss.assess(y_test)(predicted, None)
    expected = metrics.f1_score(y_test, predicted, average="macro")
    assert score == pytest.approx(expected)


def test_whole_scores_stay_what_they_are_after_a_pickle():
    import pickle

    for name in ("roc_auc", "f1", "matthews_corrcoef", "neg_max_error"):
        model, X, y, y_test = fitted("binary")
        loss = resolve_loss(name, model, y)
        assert isinstance(loss, WholeScore)
        again = pickle.loads(pickle.dumps(loss))
        np.testing.assert_array_equal(
            assessed(again, model, X, y_test).losses,
            assessed(loss, model, X, y_test).losses,
        )


@pytest.mark.parametrize("name", get_scorer_names())
def test_scores_lie_within_their_range(name):
    """Of models that are right, that guess, and that are as wrong as can be."""
    rng = np.random.default_rng(0)
    scorer, n_found = get_scorer(name), 0
    for kind in ("binary", "classes", "sets", "numbers", "outputs"):
        model, X, y, y_test = fitted(kind)
        try:
            low, high = resolve_loss(name, model, y).score_range
        except InvalidInputError:
            continue
        assert low < high
        assert np.isfinite([low, high]).any(), "all names are known"
        for truth in (y_test, rng.permutation(y_test), y_test[::-1]):
            score = expected_score(scorer, model, X, truth)
            if score is not None:
                n_found += 1
                assert low <= score <= high
    assert n_found


def test_the_range_follows_sign_and_arguments():
    def range_of(scoring, model=None):
        model = LogisticRegression() if model is None else model
        return resolve_loss(scoring, model, np.array([0, 1])).score_range

    adjusted = make_scorer(metrics.balanced_accuracy_score, adjusted=True)
    count = make_scorer(metrics.accuracy_score, normalize=False)
    missed = make_scorer(metrics.hamming_loss, greater_is_better=False)
    assert range_of(adjusted) == (-np.inf, 1.0)
    assert range_of(count) == (0.0, np.inf)
    assert range_of(missed) == (-1.0, 0.0)
    assert range_of(None) == (0.0, 1.0)
    assert range_of(None, LinearRegression()) == (-np.inf, 1.0)
    for own in (opaque, make_scorer(median_gap)):
        assert range_of(own) == (-np.inf, np.inf)
