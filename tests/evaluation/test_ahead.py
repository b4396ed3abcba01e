"""Folds to come, done by idle workers: found again only where that is exact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC

from cvst import RaceGridSearchCV
from cvst.evaluation import Task, batch_evaluator_for, resolve_loss, resolve_rescaling
from cvst.evaluation._ahead import Ahead, slowest_first
from cvst.evaluation._dispatch import divides
from cvst.evaluation._scored import Scored
from cvst.evaluation.machinery import DataSource, RaceData
from cvst.evaluation.svm._evaluator import SvmEvaluator
from cvst.race import Look

ROWS = np.arange(12)
FOLDS = {
    3: tuple((np.delete(ROWS, ROWS[i::3]), ROWS[i::3]) for i in range(3)),
}
STRIDE = 10
BACKENDS = {"threads": "threading", "processes": "loky"}


def look_at(fold, members, stage="folds"):
    """Return the look at one of the folds."""
    train, test = FOLDS[3][fold]
    return Look(train, test, len(train), np.array(members), stage, is_fold=True)


def done(plan):
    """Return the results of all that was planned."""
    return [Scored(number) for group in plan.groups for number in group]


def planned(ahead, groups, n_workers, fold=0):
    """Ask for a fold, and do what idle workers can."""
    members = sorted(number for group in groups for number in group)
    look = look_at(fold, members)
    assert ahead.take(look, groups) == ([], groups)
    plan = ahead.plan(look, groups, groups, n_workers, STRIDE)
    assert ahead.present(plan, STRIDE, done(plan)) == []
    return plan


def numbers(scored):
    """Return the configurations of some results."""
    return [one.configuration for one in scored]


@pytest.mark.parametrize(
    ("n_workers", "n_groups", "n_looks"),
    [(1, 0, 0), (2, 1, 1), (3, 2, 1), (4, 3, 2), (5, 4, 2), (6, 4, 2), (99, 4, 2)],
)
def test_only_idle_workers_look_ahead(n_workers, n_groups, n_looks):
    """Of two more folds, as much as is done when the longer group is."""
    plan = planned(Ahead(FOLDS), [[0, 1], [2]], n_workers)
    assert len(plan.groups) == n_groups
    assert len(plan.looks) == n_looks


def test_idle_workers_take_what_earlier_looks_say():
    """The best first, as many as end with the longest fit."""
    ahead = Ahead(FOLDS)
    seconds = {0: 5.0, 1: 2.0, 2: 1.0, 3: 2.0}
    results = [Scored(number, fit_seconds=one) for number, one in seconds.items()]
    ahead.hear(results, list(seconds), [0.4, 0.3, 0.1, 0.2])
    groups = [[number] for number in seconds]
    assert ahead.longest_first(groups) == [[0], [1], [3], [2]]
    # Two workers: one is busy for 5 seconds, and the other as long with the rest.
    assert planned(ahead, groups, 2).groups == []
    # Three: busy for 5, 2 and 3 seconds, with room for 1, then 2, then 2 seconds.
    assert planned(ahead, groups, 3).groups == [[12], [13], [11]]


def test_a_shorter_group_goes_where_the_best_one_does_not_fit():
    """Of five seconds one worker has four left and another one a single one."""
    ahead = Ahead(FOLDS)
    seconds = {0: 5.0, 1: 4.0, 2: 1.0}
    results = [Scored(number, fit_seconds=one) for number, one in seconds.items()]
    ahead.hear(results, list(seconds), [0.1, 0.2, 0.3])
    plan = planned(ahead, [[0], [1], [2]], 3)
    assert plan.groups == [[1 + STRIDE], [2 + STRIDE]]
    assert len(plan.looks) == 1
    found, left = ahead.take(look_at(1, [0, 1, 2]), [[0], [1], [2]])
    assert (numbers(found), left) == ([1, 2], [[0]])


def test_only_groups_that_outlast_the_others_are_cut():
    """Of 12 seconds in all each of three workers has four, in two parts."""
    ahead = Ahead(FOLDS)
    assert ahead.cut([[0, 1, 2], [3, 4]], 3) == [[0], [1], [2], [3], [4]]
    seconds = [3.0, 2.0, 5.0, 0.5, 1.5]
    results = [Scored(number, fit_seconds=one) for number, one in enumerate(seconds)]
    ahead.hear(results, list(range(5)), np.zeros(5))
    assert ahead.cut([[0, 1, 2], [3, 4]], 3) == [[0], [1], [2], [3, 4]]
    assert ahead.cut([[0, 1, 2], [3, 4]], 1) == [[0, 2], [1], [3, 4]]


def test_what_is_known_of_later_folds_is_kept_while_others_are_done():
    """A group that was found for this fold may be known for the next one too."""
    ahead = Ahead(FOLDS)
    planned(ahead, [[0], [1]], 4)
    planned(ahead, [[0], [1]], 6)
    look = look_at(1, [0, 1])
    found, left = ahead.take(look, [[0], [1]])
    assert (numbers(found), left) == ([0, 1], [])
    assert ahead.plan(look, [[0], [1]], [[1]], 2, STRIDE).groups == []
    assert numbers(ahead.take(look_at(2, [0, 1]), [[0], [1]])[0]) == [0, 1]


def test_results_are_found_once_by_fold_and_group():
    ahead = Ahead(FOLDS)
    planned(ahead, [[0, 1], [2]], 6)
    found, left = ahead.take(look_at(1, [0, 1, 2]), [[0, 1], [2]])
    assert numbers(found) == [0, 1, 2]
    assert left == []
    # A fold of other rows has no results, whatever its number.
    other = Look(slice(0, 8), slice(8, 12), 8, np.array([0, 1, 2]), "folds")
    assert ahead.take(other, [[0, 1], [2]]) == ([], [[0, 1], [2]])


def test_a_group_that_lost_a_member_is_done_anew():
    """Unless its evaluator promises that the others answer alike."""
    for independent, expected in [(False, [4]), (True, [0, 2, 4])]:
        ahead = Ahead(FOLDS, independent)
        planned(ahead, [[0, 1, 2], [4]], 6)
        found, left = ahead.take(look_at(1, [0, 2, 4]), [[0, 2], [4]])
        assert numbers(found) == expected
        assert left == ([] if independent else [[0, 2]])


def test_what_is_left_alone_is_fitted_alone():
    """A single fit may round otherwise than one that is shared."""
    ahead = Ahead(FOLDS, independent=True)
    planned(ahead, [[0, 1, 2]], 3)
    assert ahead.take(look_at(1, [2]), [[2]]) == ([], [[2]])


def test_a_later_fold_is_not_done_twice():
    """What was done ahead is known, and only the rest goes out again."""
    ahead = Ahead(FOLDS)
    planned(ahead, [[0, 1], [2]], 6)
    look = look_at(1, [0, 2])
    found, left = ahead.take(look, [[0], [2]])
    assert (numbers(found), left) == ([2], [[0]])
    plan = ahead.plan(look, [[0], [2]], left, 6, STRIDE)
    assert plan.groups == [[0 + STRIDE]]


GRIDS = [
    (SVC(gamma=0.1), {"C": np.logspace(-2, 3, 20)}),
    (KNeighborsClassifier(), {"n_neighbors": list(range(1, 40, 3))}),
    (KNeighborsRegressor(), {"n_neighbors": list(range(1, 40, 3))}),
    (RandomForestClassifier(max_depth=3), {"n_estimators": [3, 6, 9, 12]}),
    (Ridge(), {"alpha": np.logspace(-3, 5, 12)}),
]


@pytest.mark.parametrize("strategy", ["track_and_confirm", "cross_validation"])
@pytest.mark.parametrize(("model", "grid"), GRIDS, ids=lambda one: type(one).__name__)
def test_races_of_one_group_are_the_serial_ones(model, grid, strategy):
    """Bit for bit, with four workers for one group."""
    X, y = make_classification(300, 5, flip_y=0.2, random_state=0)
    options = {"strategy": strategy, "random_state": 0, "return_pointwise": True}
    alone = RaceGridSearchCV(model, grid, **options).fit(X, y)
    search = RaceGridSearchCV(model, grid, n_jobs=4, **options).fit(X, y)
    for name in alone.cv_results_:
        if "test_score" in name:
            np.testing.assert_array_equal(
                search.cv_results_[name], alone.cv_results_[name]
            )
    assert search.best_index_ == alone.best_index_


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("place", [0, 1, 3])
def test_independent_means_the_same_bits(place, seed):
    """Whoever promises it answers for part of a group as for the whole of it."""
    model, grid = GRIDS[place]
    model = clone(model).set_params(**seeded(model))
    rng = np.random.default_rng(seed)
    # Whole numbers on a small grid: many distances are tied.
    X = rng.integers(0, 4, size=(120, 3)).astype(float)
    y = rng.integers(0, 3, size=120)
    evaluator = batch_evaluator_for(model)
    assert evaluator.are_independent(model, "predict")
    ((name, values),) = grid.items()
    whole = {n: {name: value} for n, value in enumerate(values)}
    task = Task(model, whole, X[:80], y[:80], X[80:])
    together = {one.configuration: one.prediction for one in evaluator.evaluate(task)}
    some = sorted(rng.choice(len(whole), size=2, replace=False).tolist())
    for outcome in evaluator.evaluate(task.only(some)):
        np.testing.assert_array_equal(
            outcome.prediction, together[outcome.configuration]
        )


@pytest.mark.parametrize("place", [2, 4])
def test_sums_of_numbers_promise_nothing(place):
    """They may be added up in another order."""
    model, _ = GRIDS[place]
    assert not batch_evaluator_for(model).are_independent(model, "predict")


def seeded(model):
    """Return a seed for models that take one."""
    return {"random_state": 0} if "random_state" in model.get_params() else {}


class Counting(SvmEvaluator):
    """Knows how many machines it was asked for at a time."""

    def __init__(self):
        self.sizes = []

    def evaluate(self, task):
        self.sizes.append(len(task.configurations))
        return super().evaluate(task)


def seen_and_cut(model, grid, n_jobs):
    """Return what a look at vector machines finds, and the sizes of its parts."""
    X, y = make_classification(200, 5, flip_y=0.2, random_state=0)
    counting = Counting()
    source = DataSource(
        estimator=model,
        configurations=grid,
        data=RaceData(X=X, y=y, n_samples=200),
        loss=resolve_loss("accuracy", model, y),
        rescaling=resolve_rescaling(None, model, grid, False),
        evaluator=counting,
        n_jobs=n_jobs,
    )
    look = Look(slice(0, 100), slice(100, 200), 100, np.arange(len(grid)))
    return source.observe(look), counting.sizes


@pytest.mark.parametrize(("n_jobs", "sizes"), [(1, [16, 8]), (2, [6, 5, 5, 4, 4])])
def test_groups_of_machines_are_cut_for_workers(n_jobs, sizes):
    """Machines of one kernel go to several workers, if there are any."""
    grid = [{"C": value} for value in np.logspace(-2, 2, 24)]
    _, cut = seen_and_cut(SVC(gamma=0.1), grid, n_jobs)
    assert sorted(cut, reverse=True) == sizes


@pytest.mark.parametrize("model", [SVC(gamma=0.1), NuSVC(gamma=0.1)], ids=repr)
def test_a_group_that_is_cut_answers_as_the_whole(model):
    """To the last bit, so that results do not depend on the number of workers."""
    name = "C" if isinstance(model, SVC) else "nu"
    grid = [{name: value} for value in np.linspace(0.05, 0.5, 24)]
    whole, of_whole = seen_and_cut(model, grid, n_jobs=1)
    parts, of_parts = seen_and_cut(model, grid, n_jobs=2)
    assert max(of_parts) < max(of_whole)
    np.testing.assert_array_equal(whole.losses, parts.losses)
    assert len(np.unique(whole.mean_losses)) > 2


def test_only_labels_of_machines_allow_a_cut():
    """Sums may be added up in another order; a pipeline is what its last step is."""
    for model in (SVC(), make_pipeline(StandardScaler(), SVC())):
        evaluator = batch_evaluator_for(model)
        assert divides(evaluator, model, "predict")
        assert not divides(evaluator, model, "decision_function")
    assert not divides(batch_evaluator_for(SVR()), SVR(), "predict")
    assert not divides(batch_evaluator_for(Ridge()), Ridge(), "predict")


def in_ones(groups):
    """Return a chunk for each group."""
    return [[group] for group in groups]


def fold_of_all(fold, members):
    """Return the look at a fold whose losses are kept, as plain folds are."""
    return replace(look_at(fold, members), keep_losses=True)


def test_where_all_stay_the_next_fold_goes_along_until_fits_have_a_length():
    """Two groups for two workers: nobody is idle, and nothing is lost either."""
    groups = [[0, 1], [2, 3]]
    look = fold_of_all(0, [0, 1, 2, 3])
    ahead = Ahead(FOLDS, all_stay=True)
    ahead.take(look, groups)
    plan = ahead.plan(look, groups, groups, 2, STRIDE)
    assert plan.groups == [[10, 11], [12, 13]]
    assert plan.in_the_dark
    # Behind those of the present fold, in whose order nothing is known.
    chunks = plan.in_order(groups, in_ones, {0, 1}, STRIDE)
    assert list(chunks) == [[[0, 1]], [[2, 3]], [[12, 13]], [[10, 11]]]
    assert ahead.plan(look, groups, groups, 1, STRIDE).groups == []
    # Not where there is no room for what comes back.
    tight = look_at(0, [0, 1, 2, 3])
    assert ahead.plan(tight, groups, groups, 2, STRIDE).groups == []
    others = Ahead(FOLDS)
    others.take(look, groups)
    assert others.plan(look, groups, groups, 2, STRIDE).groups == []


def test_where_all_stay_long_fits_go_out_for_all_folds_at_once():
    """One takes six of ten seconds, and each fold would wait for it."""
    ahead = Ahead(FOLDS, all_stay=True)
    seconds = {0: 1.0, 1: 6.0, 2: 1.0, 3: 2.0}
    results = [Scored(number, fit_seconds=one) for number, one in seconds.items()]
    ahead.hear(results, list(seconds), [0.1, 0.4, 0.3, 0.2])
    groups = [[number] for number in seconds]
    look = fold_of_all(0, list(seconds))
    ahead.take(look, groups)
    plan = ahead.plan(look, groups, groups, 2, STRIDE)
    # Both of six seconds, then what fits: each of two workers has eleven seconds.
    assert plan.groups[:2] == [[11], [21]]
    assert plan.n_first == 2
    chunks = plan.in_order([[1], [0]], in_ones, set(), STRIDE)
    assert list(chunks)[:3] == [[[11]], [[21]], [[1]]]
    assert [look.test[0] for look in plan.looks] == [1, 2]


def test_where_all_stay_groups_are_cut_alike_in_all_folds():
    """Parts that are known of a fold are found in it, though times have changed."""
    ahead = Ahead(FOLDS, independent=True, all_stay=True)
    groups = [[0, 1], [2, 3]]
    slow = [Scored(number, fit_seconds=4.0 * (number < 2)) for number in range(4)]
    ahead.hear(slow, list(range(4)), np.zeros(4))
    parts = ahead.cut(groups, 2)
    assert parts == [[0], [1], [2, 3]]
    other = [Scored(number, fit_seconds=4.0 * (number > 1)) for number in range(4)]
    ahead.hear(other, list(range(4)), np.zeros(4))
    assert ahead.cut(groups, 2) == parts


@pytest.mark.parametrize("prefer", ["threads", "processes"])
def test_plain_folds_ahead_of_time_are_those_of_one_worker(prefer):
    """Machines of very different lengths, cut and whole, to the last bit."""
    X, y = make_classification(240, 4, flip_y=0.2, random_state=0)
    grid = {"C": [0.1, 1, 1000], "gamma": [0.1, 1, 10]}
    options = {"strategy": "cross_validation", "cv": 4, "refit": False}
    alone = RaceGridSearchCV(SVC(), grid, **options).fit(X, y)
    search = RaceGridSearchCV(SVC(), grid, **options)
    with parallel_config(backend=BACKENDS[prefer], n_jobs=3):
        search.fit(X, y)
    for name, scores in alone.cv_results_.items():
        if "test_score" in name:
            np.testing.assert_array_equal(search.cv_results_[name], scores)


def test_what_is_known_of_a_whole_group_is_not_cut_and_done_anew(monkeypatch):
    """The second fold was done with the first, and no machine of it is fitted again."""
    fitted = []
    evaluate = SvmEvaluator.evaluate

    def counted(evaluator, task):
        train = tuple(np.asarray(task.y_train).shape)
        fitted.extend((train, number) for number in task.configurations)
        return evaluate(evaluator, task)

    monkeypatch.setattr(SvmEvaluator, "evaluate", counted)
    X, y = make_classification(240, 4, flip_y=0.2, random_state=0)
    grid = {"C": [0.1, 1, 1000], "gamma": [0.1, 1]}
    options = {"strategy": "cross_validation", "cv": 5, "refit": False}
    with parallel_config(backend="threading", n_jobs=2):
        RaceGridSearchCV(SVC(), grid, **options).fit(X, y)
    assert len(fitted) == 5 * 6


def test_chunks_of_a_later_fold_begin_with_those_that_this_one_is_still_at():
    """Numbers 10 to 13 are those of the next fold; what is done grows meanwhile."""
    finished = {0, 1}
    chunks = slowest_first([[[10]], [[11], [12]], [[13]]], finished, STRIDE)
    assert next(chunks) == [[11], [12]]
    finished.add(3)
    assert list(chunks) == [[[10]], [[13]]]


def test_whole_groups_are_looked_for_before_they_are_cut():
    """What a later look cuts may be known as a whole; parts of it are as well."""
    ahead = Ahead(FOLDS, independent=True)
    groups = [[0, 1], [2]]
    assert len(planned(ahead, groups, 4).groups) == 3
    parts = [[0], [1], [2]]
    early, left, cut = ahead.split(look_at(1, [0, 1, 2]), groups, lambda *_: parts)
    assert (sorted(numbers(early)), left, cut) == ([0, 1, 2], [], parts)
