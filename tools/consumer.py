"""What a user might write: type-checked from outside against the installed wheel.

It is not run. ``reveal_type`` is not used: mypy compares the annotations, and a wrong
one is marked by an expected error, so that ``Any`` everywhere would be noticed.
"""

from __future__ import annotations

from sklearn.svm import SVC

import cvst
from cvst import CVST, PointwiseLoss, RaceGridSearchCV, RaceSearchCV, TrackAndConfirm
from cvst.race import RaceState
from cvst.search import RacePlan
from cvst.statistics import Significance, friedman_test
from cvst.theory import safety_zone

version: str = cvst.__version__
search: RaceGridSearchCV = RaceGridSearchCV(SVC(), {"C": [1.0, 10.0]}, random_state=0)
fitted: RaceGridSearchCV = search.fit([[0.0], [1.0]], [0, 1])
plan: RacePlan = search.plan([[0.0], [1.0]], [0, 1])
timed = RaceSearchCV(SVC(), time_budget=1.5)
strategies: list[CVST | TrackAndConfirm] = [CVST(max_steps=20), TrackAndConfirm()]
zone: float = safety_zone(10)


def p_value(found: Significance) -> float:
    """Return a number that is typed."""
    return found.p_value


def looks(state: RaceState) -> int:
    """Return a number that is typed."""
    return state.n_looks


loss = PointwiseLoss(lambda y, prediction: abs(y - prediction))
wrong_zone: str = safety_zone(10)  # type: ignore[assignment]
wrong_name = RaceGridSearchCV(SVC(), {}, n_loks=3)  # type: ignore[call-arg]
wrong_import = cvst.RaceGridSearch  # type: ignore[attr-defined]
wrong_test: int = friedman_test  # type: ignore[assignment]
