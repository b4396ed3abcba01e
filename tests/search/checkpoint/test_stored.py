"""A checkpoint is read without the data, also while the race runs."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import randint

from cvst import CVST, RaceGridSearchCV, RaceSearchCV, load_checkpoint
from cvst.displays import (
    ImportanceDisplay,
    IncumbentDisplay,
    LearningCurvesDisplay,
    SurvivorsDisplay,
    TracesDisplay,
)
from cvst.exceptions import CheckpointError
from cvst.report import page_html, summary
from cvst.search.checkpoint._journal import Journal, create

from .conftest import Told, exact, exact_looks

GRID = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 7, 20]}

pytestmark = pytest.mark.filterwarnings("ignore:.*configurations failed")


@pytest.fixture(params=["track_and_confirm", "cvst", "proposals"])
def pair(request, tmp_path, rows):
    """Return a fitted search, and its checkpoint."""
    path = tmp_path / "race"
    if request.param == "proposals":
        space = {"max_depth": randint(1, 9), "min_samples_leaf": [1, 5, 7]}
        search = RaceSearchCV(Told(), space, n_iter=9, random_state=0, checkpoint=path)
    else:
        search = RaceGridSearchCV(
            Told(), GRID, strategy=request.param, random_state=0, checkpoint=path
        )
    return search.fit(*rows), load_checkpoint(path)


def test_it_is_the_race(pair):
    search, loaded = pair
    assert exact_looks(loaded.race_) == exact_looks(search.race_)
    assert loaded.stop_reason_ == search.stop_reason_
    assert loaded.strategy_.confirming_reason == search.strategy_.confirming_reason
    assert loaded.best_params_ == search.best_params_
    assert loaded.best_score_ == search.best_score_
    for name, values in search.cv_results_.items():
        assert exact(loaded.cv_results_[name]) == exact(values), name


def test_the_estimate_is_that_of_the_search(pair):
    """Its numbers; what it was made from needs the rows."""
    search, loaded = pair
    told = search.best_score_estimate_
    assert loaded.best_score_estimate_ == replace(told, evidence=None)
    assert loaded.summary()["winner"]["estimate"]["text"] in page_html(loaded.summary())


def last(results):
    return len(results["params"]) - 1


def test_there_is_no_estimate_for_whom_the_file_does_not_know(rows, tmp_path):
    """A function of the user's has chosen another one than the leader."""
    search = RaceGridSearchCV(
        Told(), GRID, random_state=0, checkpoint=tmp_path / "race", refit=last
    ).fit(*rows)
    loaded = load_checkpoint(tmp_path / "race")
    assert search.best_index_ != loaded.best_index_
    assert loaded.best_score_estimate_ is None


def test_displays_take_it_for_a_fitted_search(pair):
    search, loaded = pair
    for display in (
        TracesDisplay,
        LearningCurvesDisplay,
        SurvivorsDisplay,
        IncumbentDisplay,
        ImportanceDisplay,
    ):
        seen, expected = display.from_search(loaded), display.from_search(search)
        assert exact(vars(seen)) == exact(vars(expected)), display


def test_the_report_says_the_same(pair):
    search, loaded = pair
    page, expected = loaded.summary(), summary(search, ahead=False)
    for name in set(page) - {"winner"}:
        assert page[name] == expected[name], name
    for name in page["winner"]:
        assert page["winner"][name] == expected["winner"][name], name
    assert "<html" in page_html(page)


def test_it_is_readable_at_every_moment(rows, tmp_path, fits):
    """Before the first look, in the middle of one, and between two."""
    path, seen = tmp_path / "race", []

    def look():
        seen.append(load_checkpoint(path))

    fits.at = dict.fromkeys(range(1, 200), look)
    search = RaceGridSearchCV(
        Told(), GRID, strategy=CVST(stopping="never"), random_state=0, checkpoint=path
    ).fit(*rows)
    assert [one.n_under_way for one in seen[:3]] == [(0, 0), (1, 12), (2, 12)]
    with pytest.raises(CheckpointError, match="no finished look yet: 2 of 12"):
        _ = seen[2].best_params_
    assert seen[12].n_looks_ == 1
    assert seen[12].n_under_way == (0, 0)
    assert seen[14].n_under_way[0] == 2
    assert seen[14].stop_reason_ is None
    assert "under way" in seen[14].summary()["stop_sentence"]
    for one in seen[12:]:
        until = search.race_.until(one.n_looks_)
        assert exact_looks(one.race_) == exact_looks(until)
        assert one.best_index_ == search.strategy_.ranking(until)[0]


def test_a_reader_changes_nothing_and_needs_no_lock(rows, tmp_path):
    path = tmp_path / "race"
    RaceGridSearchCV(Told(), GRID, random_state=0, checkpoint=path).fit(*rows)
    before = path.read_bytes()
    torn = tmp_path / "torn"
    torn.write_bytes(before[:-10])
    # Of the last record, that of the estimate, the end is missing.
    assert load_checkpoint(torn).best_score_estimate_ is None
    assert load_checkpoint(path).best_score_estimate_ is not None
    assert torn.read_bytes() == before[:-10]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["race", "torn"]


def test_a_strategy_that_was_read_decides_nothing(pair):
    _, loaded = pair
    with pytest.raises(CheckpointError, match="has no data to go on with"):
        loaded.strategy_.next_look(loaded.race_)


def test_missing_files_stay_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_checkpoint(tmp_path / "nothing")
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_holds_no_pickle(rows, tmp_path):
    """Neither that of Python nor that of NumPy."""
    path = tmp_path / "race"
    search = RaceGridSearchCV(
        Told(), {"max_depth": [1, 2], "criterion": np.array(["squared_error"])},
        random_state=0, checkpoint=path, return_pointwise=True,
    )  # fmt: skip
    search.fit(*rows)
    content = path.read_bytes()
    for mark in (b"\x80\x04\x95", b"\x80\x05\x95", b"NUMPY", b"cnumpy"):
        assert mark not in content
    shutil.copy(path, tmp_path / "copy")
    assert load_checkpoint(tmp_path / "copy").best_params_ == search.best_params_


def begin(**changes):
    problem = {"n_configurations": 1, "n_samples": 9, "configurations": [{"a": 1}]}
    strategy = {"text": "", "level": 0.1, "window": 0, "sentences": {}, "test": None}
    problem |= {"covered": {}, **changes.pop("problem", {})}
    return {"problem": problem, "strategy": strategy, "budget": None, **changes}


LOOK = {"train": slice(0, 5), "test": slice(5, 9), "n_train": 5}


@pytest.mark.parametrize(
    "records",
    [
        [("begin", begin(problem={"n_configurations": 10**12}))],
        [("begin", begin(problem={"run": "me"}))],
        [("begin", begin(strategy=None))],
        [("begin", begin(strategy={}))],
        [("unknown", {})],
        [("groups", {"number": 1})],
        [("begin", begin()), ("looks", {"looks": [{}]})],
        [("begin", begin()), ("looks", {"looks": [{"look": LOOK, "seen": {}}]})],
        [("begin", begin()), ("looks", {"looks": 7})],
        [("end", {})],
    ],
)
def test_files_with_good_checksums_and_bad_content_are_refused(tmp_path, records):
    """Whoever can write a file can write checksums too."""
    path = tmp_path / "race"
    journal = Journal(path, create(path, {"search": {}}))
    for kind, fields in records:
        journal.append(kind, fields, lasts=True)
    journal.close()
    with pytest.raises(CheckpointError, match="is damaged"):
        load_checkpoint(path)
