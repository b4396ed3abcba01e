"""Folds that nobody asks for are not made, and those that are made are the same."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cvst import RaceGridSearchCV
from cvst.search.rows import FoldMaker, Inputs, order_rows
from cvst.search.rows import _fallback as fallback

N_ROWS = 60


def maker(kind, seed=7):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 1], N_ROWS // 3)
    groups = np.repeat(np.arange(12), N_ROWS // 12) if kind == "grouped" else None
    inputs = Inputs(np.zeros((N_ROWS, 1)), y, None, None, groups, {}, {}, None)
    ordering = order_rows(kind, N_ROWS, y, groups, True, rng)
    return FoldMaker(None, True, inputs, ordering, rng)


def equal(folds, others):
    return len(folds) == len(others) and all(
        np.array_equal(one, other)
        for pair, others in zip(folds, others, strict=True)
        for one, other in zip(pair, others, strict=True)
    )


@pytest.mark.parametrize("kind", ["shuffled", "stratified", "grouped", "given"])
def test_they_are_those_that_are_made_at_once(kind):
    """In whichever order they are asked for, and what is drawn next is the same."""
    later, at_once = maker(kind), maker(kind)
    folds = later.for_counts((5, 3, 4))
    plain = {count: at_once.make(count) for count in (5, 3, 4)}
    assert list(folds) == [5, 3, 4]
    assert len(folds) == 3
    assert all(equal(folds[count], plain[count]) for count in (4, 5, 3))
    assert later.rng.random() == at_once.rng.random()
    assert folds[4] is folds[4]
    with pytest.raises(KeyError):
        folds[6]


def test_a_pickle_holds_plain_folds():
    folds = maker("shuffled").for_counts((5, 3))
    again = pickle.loads(pickle.dumps(folds))
    assert type(again) is dict
    assert all(equal(again[count], folds[count]) for count in (5, 3))


@pytest.mark.parametrize(("n_configurations", "made"), [(4, [5]), (40, [5, 10])])
def test_few_configurations_need_no_folds_of_a_final(
    n_configurations, made, monkeypatch
):
    counts = []
    make = fallback.make_folds

    def counted(cv, n_folds, *rest):
        counts.append(n_folds)
        return make(cv, n_folds, *rest)

    monkeypatch.setattr(fallback, "make_folds", counted)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    grid = {"alpha": np.logspace(-3, 3, n_configurations).tolist()}
    RaceGridSearchCV(Ridge(), grid).fit(X, y)
    assert sorted(set(counts)) == made
