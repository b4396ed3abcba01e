"""Statements about several cases: the sure ones decide, and verdicts can say no."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pandas as pd
import pytest
from again import gap_bounds, speed_bounds
from claims import Evidence, toy_claims
from claims_benchmark import benchmark_claims
from profiles import PROFILES
from scipy import stats
from store import COLUMNS
from summary import NOT_RUN, UNDECIDED, Estimate, estimate, load_published
from sure import (
    AS_SAID,
    NO,
    OPEN,
    OTHERWISE,
    PARTLY,
    YES,
    above,
    around,
    below,
    bounds,
    difference_bounds,
    everywhere,
    inside,
    median_bounds,
    mostly,
    on_par,
    share_bounds,
    somewhere,
    sure_words,
)

SMOKE = PROFILES["smoke"]
PUBLISHED = load_published()
# Ratios of a row, by what they prove.
BETTER, SAME, WORSE = (1.3, 1.31, 1.29), (1.0, 1.001, 0.999), (0.7, 0.71, 0.69)
UNCLEAR = (1.0, 2.0, 0.6)


# --- intervals ---


def test_intervals_are_those_of_scipy():
    rng = np.random.default_rng(0)
    one, other = rng.normal(1, 2, 9), rng.normal(0, 1, 5)

    ours = bounds(estimate(one))
    both = difference_bounds(estimate(one), estimate(other))

    theirs = stats.ttest_1samp(one, 0).confidence_interval()
    assert ours == pytest.approx((theirs.low, theirs.high))
    theirs = stats.ttest_ind(one, other, equal_var=False).confidence_interval()
    assert both == pytest.approx((theirs.low, theirs.high))


def test_two_repetitions_have_no_interval():
    two, many = estimate([1.0, 1.001]), estimate([1.0, 1.001, 1.002])
    assert bounds(two) == difference_bounds(two, many) == (-inf, inf)
    assert difference_bounds(many, two) == (-inf, inf)
    assert difference_bounds(Estimate(2, 0, 3), Estimate(1, 0, 3)) == (1, 1)


@pytest.mark.parametrize("n", [6, 7, 18, 150])
def test_the_interval_of_a_median_errs_once_in_twenty_at_most(n):
    """By the exact binomial: as narrow as two of the ordered values allow."""
    low, high = median_bounds(np.arange(n))
    rank = int(low)

    assert high == n - 1 - rank
    assert stats.binom.cdf(rank, n, 0.5) <= 0.025 < stats.binom.cdf(rank + 1, n, 0.5)


def test_five_values_do_not_bound_a_median():
    assert median_bounds([1, 2, 3, 4, 5]) == (-inf, inf)


def test_a_share_is_bounded_by_clopper_and_pearson():
    """The lower end for none missed is the n-th root of the error."""
    low, high = share_bounds(20, 20)
    assert (low, high) == pytest.approx((0.025 ** (1 / 20), 1))


# --- one case ---


@pytest.mark.parametrize(
    ("side", "found", "expected"),
    [
        (above, (1.1, 1.3), AS_SAID),
        (above, (0.7, 0.9), OTHERWISE),
        (above, (0.9, 1.3), OPEN),
        (below, (0.7, 0.9), AS_SAID),
        (below, (1.1, 1.3), OTHERWISE),
        (below, (-inf, inf), OPEN),
    ],
)
def test_a_case_is_sure_if_its_whole_interval_is(side, found, expected):
    assert side(found, 1) == expected


@pytest.mark.parametrize(
    ("found", "near", "par"),
    [
        ((0.96, 1.04), AS_SAID, AS_SAID),
        ((0.9, 1.04), OPEN, OPEN),
        ((1.02, 1.1), OTHERWISE, AS_SAID),
        ((0.96, 0.99), AS_SAID, OTHERWISE),
        ((0.8, 0.9), OTHERWISE, OTHERWISE),
    ],
)
def test_near_a_number_and_on_par_with_it(found, near, par):
    assert around(found, 1, 0.05) == near
    assert on_par(found, 1, 0.05) == par


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ((11, 19), AS_SAID),
        ((8, 9.9), OTHERWISE),
        ((21, 25), OTHERWISE),
        ((9, 12), OPEN),
    ],
)
def test_in_a_range(found, expected):
    assert inside(found, 10, 20) == expected


# --- all cases ---


@pytest.mark.parametrize(
    ("sides", "all_", "most", "one"),
    [
        ((), NOT_RUN, NOT_RUN, NOT_RUN),
        ((AS_SAID,) * 3, YES, YES, YES),
        ((AS_SAID, AS_SAID, OPEN), UNDECIDED, YES, YES),
        ((AS_SAID, AS_SAID, OTHERWISE), PARTLY, YES, YES),
        ((AS_SAID, OPEN, OPEN), UNDECIDED, UNDECIDED, YES),
        ((AS_SAID, OTHERWISE, OTHERWISE), PARTLY, NO, YES),
        ((AS_SAID, OTHERWISE), PARTLY, NO, YES),
        ((OTHERWISE, OPEN, OPEN), NO, UNDECIDED, UNDECIDED),
        ((OPEN,), UNDECIDED, UNDECIDED, UNDECIDED),
        ((OTHERWISE,) * 2, NO, NO, NO),
    ],
)
def test_open_cases_are_never_counted_for_a_statement(sides, all_, most, one):
    cases = dict(enumerate(sides))
    assert (everywhere(cases), mostly(cases), somewhere(cases)) == (all_, most, one)


def test_sure_and_open_cases_are_named():
    cases = {"a": AS_SAID, "b": OPEN, "c": OTHERWISE, "d": OPEN}
    assert sure_words(cases, "rows") == (
        "surely in 1 of 4 rows, surely the other way in 1 (c), open in 2 (b; d)"
    )
    all_open = dict.fromkeys("ab", OPEN)
    assert sure_words(all_open, "sets", ("more", "less")) == (
        "surely more in 0 of 2 sets, surely less in 0, open in 2"
    )


# --- what is said of the tables ---


def searches(data, learner, method, ratios, speeds=(2.0, 2.1, 1.9)):
    """Yield races and the searches that they are compared with, on the same rows."""
    classes = learner in ("SVM", "KLR")
    same = {
        "profile": "smoke", "data": data, "learner": learner, "n_train": 120,
        "task": "classification" if classes else "regression", "n_rows_paper": 240,
        "n_configurations": 9, "survivors": "9;4", "params": "{}", "day": "2026-11-19",
    }  # fmt: skip
    for repetition, (ratio, speed) in enumerate(zip(ratios, speeds, strict=True)):
        line = same | {"repetition": repetition}
        yield line | {"method": "cvst", "error": 0.1, "seconds": 1.0}
        yield line | {"method": method, "error": 0.1 * ratio, "seconds": speed}


def verdicts(folder, *parts):
    """Return what is found of each statement on made-up searches."""
    blank = dict.fromkeys(COLUMNS, "")
    lines = [blank | line for part in parts for line in part]
    pd.DataFrame(lines, columns=list(COLUMNS)).to_csv(folder / "runs.csv", index=False)
    return {one.words: one for one in benchmark_claims(Evidence(folder, SMOKE))}


def rows_of(part):
    lines = PUBLISHED[PUBLISHED["part"] == part]
    return list(zip(lines["data"], lines["learner"], strict=True))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((16, 0, 14), YES),
        ((15, 0, 15), UNDECIDED),
        ((14, 15, 1), NO),
        ((15, 14, 1), UNDECIDED),
        ((0, 0, 30), UNDECIDED),
        ((0, 30, 0), NO),
    ],
)
def test_a_majority_counts_what_is_sure(tmp_path, counts, expected):
    """All means of the open rows are above 1, as the statement says."""
    ratios = [BETTER] * counts[0] + [WORSE] * counts[1] + [UNCLEAR] * counts[2]
    made = [
        searches(*row, "random", one)
        for row, one in zip(rows_of("random"), ratios, strict=True)
    ]
    found = verdicts(tmp_path, *made)

    claim = found["random search: worse than CVST in the majority of cases"]
    assert np.mean(UNCLEAR) > 1
    assert claim.verdict == expected
    assert f"surely in {counts[0]} of 30 rows" in claim.found
    assert f"surely the other way in {counts[1]}" in claim.found


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ((BETTER, BETTER), YES),
        ((BETTER, UNCLEAR), UNDECIDED),
        ((BETTER, WORSE), PARTLY),
        ((WORSE, UNCLEAR), NO),
    ],
)
def test_always_worse_takes_every_row(tmp_path, ratios, expected):
    made = [
        searches(data, "SVM", "ten_percent", one)
        for data, one in zip(("banana", "german"), ratios, strict=True)
    ]
    found = verdicts(tmp_path, *made)

    claim = found["10 % of the rows: always significantly worse than CVST"]
    assert claim.verdict == expected
    assert ("(german SVM)" in claim.found) == (ratios[1] is not BETTER)


@pytest.mark.parametrize(
    ("ratios", "equal"),
    [(SAME, YES), (UNCLEAR, UNDECIDED), (WORSE, NO), (BETTER, NO)],
)
def test_a_wide_interval_is_not_as_good(tmp_path, ratios, equal):
    """One that holds 1 and much else says nothing."""
    found = verdicts(tmp_path, searches("banana", "SVM", "unpaired", ratios))
    assert found["unpaired tests: as good (almost always around 1.0)"].verdict == equal


@pytest.mark.parametrize(
    ("speeds", "expected"),
    [((2.0, 2.1, 1.9), YES), ((0.5, 0.51, 0.52), NO), ((0.9, 1.6, 1.1), UNDECIDED)],
)
def test_slower_is_sure_of_its_seconds(tmp_path, speeds, expected):
    found = verdicts(tmp_path, searches("banana", "SVM", "unpaired", SAME, speeds))
    assert found["unpaired tests: slower"].verdict == expected


@pytest.mark.parametrize(
    ("lost", "expected"), [(WORSE, YES), (BETTER, NO), (SAME, UNDECIDED)]
)
def test_where_random_search_is_better(tmp_path, lost, expected):
    """A row that is no better and no worse decides nothing."""
    made = [searches(data, "SVM", "random", lost) for data in ("covtype", "splice")]
    found = verdicts(tmp_path, *made)

    (claim,) = [one for words, one in found.items() if "random search: better" in words]
    assert claim.verdict == expected


@pytest.mark.parametrize(
    ("easy", "hard", "expected"),
    [
        (SAME, WORSE, (YES, YES)),
        (WORSE, SAME, (NO, NO)),
        (UNCLEAR, UNCLEAR, (UNDECIDED, UNDECIDED)),
    ],
)
def test_table_1_on_par_but_for_two_rows(tmp_path, easy, hard, expected):
    found = verdicts(
        tmp_path,
        searches("banana", "SVM", "cv", easy),
        searches("covtype", "SVM", "cv", hard),
    )
    starts = ("classification: on par", "worse than full cross-validation")
    told = [
        one.verdict
        for start, one in product(starts, found.values())
        if one.words.startswith(start)
    ]
    assert tuple(told) == expected


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [((0.99, 0.991, 0.989), YES), ((0.95, 0.951, 0.949), NO), (UNCLEAR, UNDECIDED)],
)
def test_table_1_loses_about_a_hundredth(tmp_path, ratios, expected):
    """What happens on blocks is said elsewhere."""
    found = verdicts(
        tmp_path,
        searches("bank32nm", "SVR", "cv", ratios),
        searches("blocks", "SVR", "cv", WORSE),
    )
    (claim,) = [one for words, one in found.items() if "around 99 %" in words]
    assert claim.verdict == expected


@pytest.mark.parametrize(
    ("speeds", "expected"),
    [
        ((130.0, 131.0, 129.0), YES),
        ((42.0, 41.0, 43.0), NO),
        ((40.0, 150.0, 90.0), UNDECIDED),
    ],
)
def test_one_row_shows_how_far_speeds_reach(tmp_path, speeds, expected):
    """The printed number is that of ringnorm with KLR."""
    found = verdicts(
        tmp_path,
        searches("banana", "KLR", "cv", SAME, speeds),
        searches("banana", "SVM", "cv", SAME),
    )
    claim = found["speed gains reach up to 120 times (in print 111.7)"]
    assert claim.verdict == expected


def test_speeds_that_may_be_too_low_are_not_surely_low():
    """The upper end grows by the factor; that of the other moves the lower one."""
    one, other = estimate([10.0, 11.0, 12.0]), estimate([20.0, 21.0, 22.0])

    low, high = speed_bounds(one, 2.0)
    assert (low, high) == pytest.approx((bounds(one)[0], 2 * bounds(one)[1]))
    assert speed_bounds(one, inf) == (low, inf)
    assert gap_bounds(one, other, 1.0, 1.0) == difference_bounds(one, other)
    assert above(gap_bounds(one, other, 1.0, 1.0), 0) == OTHERWISE
    assert above(gap_bounds(one, other, 2.5, 1.0), 0) == OPEN
    assert above(gap_bounds(one, other, inf, 1.0), 0) == OPEN
    assert gap_bounds(one, other, 1.0, inf)[0] == -inf
    doubled = estimate([40.0, 42.0, 44.0])
    assert gap_bounds(one, other, 1.0, 2.0)[0] == difference_bounds(one, doubled)[0]


def test_races_of_an_earlier_day_leave_a_low_speed_open(tmp_path):
    """Nothing was run again, so that their speed may be too low by any factor."""
    made = [
        line | ({"day": "2026-11-17"} if line["method"] == "cvst" else {})
        for line in searches("banana", "KLR", "cv", SAME, (4.0, 4.1, 4.2))
    ]
    found = verdicts(tmp_path, made, searches("banana", "SVM", "cv", SAME, (9,) * 3))
    assert found["KLR and KRR gain more speed than SVM and SVR"].verdict == UNDECIDED

    made = [line | {"day": "2026-11-19"} for line in made]
    found = verdicts(tmp_path, made, searches("banana", "SVM", "cv", SAME, (9,) * 3))
    assert found["KLR and KRR gain more speed than SVM and SVR"].verdict == NO


# --- what is said of the artificial sets ---


def toys(folder, *lines):
    """Return what is found of each statement on made-up artificial sets."""
    blank = dict.fromkeys(COLUMNS, "")
    made = []
    for learner, noise, d, differences, speeds in lines:
        data = "noisy_sine" if learner in ("SVM", "KLR") else "noisy_sinc"
        for k, (difference, speed) in enumerate(zip(differences, speeds, strict=True)):
            same = blank | {
                "profile": "smoke", "data": data, "learner": learner, "noise": noise,
                "d": d, "n_train": SMOKE.toy_rows, "n_rows_paper": 1000,
                "n_configurations": 9, "repetition": k, "survivors": "9;4",
                "task": "classification" if data == "noisy_sine" else "regression",
                "params": "{}", "day": "2026-11-19",
            }  # fmt: skip
            error = 0.3 + 0.01 * k  # rows differ more than searches
            made.append(same | {"method": "cv", "error": error, "seconds": speed})
            ours = {"method": "cvst", "error": error + difference, "seconds": 1.0}
            made.append(same | ours)
    pd.DataFrame(made, columns=list(COLUMNS)).to_csv(folder / "runs.csv", index=False)
    return {one.words: one for one in toy_claims(Evidence(folder, SMOKE))}


THREE = (15.0, 15.0, 15.0)
NONE, MORE, LESS = (0.0, 0.001, 0.0), (0.03, 0.031, 0.029), (-0.03, -0.031, -0.029)
WIDE = (-0.05, 0.07, 0.01)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (NONE, MORE, (YES, YES)),
        (MORE, NONE, (NO, NO)),
        (WIDE, WIDE, (UNDECIDED, UNDECIDED)),
    ],
)
def test_a_difference_that_is_not_told_from_none_is_not_none(
    tmp_path, low, high, expected
):
    found = toys(
        tmp_path, ("SVM", 0.25, 50, low, THREE), ("SVM", 0.25, 100, high, THREE)
    )
    told = [one for words, one in found.items() if "optim" in words]
    assert tuple(one.verdict for one in told) == expected


@pytest.mark.parametrize(
    ("svr", "krr", "expected"),
    [(NONE, MORE, YES), (MORE, NONE, NO), (WIDE, MORE, UNDECIDED)],
)
def test_learners_are_compared_on_the_same_rows(tmp_path, svr, krr, expected):
    found = toys(tmp_path, ("SVR", 0.1, 3, svr, THREE), ("KRR", 0.1, 3, krr, THREE))
    claim = found["the difference is always smaller for SVR than for KRR"]
    assert claim.verdict == expected


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ((NONE, (0.01, 0.011, 0.009), MORE), YES),
        ((MORE, (0.01, 0.011, 0.009), LESS), NO),
        ((NONE, MORE, MORE), UNDECIDED),
        ((NONE, MORE, LESS), PARTLY),
    ],
)
def test_each_step_up_is_a_comparison(tmp_path, differences, expected):
    lines = [("SVR", 0.1, d, one, THREE) for d, one in enumerate(differences, start=2)]
    found = toys(tmp_path, *lines)
    (claim,) = [one for words, one in found.items() if "verge" in words]
    assert claim.verdict == expected


@pytest.mark.parametrize(
    ("speeds", "expected"),
    [
        ([15.0] * 40, YES),
        ([15.0] * 30 + [25.0] * 10, PARTLY),
        ([15.0] * 38 + [25.0] * 2, UNDECIDED),
        ([25.0] * 40, f"{NO}, faster"),
        ([5.0] * 40, f"{NO}, slower"),
        ([9.0, 11.0] * 20, UNDECIDED),
    ],
)
def test_a_range_of_speeds_holds_nearly_all_races(tmp_path, speeds, expected):
    found = toys(tmp_path, ("SVM", 0.25, 5, [0.0] * 40, speeds))
    assert found["SVM: speed gain between 10 and 20"].verdict == expected
