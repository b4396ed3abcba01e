"""Orders of the rows: what holds in every prefix, and folds that agree with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    StratifiedKFold,
)

from cvst.exceptions import InvalidInputError, TooFewRowsError
from cvst.race import Problem
from cvst.search.rows._ordering import Ordering, make_folds, order_rows

PAGE = Path(__file__).parents[3] / "docs" / "user_guide" / "ordering.md"

# Half the sum of the inverse Fibonacci numbers; see the proof in _interleaving.py.
BOUND = 1.68

SIZES = st.lists(st.integers(1, 60), min_size=1, max_size=12)


def order(name, y=None, groups=None, n_samples=None, stratify=True, seed=0):
    rng = np.random.default_rng(seed)
    n_samples = len(y) if n_samples is None else n_samples
    return order_rows(name, n_samples, y, groups, stratify, rng)


def largest_deviation(labels):
    """Return how far any class is from its share in any prefix."""
    lengths = np.arange(1, len(labels) + 1)
    deviations = [0.0]
    for label in np.unique(labels):
        so_far = np.cumsum(labels == label)
        # In whole numbers, for a bound that is reached exactly.
        off = np.abs(so_far * len(labels) - so_far[-1] * lengths).max()
        deviations.append(off / len(labels))
    return max(deviations)


@settings(deadline=None)
@given(sizes=SIZES, seed=st.integers(0, 99))
def test_every_prefix_holds_every_class_in_proportion(sizes, seed):
    y = np.repeat(np.arange(len(sizes)), sizes)
    y = np.random.default_rng(seed).permutation(y)
    permutation = order("stratified", y, seed=seed).permutation
    np.testing.assert_array_equal(np.sort(permutation), np.arange(len(y)))
    assert largest_deviation(y[permutation]) <= (0.5 if len(sizes) <= 2 else BOUND)


@pytest.mark.parametrize(
    "sizes",
    [
        [1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233],
        [900, *[1] * 100],
        [1000, 1],
        [7] * 30,
        [2**k for k in range(11)],
    ],
    ids=str,
)
def test_the_proportions_hold_for_classes_of_very_different_sizes(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    assert largest_deviation(y[order("auto", y).permutation]) <= BOUND


def test_rows_of_a_class_come_in_random_order():
    """Witness: a row's place has the same distribution as any other's of its class."""
    y = np.repeat([0, 1], [30, 10])
    first = [order("auto", y, seed=seed).permutation[:4] for seed in range(400)]
    counts = np.bincount(np.ravel(first), minlength=40)
    assert counts[y == 0].min() > 15
    assert counts[y == 1].min() > 15


def test_no_class_is_always_first():
    y = np.repeat(["a", "b"], 20)
    firsts = {y[order("auto", y, seed=seed).permutation[0]] for seed in range(20)}
    assert firsts == {"a", "b"}


@settings(deadline=None)
@given(
    groups=st.lists(st.integers(0, 8), min_size=1, max_size=60),
    seed=st.integers(0, 99),
)
def test_no_group_straddles_a_boundary(groups, seed):
    groups = np.array(groups)
    result = order("auto", groups=groups, n_samples=len(groups), seed=seed)
    ordered = groups[result.permutation]
    np.testing.assert_array_equal(np.sort(result.permutation), np.arange(len(groups)))
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    np.testing.assert_array_equal(result.boundaries, changes)
    assert len(changes) == len(np.unique(groups)) - 1
    for cut in result.boundaries:
        assert not set(ordered[:cut]) & set(ordered[cut:])


def test_rows_of_a_group_keep_their_order_and_groups_do_not():
    groups = np.array(["b", "a", "b", "c", "a", "d", "e"])
    results = [order("grouped", groups, groups, seed=seed) for seed in range(20)]
    for result in results:
        for name in "ab":
            rows = result.permutation[groups[result.permutation] == name]
            assert np.all(np.diff(rows) > 0)
    assert len({groups[result.permutation[0]] for result in results}) > 2


def test_a_race_cuts_at_the_boundaries():
    groups = np.repeat(np.arange(5), [10, 20, 30, 5, 35])
    result = order("auto", groups=groups, n_samples=100)
    problem = Problem(1, 100, boundaries=result.boundaries)
    for n_train in range(10, 100, 7):
        cut = problem.cut(n_train)
        ordered = groups[result.permutation]
        assert ordered[cut - 1] != ordered[cut]


def test_given_order_is_the_users_and_shuffled_order_is_not():
    y = np.arange(50)
    np.testing.assert_array_equal(order("given", y).permutation, y)
    shuffled = order("shuffled", y).permutation
    np.testing.assert_array_equal(np.sort(shuffled), y)
    assert not np.array_equal(shuffled, y)
    np.testing.assert_array_equal(shuffled, order("shuffled", y).permutation)
    assert not np.array_equal(shuffled, order("shuffled", y, seed=1).permutation)


@pytest.mark.parametrize(
    ("y", "groups", "stratify", "kind"),
    [
        ([0, 1, 1, 0], None, True, "stratified"),
        (["a", "b", "b", "a"], None, True, "stratified"),
        ([[0], [1], [1], [0]], None, True, "stratified"),
        ([0.0, 1.0, 1.0, 0.0], None, True, "stratified"),
        ([0, 1, 1, 0], [1, 1, 2, 2], True, "grouped"),
        ([0, 1, 1, 0], None, False, "shuffled"),
        ([[0, 1], [1, 1], [0, 1], [0, 0]], None, True, "shuffled"),
        ([0.5, 1.0, 2.0, 3.0], None, True, "shuffled"),
        (None, None, True, "shuffled"),
    ],
)
def test_auto_chooses_by_groups_and_targets(y, groups, stratify, kind):
    result = order("auto", y, groups, n_samples=4, stratify=stratify)
    assert result.kind == kind
    assert sorted(result.permutation) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("name", "y", "groups", "message"),
    [
        ("sorted", [0, 1], None, r"'sorted' is not known.*'auto'"),
        ("grouped", [0, 1], None, r"groups is None.*ordering='shuffled'"),
        ("grouped", [0, 1], [1, 2, 3], "3 entries for 2 rows"),
        ("auto", [0, 1], [1, 2, 3], "3 entries for 2 rows"),
        ("stratified", [0.5, 1.0], None, "numbers such as 0.5"),
        ("stratified", [[0, 1], [1, 0]], None, r"one label per row.*\(2, 2\)"),
        ("stratified", None, None, "y is None"),
        ("stratified", [0, 1, 1], None, "3 entries for 2 rows"),
    ],
)
def test_orders_that_make_no_sense_are_refused(name, y, groups, message):
    with pytest.raises(InvalidInputError, match=message):
        order(name, y, groups, n_samples=2)


def folds(y, kind, *, cv=None, n_folds=5, groups=None, is_classifier=True, seed=0):
    ordering = order(kind, y, groups)
    X = np.zeros((len(y), 1))
    args = (cv, n_folds, X, y, groups, ordering, is_classifier, seed)
    return make_folds(*args), ordering.permutation


def assert_partition(splits, n_samples):
    tests = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(np.sort(tests), np.arange(n_samples))
    for train, test in splits:
        np.testing.assert_array_equal(
            np.sort(np.concatenate([train, test])), np.arange(n_samples)
        )


@pytest.mark.parametrize("kind", ["shuffled", "stratified", "grouped"])
def test_implied_folds_test_every_row_once(kind):
    y = np.arange(43) % 3
    splits, _ = folds(y, kind, groups=np.arange(43) // 4)
    assert len(splits) == 5
    assert_partition(splits, 43)
    again, _ = folds(y, kind, groups=np.arange(43) // 4)
    other, _ = folds(y, kind, groups=np.arange(43) // 4, seed=1)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(splits, again, strict=True))
    assert not all(
        np.array_equal(a[1], b[1]) for a, b in zip(splits, other, strict=True)
    )


def test_folds_of_a_stratified_order_are_stratified():
    y = np.repeat([0, 1, 2], [50, 25, 10])
    splits, permutation = folds(y, "stratified")
    for _, test in splits:
        np.testing.assert_array_equal(np.bincount(y[permutation[test]]), [10, 5, 2])


def test_folds_of_a_grouped_order_keep_groups_together():
    groups = np.arange(60) % 12
    splits, permutation = folds(groups, "grouped", groups=groups)
    for train, test in splits:
        assert not set(groups[permutation[train]]) & set(groups[permutation[test]])


def test_folds_of_the_given_order_never_test_on_the_past():
    splits, _ = folds(np.arange(40), "given")
    assert len(splits) == 5
    for train, test in splits:
        assert train.max() < test.min()


@pytest.mark.parametrize(
    ("cv", "witness", "grouped"),
    [
        (3, StratifiedKFold(3), False),
        (KFold(4), KFold(4), False),
        (GroupKFold(3), GroupKFold(3), True),
        (LeaveOneGroupOut(), LeaveOneGroupOut(), True),
    ],
    ids=str,
)
def test_the_users_folds_are_those_of_scikit_learn_on_the_original_rows(
    cv, witness, grouped
):
    y = np.arange(36) % 2
    groups = np.arange(36) // 9 if grouped else None
    splits, permutation = folds(y, "shuffled", cv=cv, groups=groups)
    expected = list(witness.split(np.zeros((36, 1)), y, groups))
    assert len(splits) == len(expected)
    for (train, test), (train_rows, test_rows) in zip(splits, expected, strict=True):
        assert set(permutation[train]) == set(train_rows)
        assert set(permutation[test]) == set(test_rows)
        assert np.all(np.diff(train) > 0)


@pytest.mark.parametrize("as_mask", [False, True])
def test_the_users_folds_may_be_listed(as_mask):
    rows = np.arange(6)
    listed = [(rows[:4], rows[4:]), (rows[2:], rows[:2])]
    if as_mask:
        listed = [(np.isin(rows, a), np.isin(rows, b)) for a, b in listed]
    splits, permutation = folds(np.array([0, 1] * 3), "shuffled", cv=iter(listed))
    assert set(permutation[splits[0][1]]) == {4, 5}
    assert set(permutation[splits[1][0]]) == {2, 3, 4, 5}


def test_a_fold_may_name_rows_twice_and_from_the_end():
    """As a bootstrap does; what is named twice counts twice."""
    listed = [(np.array([5, 1, 1, -6, 1]), np.array([-2, 2], dtype=np.int8))]
    (splits,), permutation = folds(np.array([0, 1] * 3), "shuffled", cv=listed)
    assert sorted(permutation[splits[0]]) == [0, 1, 1, 1, 5]
    assert sorted(permutation[splits[1]]) == [2, 4]
    for places in splits:
        assert places.dtype == np.intp
        assert np.all(np.diff(places) >= 0)


@pytest.mark.parametrize(
    ("kind", "y", "n_expected"),
    [
        ("shuffled", [0, 1, 2], 2),
        ("shuffled", [0, 1, 2, 3, 4, 5, 6], 3),
        ("stratified", [0, 0, 0, 1], 3),
        ("grouped", [0, 0, 1, 1], 2),
        ("given", [0, 1, 2], 2),
    ],
)
def test_few_rows_make_few_folds(kind, y, n_expected):
    y = np.array(y)
    splits, _ = folds(y, kind, groups=y if kind == "grouped" else None)
    assert len(splits) == n_expected


@pytest.mark.parametrize(
    ("kind", "y", "what"),
    [
        ("shuffled", [0], "rows"),
        ("stratified", [0, 1], "rows in any class"),
        ("grouped", [0, 0], "groups"),
        ("given", [0, 1], "rows"),
    ],
)
def test_too_few_rows_for_any_folds_are_refused(kind, y, what):
    with pytest.raises(TooFewRowsError, match=f"at least 2 {what}.*1"):
        folds(np.array(y), kind, groups=y if kind == "grouped" else None)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([(np.arange(3), [])], "no test rows"),
        ([([], np.arange(3))], "no training rows"),
        ([(np.arange(3), np.array([9]))], r"row 9.*4 rows"),
        ([(np.arange(3), np.array([3, -99]))], r"row -99.*4 rows"),
        ([], "no folds"),
    ],
)
def test_folds_that_make_no_sense_are_refused(cv, message):
    with pytest.raises(InvalidInputError, match=message):
        folds(np.array([0, 1, 0, 1]), "shuffled", cv=cv)


def test_a_bare_permutation_is_an_ordering():
    assert Ordering(np.arange(3)).boundaries is None


def test_the_page_prints_what_the_first_subsets_hold():
    y = np.repeat(["ham", "spam", "scam"], [900, 90, 10])
    page = PAGE.read_text(encoding="utf-8")
    labels = y[order("auto", y).permutation]
    for n_train in (90, 181, 500):
        counts = [np.sum(labels[:n_train] == name) for name in ("ham", "spam", "scam")]
        assert f"| {n_train} | {' | '.join(map(str, counts))} |" in page
