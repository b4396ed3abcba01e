"""Fits that were ended for want of time, and races that go on after them."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from cvst import PointwiseLoss, RaceGridSearchCV, load_checkpoint

from .conftest import exact_result


class Starved(DecisionTreeRegressor):
    """Hangs at a depth of three while a file is there, as if others had the machine."""

    folder = ""

    def __init__(self, folder="", max_depth=None, random_state=None):
        super().__init__(max_depth=max_depth, random_state=random_state)
        self.folder = folder

    def fit(self, X, y):
        """Fit, or wait."""
        folder = Path(self.folder)
        told = folder / f"fits of {self.max_depth}"
        with told.open("a") as file:
            file.write("x")
        if self.max_depth == 3 and (folder / "busy").exists():
            time.sleep(600)
        if told.name == "fits of 5" and told.read_text() == "xx":
            shutil.copy(folder / "race", folder / "copy")
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore:.*configurations failed")
def test_a_fit_that_was_ended_once_stays_ended(rows, tmp_path):
    """Which fits are too slow is a matter of the clock, and is asked once.

    The race is copied in its second look, and goes on when the machine has time: with
    another answer it would be another race.
    """
    X, y = rows
    (tmp_path / "busy").touch()
    grid = {"max_depth": [1, 2, 3, 5]}
    options = {"random_state": 0, "fit_timeout": 10.0}

    def fitted(name):
        model, path = Starved(str(tmp_path)), tmp_path / name
        return RaceGridSearchCV(model, grid, **options, checkpoint=path).fit(X, y)

    whole = exact_result(fitted("race"), X)
    assert "TimeoutError" in repr(whole["results"]["failure"])
    n_hung = len((tmp_path / "fits of 3").read_text())
    known = load_checkpoint(tmp_path / "copy")
    assert known.race_.n_looks == 1
    assert known.stop_reason_ is None
    (tmp_path / "busy").unlink()
    assert exact_result(fitted("copy"), X) == whole
    assert len((tmp_path / "fits of 3").read_text()) == n_hung


def squares_while_busy(y_true, y_pred):
    """Hang for made-up predictions while a file is there."""
    if np.ptp(y_pred) == 0 and Path(os.environ["CVST_BUSY"]).exists():
        time.sleep(600)
    return (y_true - y_pred) ** 2


def test_what_was_given_up_before_the_race_stays_so(rows, tmp_path, monkeypatch):
    """The loss of a constant decides who goes on, and is asked once."""
    X, y = rows
    busy = tmp_path / "busy"
    busy.touch()
    monkeypatch.setenv("CVST_BUSY", str(busy))

    def constant():
        search = RaceGridSearchCV(
            DecisionTreeRegressor(),
            {"max_depth": [2, 4]},
            scoring=PointwiseLoss(squares_while_busy),
            random_state=0,
            fit_timeout=10.0,
            checkpoint=tmp_path / "race",
        )
        return search.fit(X, y).race_.problem.constant_loss

    assert constant() is None
    busy.unlink()
    assert constant() is None
