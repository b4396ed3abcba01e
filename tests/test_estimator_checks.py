"""scikit-learn's own checks on both searches."""

from __future__ import annotations

import pytest
from sklearn.base import is_classifier
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from cvst import RaceGridSearchCV, RaceRandomSearchCV

# The instances that scikit-learn itself checks its searches with.
ESTIMATORS = [
    (Ridge(), {"alpha": [0.1, 1.0]}),
    (LogisticRegression(), {"C": [0.1, 1.0]}),
    (make_pipeline(PCA(), Ridge()), {"ridge__alpha": [0.1, 1.0]}),
    (
        make_pipeline(PCA(), LogisticRegression()),
        {"logisticregression__C": [0.1, 1.0]},
    ),
]
SEARCHES = [
    search
    for estimator, grid in ESTIMATORS
    for search in (
        RaceGridSearchCV(estimator, grid, error_score="raise", random_state=0),
        RaceRandomSearchCV(
            estimator, grid, n_iter=2, error_score="raise", random_state=0
        ),
    )
]


def expected_failures(search):
    """Return what scikit-learn exempts its own searches from, where we need it too."""
    if is_classifier(search):
        return {}
    return {"check_supervised_y_2d": "DataConversionWarning not caught"}


@pytest.mark.filterwarnings("ignore::cvst.exceptions.CVSTWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(SEARCHES, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    """A search is an estimator like any other."""
    check(estimator)
