"""The best of many configurations run other folds on their way to the final."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import randint, uniform
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceSearchCV
from cvst.race import _proposal_folds
from cvst.race._families import Record, record_of
from cvst.race.machinery import ProposeAndConfirm

SPACE = {
    "max_depth": randint(2, 20),
    "min_samples_leaf": randint(1, 50),
    "max_features": uniform(0.3, 0.7),
}


@pytest.fixture(scope="module")
def data():
    return make_classification(300, 8, n_informative=4, random_state=0)


@pytest.fixture(scope="module")
def searched(data):
    """Return a search of sixty in which more than ten are many."""
    tree = DecisionTreeClassifier(random_state=0)
    search = RaceSearchCV(tree, SPACE, n_iter=60, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_proposal_folds, "FEW", 10)
        return search.set_params(scoring="neg_log_loss").fit(*data)


def test_at_most_a_third_is_promoted_to_each_fold(searched):
    looks = [one.look for one in searched.race_.observations]
    counts = Counter()
    for look in looks:
        if look.fold and not look.keep_losses:
            counts[look.fold] += len(look.configurations)
    assert 10 < counts[1] <= (60 - 10) // 3
    assert 3 < counts[2] <= counts[1] // 3
    assert counts[3] <= counts[2] // 3
    # The last looks are the final, which keeps its losses.
    assert looks[-1].keep_losses


def test_families_rank_by_the_mean_over_the_folds_they_ran(searched):
    """Each level as written down again from the looks themselves."""
    state = searched.race_
    record = ProposeAndConfirm(None)._record(state)
    losses = {}
    for one in state.observations:
        whole = one.look.n_train == len(one.look.train) and one.look.stage != "warm up"
        numbers = one.look.configurations.tolist()
        if one.look.fold or (one.look.fold == 0 and whole):
            for number, loss in zip(numbers, one.mean_losses.tolist(), strict=True):
                losses.setdefault(number, []).append(loss)
    for level in (1, 2, 3, 4):
        expected = sorted(
            (float(np.mean(values[: level + 1])), number)
            for number, values in losses.items()
            if len(values) > level and number > 0
        )
        actual = [pair for pair in record.levels[level] if pair[1] > 0]
        assert [number for _, number in actual] == [number for _, number in expected]
        np.testing.assert_allclose(
            [loss for loss, _ in actual], [loss for loss, _ in expected]
        )


def test_the_winner_ran_all_folds_and_its_score_is_their_mean(searched):
    state, best = searched.race_, searched.best_index_
    scores = {
        one.look.fold: -one.mean_losses[one.look.places(np.array([best]))[0]]
        for one in state.observations
        if one.look.fold and best in one.look.configurations
    }
    assert sorted(scores) == [1, 2, 3, 4]
    assert searched.best_score_ == pytest.approx(np.mean(list(scores.values())))


def test_few_run_the_first_fold_alone_until_the_final(data):
    tree = DecisionTreeClassifier(random_state=0)
    search = RaceSearchCV(tree, SPACE, n_iter=20, random_state=0).fit(*data)
    looks = [one.look for one in search.race_.observations]
    assert all(look.keep_losses for look in looks)


def test_forests_with_other_numbers_of_trees_are_looked_at(data):
    """They once joined a family that had been seen, and no look had any of them."""
    space = {"n_estimators": [3, 5, 8], "max_depth": [2, None]}
    forest = RandomForestClassifier(n_estimators=4, random_state=0)
    search = RaceSearchCV(forest, space, random_state=0).fit(*data)
    assert search.stop_reason_ == "all_seen"
    assert (search.cv_results_["n_looks"] > 0).all()
    for one in ({"n_estimators": n, "max_depth": 2} for n in (3, 5, 8)):
        assert one in search.cv_results_["params"]


def test_all_numbers_of_neighbours_are_tried(data):
    """One fit serves them all, but that does not make them the same."""
    space = {"n_neighbors": list(range(1, 13))}
    search = RaceSearchCV(KNeighborsClassifier(), space, random_state=0).fit(*data)
    tried = {one["n_neighbors"] for one in search.cv_results_["params"]}
    assert tried >= set(range(1, 13))


def test_a_search_of_many_goes_on_as_if_it_had_more_to_begin_with(data, monkeypatch):
    """Also from a race that was put away, without its losses."""
    monkeypatch.setattr(_proposal_folds, "FEW", 10)
    tree = DecisionTreeClassifier(random_state=0)
    search = RaceSearchCV(tree, SPACE, n_iter=40, random_state=0).fit(*data)
    once = search.race_.n_looks
    other = pickle.loads(pickle.dumps(search))

    search.resume(*data, n_iter=12)
    other.resume(*data, n_iter=12)

    assert search.race_.n_looks > once
    assert search.best_params_ == other.best_params_
    looks = [
        [one.look.configurations.tolist() for one in each.race_.observations]
        for each in (search, other)
    ]
    assert looks[0] == looks[1]


def test_a_record_of_what_may_come_is_that_of_the_state(searched):
    """Witness: the record made anew. The one that it began with stays as it was."""
    state = searched.race_
    strategy = searched.strategy_
    sizes = strategy._sizes(state.problem)

    def fresh(n_looks):
        before = replace(state, observations=state.observations[:n_looks])
        return record_of(before, strategy.rounds, sizes, None)

    for n_looks in range(1, state.n_looks):
        record, untouched = fresh(n_looks), fresh(n_looks)
        after = replace(state, observations=state.observations[: n_looks + 1])
        supposed = record.supposing(after)
        assert vars(supposed) == vars(fresh(n_looks + 1))
        assert vars(record) == vars(untouched)


def test_no_decision_goes_through_the_whole_race_again(data, monkeypatch):
    """Folds are judged by what would be after them, and that is one look more."""
    seen = []
    see = Record._see
    monkeypatch.setattr(
        Record, "_see", lambda self, *given: (seen.append(1), see(self, *given))
    )
    tree = DecisionTreeClassifier(random_state=0)
    search = RaceSearchCV(tree, SPACE, n_iter=60, random_state=0).fit(*data)
    # Once each, twice for folds of the final, and once more as the final begins.
    assert len(seen) <= 2 * search.race_.n_looks + 4
