"""Which configurations share work."""

from __future__ import annotations

import pytest
from sklearn.linear_model import Lasso

from cvst.evaluation.sharing import groups_by


class Silent:
    """Has no parameters to ask for."""

    def get_params(self, deep=True):
        raise AssertionError


def test_a_parameter_that_is_not_set_has_the_templates_value():
    grid = {0: {"alpha": 1.0}, 1: {"alpha": 2.0, "tol": 1e-4}, 2: {"tol": 0.1}}
    assert groups_by(Lasso(tol=1e-4), grid, ["alpha"]) == [[0, 1], [2]]


def test_the_template_is_asked_only_where_something_is_not_set():
    grid = {0: {"alpha": 1.0, "tol": 0.1}, 3: {"alpha": 2.0, "tol": 0.1}}
    assert groups_by(Silent(), grid, ["alpha"]) == [[0, 3]]
    with pytest.raises(AssertionError):
        groups_by(Silent(), {**grid, 4: {"alpha": 1.0}}, ["alpha"])
