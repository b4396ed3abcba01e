"""Limits on the rows of looks: none on data of usual size, fixed ones on large."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.race import Problem, RaceState, TrackAndConfirm

UNLIMITED = {"max_test": None, "max_rows": None}


def folds(n_rows, n_folds):
    """Return folds of consecutive rows."""
    rows = np.arange(n_rows)
    tests = np.array_split(rows, n_folds)
    return tuple((np.setdiff1d(rows, test), test) for test in tests)


def problem(n_rows, **more):
    """Return a problem with two kinds of folds."""
    both = {5: folds(n_rows, 5), 10: folds(n_rows, 10)}
    return Problem(50, n_rows, folds=both, **more)


@pytest.mark.parametrize("n_rows", [200, 3_000, 20_000, 100_000])
def test_data_of_usual_size_meet_no_limit(n_rows):
    """The default rules were measured up to 20,000 rows: they are the same there."""
    setting, strategy = problem(n_rows), TrackAndConfirm()
    plain = TrackAndConfirm(**UNLIMITED)
    assert strategy.planned_looks(setting) == plain.planned_looks(setting)
    assert not strategy.remarks(setting)
    assert strategy.most_rows > n_rows
    for one, other in zip(strategy.stages(setting), plain.stages(setting), strict=True):
        members = np.arange(50)
        look, same = (x.look(RaceState(setting), 0, members) for x in (one, other))
        np.testing.assert_array_equal(look.train, same.train)
        np.testing.assert_array_equal(look.test, same.test)


def test_test_rows_of_large_data_are_limited():
    """Subsets and folds test as many rows as the limit, and the log can say so."""
    setting, strategy = problem(500_000), TrackAndConfirm()
    looks = strategy.planned_looks(setting)
    assert [look.n_train for look in looks[:2]] == [100_000, 200_000]
    # Of a final with ten folds a tenth of the rows are tested, which is fewer.
    assert {look.n_test for look in looks} == {100_000, 50_000}
    strict = TrackAndConfirm(max_test=30_000)
    assert {look.n_test for look in strict.planned_looks(setting)} == {30_000}
    assert "at most 30,000 rows" in " ".join(strict.remarks(setting))
    assert not strategy.remarks(problem(20_000))


def test_limited_folds_are_spread_over_their_rows():
    """Rows in the order of time are not alike, so the first of a fold will not do."""
    setting = problem(50_000)
    (confirm, *_) = [
        stage
        for stage in TrackAndConfirm(max_test=1_000).stages(setting)
        if stage.name == "confirm"
    ]
    look = confirm.look(RaceState(setting), 0, np.arange(50))
    assert look.n_test == 1_000
    assert look.test[0] == 0
    assert set(np.diff(look.test)) == {10}


def test_a_separate_test_set_is_used_as_it_is():
    """Nobody drew its order, so its first rows may not stand for the others."""
    setting = Problem(50, 50_000, n_validation=20_000)
    looks = TrackAndConfirm(max_test=1_000).planned_looks(setting)
    assert {look.n_test for look in looks} == {20_000}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"max_rows": 10}, "max_rows=10 is too small"),
        ({"max_test": 0.5}, "max_test=0.5 must be a whole number"),
        ({"max_rows": True}, "max_rows=True must be a whole number"),
    ],
)
def test_limits_that_make_no_sense_are_refused(params, words):
    """The sentence names the limit."""
    with pytest.raises(InvalidInputError, match=words):
        _ = TrackAndConfirm(**params).most_rows
