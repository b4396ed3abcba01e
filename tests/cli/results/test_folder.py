from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import Ridge

from cvst import RaceGridSearchCV
from cvst.cli.results._folder import (
    FILES,
    check_folder,
    model_bytes,
    results_csv,
    write_folder,
)
from cvst.exceptions import InvalidInputError


@pytest.fixture
def search():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    grids = [
        {"alpha": [1.0, 1e3], "positive": [True]},
        {"alpha": [0.1], "solver": ["svd"]},
    ]
    return RaceGridSearchCV(Ridge(), grids, random_state=0).fit(X, y)


def test_the_table_holds_all_results_best_first(search):
    """Read back by pandas, it is ``cv_results_`` sorted by rank."""
    table = pd.read_csv(io.BytesIO(results_csv(search.cv_results_)))
    expected = pd.DataFrame(search.cv_results_).sort_values("rank_test_score")
    assert list(table["rank_test_score"]) == [1, 2, 3]
    for name in ("mean_test_score", "look1_test_score", "dropped_at", "param_alpha"):
        np.testing.assert_array_equal(
            table[name].to_numpy(float), expected[name].to_numpy(float)
        )
    given = [params.get("solver") for params in expected["params"]]
    assert [
        None if pd.isna(value) else value for value in table["param_solver"]
    ] == given


def test_a_saved_model_predicts_the_same(search):
    content, unknown = model_bytes(search.best_estimator_)
    loaded = skops.io.loads(content, trusted=unknown)
    X = np.eye(3)
    np.testing.assert_array_equal(loaded.predict(X), search.best_estimator_.predict(X))


def test_files_of_an_earlier_run_do_not_stay(tmp_path):
    """A model of one race must not lie beside the winner of another."""
    write_folder(tmp_path, {"winner.json": b"1", "model.skops": b"old"})
    (tmp_path / "mine.txt").write_text("keep", encoding="utf-8")
    write_folder(tmp_path, {"winner.json": b"2"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "mine.txt",
        "winner.json",
    ]
    assert (tmp_path / "winner.json").read_bytes() == b"2"


@pytest.mark.parametrize("fails_at", range(1, 4))
def test_a_crash_leaves_nothing_half_written(fails_at, tmp_path, monkeypatch):
    """Whichever write fails, the folder holds the old files, whole, and no others."""
    old = dict.fromkeys(FILES, b"old")
    write_folder(tmp_path, old)
    calls = 0
    flush = os.fsync

    def failing(descriptor):
        nonlocal calls
        calls += 1
        if calls == fails_at:
            raise OSError(28, "No space left on device")
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OSError, match="No space left"):
        write_folder(tmp_path, dict.fromkeys(FILES, b"new" * 1000))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == old


@pytest.mark.parametrize("fails_at", range(1, 2 * len(FILES)))
def test_an_exchange_that_fails_leaves_the_old_files(fails_at, tmp_path, monkeypatch):
    """Whichever rename fails, nothing is mixed: not even a file that was not there."""
    old = dict.fromkeys(FILES[:-1], b"old")
    write_folder(tmp_path, old)
    calls = 0
    rename = Path.replace

    def failing(self, target):
        nonlocal calls
        calls += 1
        if calls == fails_at:
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OSError, match="Input/output error"):
        write_folder(tmp_path, dict.fromkeys(FILES, b"new"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == old


def test_a_folder_in_use_is_refused_before_any_work(tmp_path):
    check_folder(tmp_path / "not" / "there", overwrite=False)
    (tmp_path / "cv_results.csv").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"already holds cv_results\.csv"):
        check_folder(tmp_path, overwrite=False)
    check_folder(tmp_path, overwrite=True)
    with pytest.raises(InvalidInputError, match="is a file"):
        check_folder(tmp_path / "cv_results.csv", overwrite=True)
    with pytest.raises(InvalidInputError, match="be the name of a folder: File name"):
        check_folder(tmp_path / ("n" * 300), overwrite=True)
    with pytest.raises(InvalidInputError, match="cannot be made"):
        check_folder(tmp_path / "cv_results.csv" / "below", overwrite=True)


def test_a_way_back_from_a_folder_that_is_not_there_is_refused(tmp_path):
    """Else it would be made, and results at the end of the way be replaced unasked."""
    used = tmp_path / "used"
    used.mkdir()
    (used / "winner.json").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"goes back from .*missing', which is"):
        check_folder(tmp_path / "missing" / ".." / "used", overwrite=False)
    assert not (tmp_path / "missing").exists()
    check_folder(used / ".." / "fresh", overwrite=False)
    with pytest.raises(InvalidInputError, match=r"already holds winner\.json"):
        check_folder(used / ".." / "used", overwrite=False)
