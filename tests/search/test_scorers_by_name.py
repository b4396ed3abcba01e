"""Every name of scikit-learn's scorers, of every kind of task, against GridSearchCV."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cvst import RaceGridSearchCV
from cvst.exceptions import CVSTError

RNG = np.random.default_rng(0)
N_ROWS = 36
X = RNG.normal(size=(N_ROWS, 3))
FIRST, SECOND = (X[:, k] + 0.5 * RNG.normal(size=N_ROWS) for k in (0, 1))
CUTS = [-0.5, 0.5]

TARGETS = {
    "regression": np.exp(FIRST),
    "multi-output regression": np.exp(np.column_stack([FIRST, SECOND])),
    "binary": (FIRST > 0).astype(int),
    "multiclass": np.digitize(FIRST, CUTS),
    "multilabel": np.column_stack([FIRST > 0, SECOND > 0.3, FIRST > SECOND]).astype(
        int
    ),
    "multiclass-multioutput": np.digitize(np.column_stack([FIRST, SECOND]), CUTS),
}

GRID = {"max_depth": [1, 4]}
FOLDS = list(KFold(3, shuffle=True, random_state=0).split(X))

# Where scikit-learn has a number that tells nothing, with the reason that is given.
REFUSED = {
    # Two guesses at one of two classes are always right.
    ("binary", "top_k_accuracy"): "cannot tell models of 2 classes apart",
    # A model that is sure of every label has a loss of 0.
    ("multilabel", "neg_log_loss"): "a model which expects all of them wins",
    ("multilabel", "d2_log_loss_score"): "a model which expects all of them wins",
}

# Where scikit-learn has none: the share of the rows of which all targets are right.
BEYOND = {("multiclass-multioutput", "accuracy")}


def tree(kind):
    is_regression = "regression" in kind
    tree_of_kind = DecisionTreeRegressor if is_regression else DecisionTreeClassifier
    return tree_of_kind(random_state=0)


def expected_scores(kind):
    """Return the mean scores of GridSearchCV by name, none where it refuses."""
    methods = {name: get_scorer(name)._response_method for name in get_scorer_names()}
    possible = [
        name
        for name, asked in methods.items()
        if any(hasattr(tree(kind), one) for one in np.atleast_1d(asked))
    ]
    # Once for all of them: a score that fails is NaN, and the others stay.
    search = GridSearchCV(tree(kind), GRID, scoring=possible, refit=False, cv=FOLDS)
    results = search.fit(X, TARGETS[kind]).cv_results_
    means = {name: results[f"mean_test_{name}"] for name in possible}
    return {name: mean for name, mean in means.items() if not np.isnan(mean).all()}


def found_scores(kind, name):
    """Return those of a race, or what it says when it refuses."""
    search = RaceGridSearchCV(
        *(tree(kind), GRID),
        scoring=name,
        refit=False,
        cv=FOLDS,
        strategy="cross_validation",
    )
    try:
        return search.fit(X, TARGETS[kind]).cv_results_["mean_test_score"], ""
    except CVSTError as error:
        return None, str(error)


@pytest.mark.parametrize("kind", TARGETS)
def test_every_name_has_the_scores_of_grid_search_or_is_refused(kind):
    """Witness: GridSearchCV on the same folds."""
    differences, refused, beyond = [], {}, set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = expected_scores(kind)
        for name in get_scorer_names():
            means, told = found_scores(kind, name)
            if means is None:
                assert told
                if name in expected:
                    refused[kind, name] = told
            elif name not in expected:
                beyond.add((kind, name))
            elif not np.allclose(means, expected[name], rtol=1e-9, atol=1e-9):
                differences.append((name, means, expected[name]))
    assert differences == []
    assert beyond == {one for one in BEYOND if one[0] == kind}
    assert refused.keys() == {one for one in REFUSED if one[0] == kind}
    for pair, told in refused.items():
        assert REFUSED[pair] in told
    assert len(expected) >= 10


def test_accuracy_of_several_targets_is_the_share_of_rows_that_are_right():
    kind = "multiclass-multioutput"
    means, _ = found_scores(kind, "accuracy")
    for depth, mean in zip(GRID["max_depth"], means, strict=True):
        model = tree(kind).set_params(max_depth=depth)
        predicted = cross_val_predict(model, X, TARGETS[kind], cv=FOLDS)
        right = (predicted == TARGETS[kind]).all(axis=1)
        # The folds are equally large.
        assert mean == pytest.approx(right.mean())
