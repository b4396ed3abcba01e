"""Influence values: brute force, jackknife, and the level of the paired test."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import make_scorer

from cvst.evaluation import resolve_loss
from cvst.evaluation._protocol import FittedModel
from cvst.evaluation.losses.influence._areas import (
    _places,
    average_precision,
    kinds_of,
    roc_area,
)
from cvst.evaluation.losses.influence._jackknife import BlockMeans
from cvst.evaluation.losses.influence._whole import blocks_of
from cvst.exceptions import InvalidInputError
from cvst.race import LookLosses
from cvst.race._similarity import PrefixSimilarity
from cvst.statistics import paired_excess_test


def ties_and_labels(n=60, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    values = np.round(rng.normal(size=n) + positive, 1)
    return values, positive, rng


def components(values, positive):
    """DeLong's structural components, pair by pair."""
    ups, downs = values[positive], values[~positive]
    wins = np.array([[(u > d) + 0.5 * (u == d) for d in downs] for u in ups])
    return wins.mean(axis=1), wins.mean(axis=0)


def test_the_area_and_its_values_are_delongs_components():
    """Witness: all pairs of a positive and a negative row, one by one."""
    values, positive, _ = ties_and_labels()
    area, influence = roc_area(values, kinds_of(positive, np.ones(len(values))))
    ups, downs = components(values, positive)
    assert area == pytest.approx(ups.mean())
    np.testing.assert_allclose(
        influence[positive] * positive.mean(), ups - area, atol=1e-12
    )
    np.testing.assert_allclose(
        influence[~positive] * (1 - positive.mean()), downs - area, atol=1e-12
    )


def test_the_variance_of_a_difference_of_areas_is_delongs():
    """Witness: the covariance matrices of DeLong, DeLong and Clarke-Pearson (1988)."""
    first, positive, rng = ties_and_labels(200)
    second = first + rng.normal(size=200)
    losses, ups, downs = [], [], []
    for values in (first, second):
        area, influence = roc_area(values, kinds_of(positive, np.ones(200)))
        losses.append(1 - area - influence)
        up, down = components(values, positive)
        ups.append(up)
        downs.append(down)
    contrast = np.array([1.0, -1.0])
    n_up, n_down = int(positive.sum()), int((~positive).sum())
    # They divide by n - 1, a mean of influence values by n.
    matrix = np.cov(ups, ddof=0) / n_up + np.cov(downs, ddof=0) / n_down
    expected = contrast @ matrix @ contrast
    difference = losses[0] - losses[1]
    assert difference.var() / 200 == pytest.approx(expected, rel=1e-9)


# 43 patients of DeLong, DeLong and Clarke-Pearson (1988): albumin, total protein, score
# by Krebs and Goplerud, and whether an operation helped. The table is that of the
# SAS/STAT User's Guide, LOGISTIC Procedure, example "Comparing Receiver Operating
# Characteristic Curves". The results that the example prints were written down from
# memory, before ours were computed: the page itself was at hand without them.
PATIENTS = """
3.0 5.8 10 0  3.2 6.3 5 1  3.9 6.8 3 1  2.8 4.8 6 0  3.2 5.8 3 1  0.9 4.0 5 0
2.5 5.7  8 0  1.6 5.6 5 1  3.8 5.7 5 1  3.7 6.7 6 1  3.2 5.4 4 1  3.8 6.6 6 1
4.1 6.6  5 1  3.6 5.7 5 1  4.3 7.0 4 1  3.6 6.7 4 0  2.3 4.4 6 1  4.2 7.6 4 0
4.0 6.6  6 0  3.5 5.8 6 1  3.8 6.8 7 1  3.0 4.7 8 0  4.5 7.4 5 1  3.7 7.4 5 1
3.1 6.6  6 1  4.1 8.2 6 1  4.3 7.0 5 1  4.3 6.5 4 1  3.2 5.1 5 1  2.6 4.7 6 1
3.3 6.8  6 0  1.7 4.0 7 0  3.7 6.1 5 1  3.3 6.3 7 1  4.2 7.7 6 1  3.5 6.2 5 1
2.9 5.7  9 0  2.1 4.8 7 1  2.8 6.2 8 0  4.0 7.0 7 1  3.3 5.7 6 1  3.7 6.9 5 1
3.6 6.6  5 1
"""


def test_areas_of_delongs_patients_are_those_that_were_published():
    """Witness: areas, standard errors and test as that example prints them."""
    table = np.array(PATIENTS.split(), float).reshape(-1, 4)
    helped = table[:, 3] == 1
    sizes = helped.sum(), (~helped).sum()
    assert sizes == (31, 12)
    areas, ups, downs = [], [], []
    # A high score is a bad sign.
    for values in (table[:, 0], table[:, 1], -table[:, 2]):
        area, influence = roc_area(values, kinds_of(helped, np.ones(len(table))))
        areas.append(area)
        ups.append(influence[helped] * helped.mean())
        downs.append(influence[~helped] * (1 - helped.mean()))
    assert areas == pytest.approx([0.7366, 0.6478, 0.7258], abs=5e-5)
    matrix = np.cov(ups) / sizes[0] + np.cov(downs) / sizes[1]
    errors = np.sqrt(matrix.diagonal())
    assert errors == pytest.approx([0.0927, 0.1000, 0.1028], abs=5e-5)
    contrasts = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])
    differences, spread = contrasts @ areas, contrasts @ matrix @ contrasts.T
    assert differences == pytest.approx([0.0108, -0.0780], abs=5e-5)
    assert np.sqrt(spread.diagonal()) == pytest.approx([0.0953, 0.1046], abs=5e-5)
    statistic = differences @ np.linalg.solve(spread, differences)
    assert statistic == pytest.approx(2.5340, abs=5e-5)
    assert stats.chi2.sf(statistic, 2) == pytest.approx(0.2817, abs=5e-5)


def test_average_precision_has_the_influence_values_of_its_formula():
    """Witnesses: the formula row by row, and a little more weight on each row."""
    values, positive, _ = ties_and_labels()
    n, kind = len(values), positive.astype(float)
    area, influence = average_precision(values, kinds_of(positive, np.ones(n)))
    share = np.array([np.mean(values >= value) for value in values])
    precision = np.array([kind[values >= value].mean() for value in values])
    for row, y in enumerate(kind):
        below = positive & (values <= values[row])
        moved = np.sum((y - precision[below]) / (n * share[below]))
        by_hand = (y * precision[row] + moved - y * area) / kind.mean()
        assert influence[row] == pytest.approx(by_hand, abs=1e-12)
        weights = np.full(n, 1.0 / n)
        weights += 1e-6 * (np.arange(n) == row) - 1e-6 / n
        heavier = metrics.average_precision_score(kind, values, sample_weight=weights)
        assert influence[row] == pytest.approx((heavier - area) / 1e-6, abs=1e-3)


SCORES = [
    "balanced_accuracy",
    "f1",
    "f1_macro",
    "f1_weighted",
    "precision_macro",
    "recall_macro",
    "jaccard_weighted",
    "matthews_corrcoef",
    make_scorer(metrics.cohen_kappa_score),
    make_scorer(metrics.cohen_kappa_score, weights="quadratic"),
    make_scorer(metrics.f1_score, average="micro", labels=[0, 1]),
    make_scorer(metrics.balanced_accuracy_score, adjusted=True),
    "roc_auc",
    "roc_auc_ovr",
    "roc_auc_ovr_weighted",
    "roc_auc_ovo",
    "roc_auc_ovo_weighted",
    "average_precision",
    make_scorer(
        metrics.average_precision_score,
        average="micro",
        response_method="predict_proba",
    ),
    "explained_variance",
    "neg_root_mean_squared_error",
]


def made_up(scoring, n, seed=0):
    """Return targets, a prediction and the loss of a score."""
    rng = np.random.default_rng(seed)
    shown = str(scoring)
    if "variance" in shown or "root" in shown:
        y = rng.normal(size=(n, 2))
        loss = resolve_loss(scoring, LinearRegression(), y)
        return y, y + rng.normal(0.3, 1, (n, 2)) * [1, 2], None, loss
    binary = shown in ("f1", "roc_auc", "average_precision")
    n_classes = 2 if binary else 3
    y = rng.choice(n_classes, n, p=[0.7, 0.3] if binary else [0.5, 0.3, 0.2])
    loss = resolve_loss(scoring, LogisticRegression(), y)
    logits = rng.normal(size=(n, n_classes)) + np.eye(n_classes)[y]
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    if loss.response == "predict":
        return y, proba.argmax(axis=1), None, loss
    loss.response = "predict_proba"
    return y, proba, np.arange(n_classes), loss


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scoring", SCORES, ids=str)
def test_influence_values_are_what_the_score_loses_without_a_row(scoring, weighted):
    """Witness: leave each row out in turn; they agree to first order in 1 / n."""
    n = 400
    y, prediction, classes, loss = made_up(scoring, n)
    weights = None
    mass = np.ones(n)
    if weighted:
        weights = mass = np.random.default_rng(1).integers(1, 4, n).astype(float)
    losses, score, _ = loss.assess(y, weights)(prediction, classes)
    influence = loss.top - score - losses
    assert mass @ influence == pytest.approx(0.0, abs=1e-8)
    rows = np.random.default_rng(2).choice(n, 60, replace=False)
    total = mass.sum()
    left_out = []
    for row in rows:
        rest = np.arange(n) != row
        kept = None if weights is None else weights[rest]
        without = loss.assess(y[rest], kept)(prediction[rest], classes).score
        if "variance" in str(scoring):
            # The targets' spread is the same for all models, and is left as it was.
            errors = np.cov((y - prediction)[rest].T, ddof=0, aweights=mass[rest])
            spread = np.cov(y.T, ddof=0, aweights=mass)
            without = 1 - np.mean(np.diag(errors) / np.diag(spread))
        left_out.append((score - without) * (total - mass[row]) / mass[row])
    expected = np.array(left_out)
    scale = influence.std()
    np.testing.assert_allclose(influence[rows], expected, rtol=0.03, atol=0.06 * scale)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("undefined", [0.0, 1.0, np.nan])
@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("metric", ["precision", "recall", "f1"])
def test_labels_that_never_occur_are_averaged_as_in_scikit_learn(
    metric, average, undefined
):
    """Witness: scikit-learn, for labels that are only predicted, or nowhere."""
    function = getattr(metrics, f"{metric}_score")
    rng = np.random.default_rng(0)
    known = np.arange(4)
    for n_true, n_given, weighted in [(1, 1, 0), (1, 3, 1), (2, 4, 0), (4, 2, 1)]:
        y, given = rng.integers(0, n_true, 9), rng.integers(0, n_given, 9)
        weights = rng.integers(1, 4, 9).astype(float) if weighted else None
        for labels in (None, [2], [2, 3]):
            settings = {"labels": labels, "average": average}
            settings["zero_division"] = undefined
            expected = function(y, given, sample_weight=weights, **settings)
            scorer = make_scorer(function, **settings)
            loss = resolve_loss(scorer, LogisticRegression(), known)
            score = loss.value(y, weights)(given, known)
            assert score == pytest.approx(expected, nan_ok=True)


def median_error(y_true, y_pred):
    return float(np.median(np.abs(y_true - y_pred)))


def test_a_jackknife_by_blocks_spreads_like_the_score_itself():
    """Witness: the standard deviation of the score over fresh samples."""
    rng = np.random.default_rng(0)
    scorer = make_scorer(median_error, greater_is_better=False)
    loss = resolve_loss(scorer, LinearRegression(), np.zeros(3))
    scores, spreads = [], []
    for _ in range(150):
        y = rng.normal(size=400)
        losses, score, _ = loss.assess(y)(np.zeros(400), None)
        scores.append(score)
        spreads.append(losses.std() / np.sqrt(400))
    assert np.sqrt(np.mean(np.square(spreads))) == pytest.approx(
        np.std(scores), rel=0.25
    )


def area_of_model(model, X, y):
    return roc_area(X[:, 0], kinds_of(y == 1, np.ones(len(y))))[0]


def test_blocks_of_an_opaque_scorer_spread_like_the_influence_values():
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(40):
        y = (rng.random(600) < 0.4).astype(int)
        X = (rng.normal(size=600) + y)[:, None]
        loss = resolve_loss(area_of_model, LogisticRegression(), y)
        by_blocks = loss.assess(y)(FittedModel(None, X), None).losses
        area, influence = roc_area(X[:, 0], kinds_of(y == 1, np.ones(600)))
        assert by_blocks.mean() == pytest.approx(-area)
        ratios.append(by_blocks.var() / influence.var())
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.2)


def area_or_error(model, X, y):
    """As scikit-learn's function did for a long time if there is one class."""
    area = area_of_model(model, X, y)
    if np.isnan(area):
        raise ValueError("There is one class only.")
    return area


@pytest.mark.parametrize("n_positive", [3, 6, 10])
def test_blocks_without_a_rare_class_do_not_make_an_opaque_score_sure(n_positive):
    """Only blocks with a positive row have an area, and the whole hangs on those.

    Witnesses: the spread of the area over fresh samples, and the level of the test.
    """
    rng = np.random.default_rng(0)
    y = np.zeros(200, int)
    y[:n_positive] = 1
    assess = resolve_loss(area_or_error, LogisticRegression(), y).assess(y)
    scores, spreads, differences = [], [], []
    for _ in range(200):
        common = rng.normal(size=200)
        losses = []
        for _ in range(2):
            X = (common + rng.normal(size=200) + 1.2 * y)[:, None]
            losses.append(assess(FittedModel(None, X), None).losses)
        scores.append(-losses[0].mean())
        spreads.append(losses[0].var() / 200)
        differences.append(losses[0] - losses[1])
    told = np.sqrt(np.mean(spreads))
    assert told == pytest.approx(np.std(scores), rel=0.2)
    plain = np.mean(paired_excess_test(differences, guard=False) <= LEVEL)
    assert plain <= LEVEL + (0.046 if n_positive > 3 else 0.07)
    assert np.mean(paired_excess_test(differences) <= LEVEL) <= LEVEL


def recall_or_zero(model, X, y):
    """As scikit-learn's recall with ``zero_division=0``."""
    found = X[:, 0] > 1.2
    return float(found[y == 1].mean()) if (y == 1).any() else 0.0


def recall_or_nothing(model, X, y):
    """Do the same with ``zero_division=np.nan``."""
    return recall_or_zero(model, X, y) if (y == 1).any() else float("nan")


@pytest.mark.parametrize("n_positive", [3, 6, 10, 15])
def test_a_function_may_give_a_number_where_it_has_no_score(n_positive):
    """There is no block without a positive row, so the number is never asked for.

    Witness: the level of the test.
    """
    rng = np.random.default_rng(0)
    y = np.zeros(200, int)
    y[:n_positive] = 1
    scorers = recall_or_zero, recall_or_nothing
    assess = [resolve_loss(one, LogisticRegression(), y).assess(y) for one in scorers]
    differences = [], []
    for _ in range(200):
        common = rng.normal(size=200)
        X = [(common + rng.normal(size=200) + 1.2 * y)[:, None] for _ in range(2)]
        for known, function in zip(differences, assess, strict=True):
            first, second = (function(FittedModel(None, one), None) for one in X)
            known.append(first.losses - second.losses)
    np.testing.assert_array_equal(*differences)
    level = np.mean(paired_excess_test(differences[0], guard=False) <= LEVEL)
    assert level <= LEVEL + 0.046


def mean_recall(model, X, y):
    """Return the mean recall of three classes, of those that are there."""
    found = np.digitize(X[:, 0], [0.7, 1.9])
    return float(np.mean([(found[y == one] == one).mean() for one in np.unique(y)]))


def test_blocks_have_a_rare_one_of_three_classes():
    """Witness: the level of the test."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [150, 42, 8])
    assess = resolve_loss(mean_recall, LogisticRegression(), y).assess(y)
    differences = []
    for _ in range(200):
        common = rng.normal(size=200)
        X = [(common + rng.normal(size=200) + 1.2 * y)[:, None] for _ in range(2)]
        first, second = (assess(FittedModel(None, one), None).losses for one in X)
        differences.append(first - second)
    level = np.mean(paired_excess_test(differences, guard=False) <= LEVEL)
    assert level <= LEVEL + 0.046


def test_a_single_positive_row_tells_no_models_apart():
    y = np.zeros(100, int)
    y[5] = 1
    assess = resolve_loss(recall_or_zero, LogisticRegression(), y).assess(y)
    X = np.zeros((100, 1))
    bad = assess(FittedModel(None, X), None).losses
    X[5] = 3.0
    good = assess(FittedModel(None, X), None).losses
    assert bad.mean() - good.mean() == pytest.approx(1.0)
    assert paired_excess_test([bad - good])[0] >= 0.5


def the_only_positive(y_true, y_pred):
    """Return the mean recall of two classes; without one of them there is none."""
    if len(np.unique(y_true)) < 2:
        raise ValueError("There is one class only.")
    return metrics.balanced_accuracy_score(y_true, y_pred)


def of_many_rows(model, X, y):
    if len(y) < 100:
        raise ValueError("There are too few rows.")
    return float(X[77, 0])


@pytest.mark.parametrize(
    ("scoring", "made"),
    [
        (area_or_error, lambda X: FittedModel(None, X)),
        (of_many_rows, lambda X: FittedModel(None, X)),
        (make_scorer(the_only_positive), lambda X: (X[:, 0] > 0.5).astype(int)),
    ],
    ids=["opaque", "no block", "jackknife"],
)
def test_a_score_that_hangs_on_one_block_tells_no_models_apart(scoring, made):
    """Its spread is not known; it was taken for none at all, and any gap for proof."""
    rng = np.random.default_rng(0)
    y = np.zeros(200, int)
    y[77] = 1
    assess = resolve_loss(scoring, LogisticRegression(), y).assess(y)
    X = rng.normal(size=(2, 200, 1))
    X[0, 77], X[1, 77] = -1.0, 1.0
    worse, better = (assess(made(one), None) for one in X)
    assert worse.score < better.score
    for one in (worse, better):
        assert one.losses.mean() == pytest.approx(-one.score)
    difference = (worse.losses - better.losses)[None]
    assert paired_excess_test(difference, guard=False) > 0.15
    assert paired_excess_test(difference) > 0.3


def areas_by_scikit_learn(y_true, y_pred):
    return metrics.roc_auc_score(y_true, y_pred)


@pytest.mark.parametrize(
    ("scoring", "made"),
    [
        (lambda model, X, y: areas_by_scikit_learn(y, X[:, 0]), FittedModel),
        (make_scorer(areas_by_scikit_learn), lambda _, X: X[:, 0]),
    ],
    ids=["opaque", "jackknife"],
)
def test_nothing_is_said_of_blocks_without_a_score(scoring, made):
    """Nobody asked for their scores; that of all rows may complain, once."""
    y = np.zeros(200, int)
    y[3] = 1
    X = np.random.default_rng(0).normal(size=(200, 1))
    assess = resolve_loss(scoring, LogisticRegression(), y).assess(y)
    before = list(warnings.filters)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assess(made(None, X), None)
    assert not heard
    assert warnings.filters == before
    nothing = resolve_loss(scoring, LogisticRegression(), y).assess(0 * y)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        nothing(made(None, X), None)
    assert [one.category for one in heard] == [UndefinedMetricWarning]


@pytest.mark.parametrize("weights", [None, np.array([0.7])])
def test_one_row_has_all_of_its_variance_explained(weights):
    """As in scikit-learn; a rounding of the mean error made it 0 now and then."""
    rng = np.random.default_rng(0)
    loss = resolve_loss("explained_variance", LinearRegression(), rng.normal(size=9))
    for y, predicted in rng.normal(size=(200, 2, 1)) * 1e3:
        assess = loss.assess(y, weights)
        score = assess(predicted, None).score
        assert score == metrics.explained_variance_score(
            y, predicted, sample_weight=weights
        )


def test_an_infinite_score_leaves_no_row_undefined():
    y = np.arange(40) % 2
    loss = resolve_loss(lambda model, X, y: np.inf, LogisticRegression(), y)
    losses = loss.assess(y)(FittedModel(None, np.zeros((40, 1))), None).losses
    assert np.all(losses == -np.inf)


def test_values_of_blocks_are_put_on_their_first_rows_with_weight():
    """Witness: block by block, to the last bit."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        blocks = rng.permutation(np.arange(50) % 7)
        mass = rng.integers(0, 3, 50) * rng.random(50)
        mass[blocks == 3] = 0.0
        means = np.where(rng.random(7) < 0.3, np.nan, rng.normal(size=7))
        sizes = np.bincount(blocks, mass, 7)
        known = np.isfinite(means) & (sizes > 0)
        centred = means - np.average(means[known], weights=sizes[known])
        expected = np.zeros(50)
        for block in np.flatnonzero(known):
            first = next(r for r in range(50) if blocks[r] == block and mass[r] > 0)
            expected[first] = centred[block] * sizes[block] / mass[first]
        np.testing.assert_array_equal(
            BlockMeans(blocks, mass).on_first_rows(means), expected
        )


def test_places_of_values_are_those_of_numpy():
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(size=300), 1)
    values[:3] = -np.inf
    values[3:6] = -0.0
    places, n_places = _places(values)
    known, expected = np.unique(values, return_inverse=True)
    np.testing.assert_array_equal(places, expected)
    assert n_places == len(known) < 100
    assert _places(np.zeros(1)) == (0, 1)


X_TWO = np.random.default_rng(0).normal(size=(40, 2))
NO_ONES = np.c_[np.zeros(40, int), np.arange(40) % 2]


@pytest.mark.filterwarnings("ignore:No positive class:UserWarning")
@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_average_precision_without_positive_rows_is_scikit_learns(average):
    """A fold may have no row of a rare label: its part of the mean is 0, not NaN."""
    scorer = make_scorer(
        metrics.average_precision_score,
        average=average,
        response_method="decision_function",
    )
    loss = resolve_loss(scorer, LogisticRegression(), NO_ONES[:, ::-1] | NO_ONES)
    found = loss.assess(NO_ONES)(X_TWO, None)
    expected = metrics.average_precision_score(NO_ONES, X_TWO, average=average)
    assert found.score == pytest.approx(expected)
    assert found.losses.mean() == pytest.approx(loss.top - expected)


def test_average_precision_of_two_classes_without_positive_rows_is_zero():
    y = np.arange(40) % 2
    loss = resolve_loss("average_precision", LogisticRegression(), y)
    with pytest.warns(match="No positive class"):
        expected = metrics.average_precision_score(np.zeros(40), X_TWO[:, 0])
    losses, score, _ = loss.assess(0 * y)(X_TWO[:, 0], None)
    assert score == expected == 0
    assert np.all(losses == 1), "it tells no models apart"


def test_average_precision_without_rows_of_a_class_is_undefined():
    """As in scikit-learn, which cannot match the columns then."""
    y = np.arange(60) % 3
    scorer = make_scorer(
        metrics.average_precision_score, response_method="predict_proba"
    )
    loss = resolve_loss(scorer, LogisticRegression(), y)
    proba = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    score = metrics.average_precision_score(y, proba)
    assert loss.assess(y)(proba, np.arange(3)).score == pytest.approx(score)
    found = loss.assess(y[y < 2])(proba[y < 2], np.arange(3))
    assert np.isnan(found.score)
    with pytest.raises(ValueError, match="should be a 1d array"):
        metrics.average_precision_score(y[y < 2], proba[y < 2])


@pytest.mark.parametrize("predicted", ["ab", "abc", "bA"])
def test_true_labels_are_looked_up_once(predicted):
    """Also where a model predicts labels that are not in ``y``."""
    rng = np.random.default_rng(0)
    y = rng.choice(list("ab"), 200)
    loss = resolve_loss("f1_macro", LogisticRegression(), y)
    assess = loss.assess(y[:100])
    for _ in range(3):
        given = rng.choice(list(predicted), 100)
        score = metrics.f1_score(y[:100], given, average="macro")
        assert assess(given, None).score == pytest.approx(score)


def test_blocks_have_their_share_of_each_class():
    y = np.array([0] * 90 + [1] * 30)
    blocks = blocks_of(y, 20, by_class=True)
    counts = np.array([np.bincount(blocks[y == one], minlength=20) for one in (0, 1)])
    assert np.all(counts.sum(axis=0) == 6)
    assert np.ptp(counts, axis=1).max() <= 1


LEVEL = 0.05
N_DRAWS = 200


def geometric_mean(y_true, y_pred):
    """Return the root of sensitivity times specificity, known to the jackknife only."""
    right = y_true == y_pred
    return float(np.sqrt(right[y_true == 1].mean() * right[y_true == 0].mean()))


def two_equal_models(rng, n, kind):
    """Draw targets and two predictions that err alike, but not in the same rows."""
    y = (rng.random(n) < 0.25).astype(int)
    common = rng.normal(size=n)
    values = [common + rng.normal(size=n) + 1.2 * y for _ in range(2)]
    if kind == "labels":
        values = [(one > 0.8).astype(int) for one in values]
    return y, values


@pytest.mark.parametrize(
    ("scoring", "kind"),
    [
        ("roc_auc", "values"),
        ("average_precision", "values"),
        ("f1", "labels"),
        ("balanced_accuracy", "labels"),
        ("matthews_corrcoef", "labels"),
        (make_scorer(metrics.cohen_kappa_score), "labels"),
        (make_scorer(geometric_mean), "labels"),
    ],
    ids=str,
)
def test_equal_models_are_told_apart_no_more_often_than_the_level(scoring, kind):
    """Student's test of the losses rejects in 5 of 100 draws; the guarded one less."""
    rng = np.random.default_rng(5)
    n = 200
    loss = resolve_loss(scoring, LogisticRegression(), np.array([0, 1]))
    differences = np.empty((N_DRAWS, n))
    flops = 0
    for draw in range(N_DRAWS):
        y, values = two_equal_models(rng, n, kind)
        assess = loss.assess(y)
        losses = np.array([assess(one, None).losses for one in values])
        differences[draw] = losses[0] - losses[1]
        seen = LookLosses(
            losses, losses.mean(axis=1), *np.zeros((2, 2)), rankable=loss.rankable
        )
        flops += not PrefixSimilarity(LEVEL).compare(seen).top.all()
    plain = np.mean(paired_excess_test(differences, guard=False) <= LEVEL)
    guarded = np.mean(paired_excess_test(differences) <= LEVEL)
    # Three standard errors of 200 draws are 0.046.
    assert 0.01 <= plain <= LEVEL + 0.046
    assert guarded <= plain + 0.01
    # The leader is the better of two, so both sides are tested at once.
    assert flops / N_DRAWS <= 2 * LEVEL + 0.046


def test_ranks_of_single_rows_would_tell_equal_models_apart():
    """Why they are not ranked: chance shifts the loss of every single row."""
    rng = np.random.default_rng(5)
    loss = resolve_loss("f1", LogisticRegression(), np.array([0, 1]))
    assert not loss.rankable
    flops = {True: 0, False: 0}
    for _ in range(40):
        y, values = two_equal_models(rng, 300, "labels")
        assess = loss.assess(y)
        losses = np.array([assess(one, None).losses for one in values])
        build = partial(LookLosses, losses, losses.mean(axis=1), *np.zeros((2, 2)))
        for rankable in (True, False):
            top = PrefixSimilarity(LEVEL).compare(build(rankable=rankable)).top
            flops[rankable] += not top.all()
    assert flops[False] <= 8
    assert flops[True] >= 20


@pytest.mark.parametrize("n_different", [4, 12])
def test_models_that_differ_in_a_handful_of_rows_are_hardly_ever_told_apart(
    n_different,
):
    """Half of the different rows are better on average, half are worse."""
    rng = np.random.default_rng(1)
    loss = resolve_loss("f1", LogisticRegression(), np.array([0, 1]))
    rejected = 0
    for _ in range(200):
        y, (first, _) = two_equal_models(rng, 300, "labels")
        second = first.copy()
        rows = rng.choice(300, n_different, replace=False)
        second[rows] = rng.permutation(second[rows])
        flipped = rng.choice(300, n_different, replace=False)
        first, second = first.copy(), second
        for row in flipped:
            model = first if rng.random() < 0.5 else second
            model[row] = 1 - model[row]
        assess = loss.assess(y)
        difference = assess(first, None).losses - assess(second, None).losses
        rejected += paired_excess_test(difference[None])[0] <= 0.01
    assert rejected / 200 <= 0.02


def test_a_rank_test_by_name_is_refused_for_a_score_of_all_rows():
    losses = np.random.default_rng(0).random((2, 30))
    seen = LookLosses(losses, losses.mean(axis=1), *np.zeros((2, 2)), rankable=False)
    with pytest.raises(InvalidInputError, match=r"'friedman'.*similarity='auto'"):
        PrefixSimilarity(LEVEL, "friedman").compare(seen)
