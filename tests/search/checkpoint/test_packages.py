"""Versions of packages whose models a race fits, wherever it finds them."""

from __future__ import annotations

import sys
import types

import pytest
from scipy.stats import randint
from sklearn.ensemble import VotingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline

from cvst import RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst.exceptions import CheckpointError

from .conftest import Told

KINDS = (
    "step",
    "branch",
    "within a step",
    "list of a value",
    "drawn",
    "proposed",
    "derived",
)


def search_over(model, kind, path):
    """Return a search in whose estimator the model is not, or only its class is."""
    pipe = Pipeline([("model", Ridge())])
    values = {"model": [Ridge(), model]}
    options = {"random_state": 0, "max_looks": 1, "checkpoint": path}
    match kind:
        case "step":
            return RaceGridSearchCV(pipe, values, **options)
        case "branch":
            grid = [{"model__alpha": [1, 2]}, values]
            return RaceGridSearchCV(pipe, grid, **options)
        case "within a step":
            grid = {"model": [Ridge(), Pipeline([("inner", model)])]}
            return RaceGridSearchCV(pipe, grid, **options)
        case "list of a value":
            grid = {"estimators": [[("one", Ridge())], [("one", model)]]}
            several = VotingRegressor([("one", Ridge())])
            return RaceGridSearchCV(several, grid, **options)
        case "drawn":
            return RaceRandomSearchCV(pipe, values, n_iter=2, **options)
        case "proposed":
            # Seeds of trees and of ridges are both numbers.
            space = {**values, "model__random_state": randint(1, 9)}
            return RaceSearchCV(pipe, space, n_iter=4, **options)
    own = type("Own", (type(model),), {"__module__": "__main__"})
    return RaceGridSearchCV(own(), {"max_depth": [1, 2]}, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_another_version_of_a_package_in_the_space_is_refused(
    kind, tmp_path, rows, monkeypatch
):
    """A pipeline of scikit-learn does not say whose models its steps may be."""
    foreign = types.ModuleType("foreign")
    foreign.__version__ = "1.2"
    monkeypatch.setitem(sys.modules, "foreign", foreign)
    model = type("Foreign", (Told,), {"__module__": "foreign.models"})()
    path = tmp_path / "race"
    search_over(model, kind, path).fit(*rows)
    search_over(model, kind, path).fit(*rows)
    foreign.__version__ = "1.3"
    with pytest.raises(
        CheckpointError, match=r"the version of foreign was 1\.2, and is 1\.3 now"
    ):
        search_over(model, kind, path).fit(*rows)
