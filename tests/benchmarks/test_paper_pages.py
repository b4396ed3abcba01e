"""The paper's numbers, what is made of ours, and the pages that show both."""

import json
import re
from collections import Counter
from decimal import Decimal
from itertools import chain
from math import nan, sqrt
from pathlib import Path

import curves
import figures
import judgement
import numpy as np
import pages
import pandas as pd
import pytest
from claims import Claim, Evidence, share, toy_claims
from claims_benchmark import benchmark_claims
from claims_theory import theory_claims
from items import ITEMS
from profiles import PROFILES
from reasons import reason
from scipy import stats
from store import COLUMNS
from summary import (
    AGREES,
    BETTER,
    FASTER,
    NOT_RUN,
    SLOWER,
    UNDECIDED,
    WORSE,
    Estimate,
    Row,
    difference_interval,
    each_once,
    estimate,
    load_published,
    load_runs,
    of_one_size,
    pairs,
    speed_verdict,
    table_rows,
    verdict,
)
from sure import (
    AS_SAID,
    NO,
    OPEN,
    OTHERWISE,
    PARTLY,
    YES,
    above,
    below,
    bounds,
    difference_bounds,
)

from cvst import CVST

pytestmark = pytest.mark.xdist_group("paper pages")  # all small experiments, once

SMOKE = PROFILES["smoke"]
PARTS = ("cross-validation", "unpaired", "ten-percent", "random")
PUBLISHED = load_published()
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
RUNS = BENCHMARKS / "results" / "paper" / "runs.csv"
TEXTS = BENCHMARKS / "paper" / "texts"


def run(method, repetition, error, seconds, **other):
    """Return a line of runs.csv."""
    line = {
        "profile": "smoke",
        "data": "banana",
        "learner": "SVM",
        "task": "classification",
        "n_train": 120,
        "n_rows_paper": 2650,
        "n_test": 500,
        "n_configurations": 15,
        "n_looks": 4,
        "stop_reason": "similar_performance",
        "survivors": "15;15;8;3" if method in ("cvst", "outliers") else "",
        "params": "{}",
        "load": 1.0,
        "version": "0",
    }
    line |= {
        "method": method,
        "repetition": repetition,
        "error": error,
        "seconds": seconds,
        "wall_seconds": seconds,
    }
    return line | other


def write_runs(folder, lines):
    frame = pd.DataFrame(lines).reindex(columns=list(COLUMNS))
    frame.to_csv(folder / "runs.csv", index=False)
    return load_runs(folder, "smoke")


# --- what the paper prints ---


@pytest.mark.parametrize("part", PARTS)
def test_each_part_has_two_learners_on_fifteen_sets(part):
    """Eight sets of classes and seven of numbers, two learners each."""
    lines = PUBLISHED[PUBLISHED["part"] == part]

    assert len(lines) == 30
    assert not lines.duplicated(["data", "learner"]).any()
    assert lines["learner"].value_counts().to_dict() == {
        "KLR": 8,
        "SVM": 8,
        "KRR": 7,
        "SVR": 7,
    }


def test_bold_print_follows_the_captions():
    """Table 1: ratio plus half width above 1; Table 2: minus. Without an exception."""
    exact = pd.read_csv(Path(pages.__file__).parent / "published.csv", dtype=str)
    for line in exact[exact["table"] != "text"].itertuples():
        sign = 1 if line.table == "1" else -1
        bound = Decimal(line.ratio) + sign * Decimal(line.half_width)
        assert (bound > 1) == (line.bold == "1"), line


def test_some_numbers_are_those_of_the_paper():
    """Read again in the paper, one from each part, and the ranges of the text."""
    known = PUBLISHED.set_index(["part", "data", "learner"])
    expected = {
        ("cross-validation", "ringnorm", "KLR"): (0.814, 0.050, 111.7),
        ("cross-validation", "bumps", "SVR"): (0.666, 0.030, 37.3),
        ("unpaired", "pumadyn32nm", "KRR"): (1.003, 0.003, 26.0),
        ("ten-percent", "image", "SVM"): (1.279, 0.143, 0.8),
        ("random", "twonorm", "KLR"): (2.427, 1.444, 1.0),
    }
    for key, numbers in expected.items():
        line = known.loc[key]
        assert (line["ratio"], line["half_width"], line["speed"]) == numbers
    ranges = known.loc["speed"][["speed_low", "speed_high"]].T.to_dict("list")
    assert ranges == {
        ("noisy_sine", "SVM"): [10, 20],
        ("noisy_sine", "KLR"): [20, 70],
        ("noisy_sinc", "SVR"): [10, 20],
        ("noisy_sinc", "KRR"): [50, 100],
    }


def test_random_search_has_the_time_of_the_race():
    """All speeds of that part are printed as 1.0."""
    assert (PUBLISHED[PUBLISHED["part"] == "random"]["speed"] == 1.0).all()


# --- the verdict, by numbers made by hand ---


def with_mean(mean, half_width, n=50):
    return Estimate(mean, half_width / 1.96, n)


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (Estimate(), NOT_RUN),
        (Estimate(0.95, nan, 1), UNDECIDED),
        (Estimate(0.5, 0.001, 2), UNDECIDED),
        (with_mean(0.95, 0.02), AGREES),
        (with_mean(0.965, 0.02), AGREES),
        # Standard errors of 0.0102 twice: Welch's half width is 0.0286.
        (with_mean(0.975, 0.02), UNDECIDED),
        (with_mean(0.98, 0.02), BETTER),
        (with_mean(0.92, 0.02), WORSE),
        # Nothing seen, but nothing could be.
        (with_mean(0.95, 0.2), UNDECIDED),
        # However wide our interval, this is too far away for chance.
        (with_mean(0.5, 0.2), WORSE),
    ],
)
def test_verdict_weighs_both_uncertainties(ours, expected):
    """The paper has 0.950 ± 0.020."""
    assert verdict(ours, 0.95, 0.02) == expected


@pytest.mark.parametrize("n", [3, 8, 50])
def test_interval_is_that_of_welch(n):
    """Witness: scipy's test of two samples with these means and spreads."""
    ours, sample = np.random.default_rng(n).normal(1.1, 0.3, n), (0.95, 0.4, 50)
    half_width = 1.96 * sample[1] / sqrt(50)
    expected = stats.ttest_ind_from_stats(
        ours.mean(), ours.std(ddof=1), n, *sample, equal_var=False
    )
    low, high = difference_interval(estimate(ours), 0.95, half_width)
    # The interval of the other level at which it just leaves out zero.
    assert (low > 0) == (expected.pvalue < 0.05)
    samples = np.random.default_rng(0).normal(size=50)
    samples = (samples - samples.mean()) / samples.std(ddof=1) * 0.4 + 0.95
    welch = stats.ttest_ind(ours, samples, equal_var=False).confidence_interval(0.95)
    np.testing.assert_allclose([low, high], [welch.low, welch.high], rtol=1e-6)


def test_a_spread_of_the_paper_does_not_hide_a_difference_of_ours():
    """Blocks, KRR against random search: .70 and 2.06 ± .53 differ."""
    assert verdict(Estimate(0.698, 0.081 / 1.96, 8), 2.059, 0.529) == WORSE
    assert verdict(Estimate(0.819, 0.183 / 1.96, 8), 1.891, 0.405) == WORSE


def test_few_repetitions_that_agree_by_luck_decide_nothing():
    """Three equal ratios have no spread; they vary as much as the paper's at least."""
    lucky = Estimate(0.95, 0.0, 3)
    assert verdict(lucky, 0.95, 0.1) == UNDECIDED
    assert verdict(Estimate(0.95, 0.0, 50), 0.95, 0.02) == AGREES


def test_few_repetitions_are_judged_by_student():
    """With four repetitions 1.96 becomes 3.18: the difference below proves nothing."""
    se = 0.01
    alone = 0.95 + 1.96 * se * 1.2
    assert stats.t.ppf(0.975, 3) == pytest.approx(3.18, abs=0.01)
    assert verdict(Estimate(alone, se, 4), 0.95, 0.001) != BETTER
    assert verdict(Estimate(alone, se, 4000), 0.95, 0.001) == BETTER


def test_an_interval_printed_as_zero_is_not_taken_for_certain():
    """1.000 ± 0.000 may be anything from 0.9995 to 1.0005."""
    assert verdict(Estimate(1.0004, 0.0, 50), 1.0, 0.0) == AGREES
    assert verdict(Estimate(1.002, 0.0, 50), 1.0, 0.0) == BETTER


def test_a_wide_interval_of_the_paper_is_its_own_margin():
    """2.427 ± 1.444 leaves room for 2.0 ± 1.0, not for 1.0 ± 1.0."""
    assert verdict(with_mean(2.0, 1.0), 2.427, 1.444) == AGREES
    assert verdict(with_mean(1.0, 1.0), 2.427, 1.444) == UNDECIDED


@pytest.mark.parametrize(
    ("speed", "expected"),
    [
        (Estimate(), NOT_RUN),
        (Estimate(10.0, nan, 1), UNDECIDED),
        (Estimate(20.0, 0.5, 10), FASTER),
        (Estimate(5.0, 0.5, 10), SLOWER),
        (Estimate(10.4, 0.5, 10), AGREES),
        (Estimate(10.4, 3.0, 10), UNDECIDED),
    ],
)
def test_speeds_get_verdicts_too(speed, expected):
    """The paper prints 10.0."""
    assert speed_verdict(speed, 10.0) == expected


# --- from searches to rows ---


def test_speed_is_of_one_machine_without_a_card(tmp_path):
    """Errors count wherever they come from, seconds only beside those of a partner."""
    runs = write_runs(
        tmp_path,
        [
            run("cvst", 0, 0.10, 1.0),
            run("cvst", 0, 0.10, 0.5, machine="large"),
            run("cv", 0, 0.10, 30.0),
            run("cv", 0, 0.12, 0.1, machine="large", device="cuda"),
            run("cvst", 1, 0.10, 0.5, machine="large"),
            run("cv", 1, 0.20, 0.1, machine="large", device="cuda"),
            run("cvst", 2, 0.10, 0.1, machine="large", device="cuda"),
            run("cv", 2, 0.30, 0.2, machine="large", device="cuda"),
            run("cvst", 3, 0.10, 2.0),
            run("cv", 3, 0.40, 20.0, machine="large"),
        ],
    )

    found = pairs(runs, "cv").sort_values("repetition")

    assert found["repetition"].tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(found["ratio"], [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(found["speed"], [30.0, np.nan, np.nan, np.nan])
    races = each_once(runs[runs["method"] == "cvst"])
    assert races["repetition"].tolist() == [0, 1, 2, 3]
    assert races["seconds"].tolist() == [0.5, 0.5, 0.1, 2.0]


def timed(machine, day, repetitions, cv_seconds, cv_day=None):
    """Return races of a second each, and cross-validation beside them."""
    lines = []
    for k in range(repetitions):
        lines += [
            run("cvst", k, 0.1, 1.0, machine=machine, day=day),
            run("cv", k, 0.1, cv_seconds, machine=machine, day=cv_day or day),
        ]
    return lines


def speeds_of(folder, *lines):
    """Return the speeds of the pairs, whatever the order of the lines."""
    found = []
    for order in (1, -1):
        runs = write_runs(folder, [*chain(*lines[::order])])
        found.append(pairs(runs, "cv").sort_values("repetition")["speed"].tolist())
    assert str(found[0]) == str(found[1])
    return found[0]


def test_speeds_of_a_row_are_those_of_the_machine_that_was_timed_last(tmp_path):
    """By the days in the file; a pair is as old as the older of its two searches."""
    old = timed("old", "2026-11-16", 4, 10.0)
    mixed = timed("mixed", "2026-11-16", 5, 20.0, cv_day="2026-11-18")
    new = timed("new", "2026-11-17", 3, 30.0)

    found = speeds_of(tmp_path, old, mixed, new)

    assert found[:3] == [30.0] * 3
    assert np.isnan(found[3:]).all()


def test_of_two_machines_as_old_the_one_with_newer_searches_was_timed_last(tmp_path):
    same = timed("x", "2026-11-17", 3, 10.0)
    newer = timed("a", "2026-11-17", 3, 30.0, cv_day="2026-11-18")
    assert speeds_of(tmp_path, same, newer) == [30.0] * 3


def test_a_machine_with_too_few_repetitions_does_not_count(tmp_path):
    """Two are no verdict, three are; if none has three, the one with most counts."""
    old = timed("old", "2026-11-16", 3, 10.0)
    few = timed("few", "2026-11-17", 2, 30.0)
    assert speeds_of(tmp_path, old, few) == [10.0] * 3
    old = timed("old", "2026-11-16", 2, 10.0)
    few = timed("few", "2026-11-17", 1, 30.0)
    assert speeds_of(tmp_path, old, few) == [10.0] * 2


def test_each_row_has_a_machine_of_its_own(tmp_path):
    """Sets and settings of artificial ones are timed apart."""
    lines = timed("new", "2026-11-17", 3, 30.0)
    other = timed("old", "2026-11-16", 3, 10.0)
    toys = [one | {"data": "noisy_sine", "d": 5, "noise": 0.5} for one in other]
    found = pairs(write_runs(tmp_path, lines + toys), "cv")
    assert found.groupby("data")["speed"].unique().to_dict() == {
        "banana": [30.0],
        "noisy_sine": [10.0],
    }


def test_the_newest_of_equal_searches_is_told_by_its_day(tmp_path):
    lines = [
        run("cvst", 0, 0.2, 1.0, machine="a", day="2026-11-17"),
        run("cvst", 0, 0.3, 1.0, machine="b", day="2026-11-16"),
    ]
    assert each_once(write_runs(tmp_path, lines))["error"].tolist() == [0.2]


def test_every_stored_search_has_a_day():
    days = pd.read_csv(RUNS, dtype=str)["day"]
    assert days.str.fullmatch(r"2026-1[1-9]-\d\d|202[7-9].*").all()


def test_rows_agree_with_a_computation_by_hand(tmp_path):
    """Means of ratios within pairs, not ratios of means; other repetitions unpaired."""
    errors, others = [0.10, 0.20, 0.40], [0.11, 0.18, 0.40]
    seconds, slow = [1.0, 2.0, 4.0], [30.0, 20.0, 100.0]
    lines = []
    for k in range(3):
        lines += [
            run("cvst", k, errors[k], seconds[k]),
            run("cv", k, others[k], slow[k]),
        ]
    lines += [
        run("cv", 7, 9.9, 1.0),  # no race in this repetition
        run("plain_grid", 0, "", 500.0),
        run("cv", 0, 9.9, 1.0, n_train=60),  # other rows
        run("cvst", 0, 0.3, 1.0, profile="laptop"),
    ]

    rows = {
        (row.data, row.learner): row
        for row in table_rows(write_runs(tmp_path, lines), PUBLISHED, PARTS[0])
    }

    row = rows["banana", "SVM"]
    ratios = np.divide(others, errors)
    assert row.ours.n == 3
    assert row.ours.mean == pytest.approx(ratios.mean())
    half = 1.96 * ratios.std(ddof=1) / sqrt(3)
    assert row.ours.half_width == pytest.approx(half)
    assert row.bold is bool(ratios.mean() + half > 1)
    assert row.speed.mean == pytest.approx(np.divide(slow, seconds).mean())
    assert (row.plain.mean, row.plain.n) == (500.0, 1)
    assert (row.n_train, row.n_rows_paper) == (120, 2650)
    assert len(rows) == 30
    assert sum(other.verdict == NOT_RUN for other in rows.values()) == 29


def test_differences_have_the_sign_of_the_loss(tmp_path):
    """Positive where the race is worse."""
    lines = [run("cvst", 0, 0.3, 1.0), run("cv", 0, 0.2, 5.0)]
    found = pairs(write_runs(tmp_path, lines), "cv")

    assert found["difference"].tolist() == pytest.approx([0.1])


def test_equal_errors_of_zero_are_a_draw(tmp_path):
    """0 / 0 counts as 1; x / 0 is left out."""
    lines = [run("cvst", k, 0.0, 1.0) for k in range(2)]
    lines += [run("cv", 0, 0.0, 1.0), run("cv", 1, 0.1, 1.0)]

    found = pairs(write_runs(tmp_path, lines), "cv")

    assert (estimate(found["ratio"]).mean, estimate(found["ratio"]).n) == (1.0, 1)


def test_sizes_are_never_mixed_in_a_row(tmp_path):
    """The size repeated most stands for the row; of two, the larger."""
    lines = [run("cvst", k, 0.1, 1.0, n_train=100) for k in range(3)]
    lines += [run("cvst", k, 0.1, 1.0, n_train=900) for k in range(2)]
    runs = write_runs(tmp_path, lines)

    assert of_one_size(runs)["n_train"].unique().tolist() == [100]
    assert of_one_size(runs[runs["repetition"] < 2])["n_train"].unique() == [900]


def test_a_search_run_twice_counts_once(tmp_path):
    """The later line wins."""
    lines = [run("cvst", 0, 0.1, 1.0), run("cvst", 0, 0.2, 1.0)]

    assert write_runs(tmp_path, lines)["error"].tolist() == [0.2]


# --- reasons ---


def row_of(part, data, learner, ours, **other):
    line = PUBLISHED[
        (PUBLISHED["part"] == part)
        & (PUBLISHED["data"] == data)
        & (PUBLISHED["learner"] == learner)
    ].iloc[0]
    return Row(
        table=line["table"],
        part=part,
        data=data,
        learner=learner,
        published=line["ratio"],
        published_half_width=line["half_width"],
        published_speed=line["speed"],
        published_bold=bool(line["bold"]),
        ours=ours,
        **{"n_train": 2650, "n_rows_paper": 2650, **other},
    )


def test_reasons_follow_the_rules():
    """What is different about a row is said; what agrees needs no reason."""
    far = with_mean(0.5, 0.001)
    assert reason(row_of("cross-validation", "banana", "SVM", Estimate())) == ""
    same = with_mean(1.001, 0.008)
    assert reason(row_of("cross-validation", "banana", "SVM", same)) == ""
    assert reason(row_of("cross-validation", "banana", "SVM", far)) == "not known"
    capped = row_of("ten-percent", "banana", "SVM", far, n_train=500)
    assert "from 500 rows, the paper from 2,650" in reason(capped)
    assert "a tenth of that is only 50" in reason(capped)
    other = row_of("cross-validation", "kin32nm", "KRR", far, substitute="kin32fm")
    assert "kin32fm stands in for kin32nm" in reason(other)
    few = row_of("cross-validation", "banana", "SVM", Estimate(0.5, nan, 1))
    assert reason(few) == "only 1 repetition"
    noisy = row_of("cross-validation", "banana", "SVM", Estimate(1.0, 1.0, 50))
    assert reason(noisy) == "spread: 50 repetitions, as in the paper, are too few"
    blocks = reason(row_of("cross-validation", "blocks", "KRR", far))
    assert "the paper loses here too" in blocks


# --- words ---


def toy(d, noise, learner, repetition, error, other, speed):
    data = "noisy_sine" if learner in ("SVM", "KLR") else "noisy_sinc"
    task = "classification" if data == "noisy_sine" else "regression"
    same = {"data": data, "learner": learner, "d": d, "noise": noise, "task": task}
    same["n_rows_paper"] = 1000
    return [
        run("cvst", repetition, error, 1.0, **same),
        run("cv", repetition, other, speed, **same),
    ]


def test_words_are_held_against_the_runs(tmp_path):
    """Made-up races that agree with the paper's words, and one that does not.

    Nine of ten races are surely in a range only if there are many.
    """
    lines = []
    for k in range(13):
        for d, error in ((5, 0.101), (50, 0.1), (100, 0.2)):
            wobble = 0.0001 * k
            lines += toy(d, 0.25, "SVM", k, error + wobble, 0.1, 15.0)
        lines += toy(2, 0.1, "SVR", k, 0.1 + 0.001 * k, 0.1, 3.0)
    write_runs(tmp_path, lines)

    found = {one.words: one.verdict for one in toy_claims(Evidence(tmp_path, SMOKE))}

    assert found.pop("noise 0.25: CVST finds the same optimum as cross-validation "
                     "up to d = 50") == YES  # fmt: skip
    assert found["d = 100: CVST gets stuck in a suboptimal configuration"] == YES
    assert found["SVM: speed gain between 10 and 20"] == YES
    assert found["SVR: speed gain between 10 and 20"] == f"{NO}, slower"
    assert found["KLR: speed gain between 20 and 70"] == NOT_RUN


@pytest.mark.parametrize(
    ("errors", "repetitions", "verdict", "words"),
    [
        (
            (0.101, 0.11),
            3,
            YES,
            (
                "2,000 rows (3 repetitions): surely in 2 of 2 settings, surely the "
                "other way in 0, open in 0, +0.0005 on average"
            ),
        ),
        (
            (0.101, 0.16),
            3,
            PARTLY,
            (
                "surely in 1 of 2 settings, surely the other way in 1 (SVM, "
                "noise 0.25, d = 50), open in 0"
            ),
        ),
        ((0.15, 0.16), 3, NO, "surely in 0 of 2 settings, surely the other way in 2"),
        (
            (0.101, 0.11),
            2,
            UNDECIDED,
            (
                "(2 repetitions, too few for a verdict): surely in 0 of 2 settings, "
                "surely the other way in 0, open in 2"
            ),
        ),
    ],
)
def test_more_rows_are_judged_where_all_settings_have_them(
    tmp_path, errors, repetitions, verdict, words
):
    """At 1,000 rows both differ by .05; with more rows one or both do not."""
    lines = []
    for size, n_runs, found in ((1000, 3, (0.15, 0.16)), (2000, repetitions, errors)):
        for (d, right), error in zip(((5, 0.1), (50, 0.11)), found, strict=True):
            for k in range(n_runs):
                pair = toy(d, 0.25, "SVM", k, error, right, 10.0)
                lines += [line | {"n_train": size} for line in pair]
    write_runs(tmp_path, lines)

    claims = toy_claims(Evidence(tmp_path, SMOKE))
    (claim,) = [one for one in claims if one.item == "more-data"]

    assert claim.verdict == verdict
    assert words in claim.found


@pytest.mark.parametrize(
    ("n_banana", "verdict", "found"),
    [
        (3, PARTLY, "surely more in 1 of 3 sets, surely less in 1 (image), open in 1 "),
        (2, NO, "surely more in 0 of 3 sets, surely less in 1 (image), open in 2 "),
    ],
)
def test_gains_of_learners_are_judged_where_speeds_have_repetitions(
    tmp_path, n_banana, verdict, found
):
    """On german SVM gains more, by two repetitions that prove nothing."""
    lines = []
    for data, n_runs, gains in (
        ("banana", n_banana, {"KLR": 9.0, "SVM": 5.0}),
        ("german", 2, {"KLR": 3.0, "SVM": 5.0}),
        ("image", 3, {"KLR": 3.0, "SVM": 5.0}),
    ):
        for learner, gain in gains.items():
            for k in range(n_runs):
                same = {"data": data, "learner": learner}
                lines += [run("cvst", k, 0.2, 1.0, **same)]
                lines += [run("cv", k, 0.2, gain, **same)]
    write_runs(tmp_path, lines)

    claims = benchmark_claims(Evidence(tmp_path, SMOKE))
    (claim,) = [one for one in claims if "gain more speed" in one.words]

    assert (claim.verdict, found in claim.found) == (verdict, True)


@pytest.mark.parametrize(
    ("changes", "verdict", "counts"),
    [
        ((-0.02, -0.021), YES, "less in 2 of 2 settings, surely more in 0, open in 0"),
        ((-0.02, -0.1, -0.1, -0.1, 0.001), PARTLY, "surely more in 1 (SVR, "),
        ((0.02, 0.021), NO, "less in 0 of 2 settings, surely more in 2"),
        ((-0.02, 0.03), UNDECIDED, "less in 1 of 2 settings, surely more in 1"),
    ],
)
def test_the_outlier_variant_is_judged_race_by_race(tmp_path, changes, verdict, counts):
    """The races differ far more than the variant from its own race.

    More races without the variant would move an average of theirs, and do not count.
    """
    lines = []
    for d, change in enumerate(changes):
        for k in range(5):
            usual, _ = toy(d, 0.1, "SVR", k, 0.2 + 0.1 * k, 0.1, 3.0)
            lines.append(usual)
            if k < 3:
                error = usual["error"] + change * (1 + 0.01 * k)
                lines.append(usual | {"method": "outliers", "error": error})
    write_runs(tmp_path, lines)

    claims = benchmark_claims(Evidence(tmp_path, SMOKE))
    (claim,) = [one for one in claims if "loses less" in one.words]

    assert (claim.verdict, counts in claim.found) == (verdict, True)


def test_the_outlier_variant_is_judged_on_one_size_of_a_set(tmp_path):
    """A lone race on fewer rows, where it was worse and faster, does not count."""
    lines = []
    for data in ("blocks", "bumps"):
        same = {"data": data, "learner": "SVR", "task": "regression"}
        for k in range(3):
            lines += [
                run("cvst", k, 0.2, 1.0, **same),
                run("outliers", k, 0.1, 2.0 + 0.1 * k, **same),
            ]
        lines += [
            run("cvst", 0, 0.1, 1.0, n_train=60, **same),
            run("outliers", 0, 9.0, 0.1, n_train=60, **same),
        ]
    write_runs(tmp_path, lines)

    claims = benchmark_claims(Evidence(tmp_path, SMOKE))
    found = {one.words.split()[0]: one for one in claims if "Friedman" in one.words}

    assert {one.verdict for one in found.values()} == {YES}
    assert "on average -50.0% (-50.0% to -50.0%)" in found["better"].found
    assert "surely slower in 2 of 2 rows" in found["less"].found


def test_shares_in_words():
    """All, some, none, nothing."""
    assert [share(x) for x in ([True], [True, False], [False], [])] == [
        YES,
        PARTLY,
        NO,
        NOT_RUN,
    ]


def test_nothing_run_is_said_so(tmp_path):
    """Every claim of an empty folder is not run."""
    evidence = Evidence(tmp_path, SMOKE)
    claims = [*toy_claims(evidence), *benchmark_claims(evidence)]
    claims += theory_claims(evidence)

    assert {one.verdict for one in claims} == {NOT_RUN}
    assert {one.item for one in claims} <= set(ITEMS)
    assert all(one == Claim(one.item, one.words) for one in claims)


# --- small experiments ---


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a folder of all small experiments, and searches on a few problems."""
    folder = tmp_path_factory.mktemp("paper")
    for item in curves.EXPERIMENTS:
        curves.run(item, folder, SMOKE, jobs=1)
    lines = []
    rng = np.random.default_rng(0)
    for k in range(3):
        for data, learner, task in (
            ("banana", "SVM", "classification"),
            ("kin32nm", "KRR", "regression"),
        ):
            same = {"data": data, "learner": learner, "task": task}
            same["substitute"] = "kin32fm" if data == "kin32nm" else ""
            lines += [
                run(method, k, rng.uniform(0.1, 0.2), 2.0, **same)
                for method in ("cvst", "cv", "unpaired", "ten_percent", "random")
            ]
            lines += [
                run("outliers", k, 0.15, 3.0, **same),
                run("halving", k, 0.15, 3.0, **same),
                run("plain_grid", k, "", 300.0, **same),
            ]
        for learner in ("SVM", "SVR"):
            for n_train in (120, 150):
                pair = toy(5, 0.25, learner, k, 0.2, 0.19, 15.0)
                lines += [line | {"n_train": n_train} for line in pair]
        lines.append(
            toy(5, 0.25, "SVR", k, 0.2, 0.19, 15.0)[0] | {"method": "outliers"}
        )
    write_runs(folder, lines)
    return folder


def test_experiments_are_computed_once(results, monkeypatch):
    """A second call changes no file, and an interrupted one is completed."""
    before = {path.name: path.read_bytes() for path in results.glob("*.csv")}
    for item in curves.EXPERIMENTS:
        curves.run(item, results, SMOKE)
    assert {p.name: p.read_bytes() for p in results.glob("*.csv")} == before

    path = results / "width-curves.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:6]))  # the header and the first of four blocks
    curves.run("width-curves", results, SMOKE)
    assert sorted(path.read_text().splitlines(keepends=True)) == sorted(lines)


def test_width_curves_pick_the_best_nu(results):
    """The witness fits scikit-learn's own kernel at one width."""
    found = curves.load("width-curves", results, "smoke")
    block = found[(found["repetition"] == 0) & (found["n_train"] == 60)]
    line = block[block["log10_sigma"] == -1.5].iloc[0]
    problem = curves.Problem("noisy_sinc", "SVR", 120, 2, 0.1, 500)
    rows = problem.rows(0)
    errors = [
        np.mean(
            (
                curves.grid_for("noisy_sinc", "SVR")
                .learner.model({"nu": nu, "gamma": 10**1.5}, share=0.5)
                .fit(rows.X_train[:60], rows.y_train[:60])
                .predict(rows.X_test)
                - rows.y_test
            )
            ** 2
        )
        for nu in (0.05, 0.275, 0.5)
    ]
    assert line["error"] == pytest.approx(min(errors), abs=1e-6)
    assert line["nu"] == (0.05, 0.275, 0.5)[int(np.argmin(errors))]


def test_race_codes_put_the_winner_first(results):
    """Grey from the step after the drop on, and nothing else."""
    race = curves.load("example-run", results, "smoke")
    codes, who = figures.races.race_codes(race)

    assert who["winner"].tolist() == [1] + [0] * (len(who) - 1)
    for row, line in zip(codes, who.itertuples(), strict=True):
        seen = race[race["configuration"] == line.configuration]
        assert (row != figures.races.DROPPED).sum() == len(seen)
        assert (row == figures.races.TOP).sum() == seen["top"].sum()


def test_remaining_configurations_are_read_from_the_runs():
    """Races of different length are padded at their end."""
    frame = pd.DataFrame({"survivors": ["5;3", "5;5;1"]})

    np.testing.assert_array_equal(
        figures.survivors.counts(frame), [[5, 3, nan], [5, 5, 1]]
    )


def test_a_race_that_has_stopped_keeps_its_survivors():
    """Up to the last of ten steps, so that medians are of all races."""
    frame = pd.DataFrame({"survivors": ["5;3", "5;5;1"]})
    table = figures.survivors.carried(frame)
    np.testing.assert_array_equal(table, [[5, *[3] * 9], [5, 5, *[1] * 8]])


def test_speed_axes_have_several_numbers_where_the_paper_has_a_range(tmp_path):
    """The ranges of the paper widen the axes before their ticks are set."""
    same = {"data": "noisy_sinc", "learner": "KRR", "task": "regression"}
    same |= {"d": 2, "noise": 0.1, "n_train": SMOKE.toy_rows, "n_rows_paper": 1000}
    lines = []
    for k in range(3):
        lines += [run("cvst", k, 0.1, 1.0, **same), run("cv", k, 0.1, 30.0 + k, **same)]
    write_runs(tmp_path, lines)
    [path] = figures.toys.noisy_sinc(tmp_path, SMOKE, tmp_path)
    texts = re.findall(r">\s*([\d.]+)\s*</text>", path.read_text())
    assert {"50", "100"} <= set(texts)


# --- figures and pages ---


@pytest.fixture(scope="module")
def rendered(results):
    """Return both pages, and the folder of the figures."""
    index, judgement = pages.render(results, SMOKE)
    return index.read_text(), judgement.read_text(), index.parent / "figures"


def test_every_item_that_promises_a_figure_has_one(rendered):
    """Whatever is linked exists, each item is a section, and nothing else is drawn."""
    index, _, folder = rendered
    promised = {name for name, item in ITEMS.items() if item.has_figure}
    assert set(figures.FIGURES) == promised
    sections = index.split("\n## ")
    for item in figures.FIGURES:
        (section,) = [s for s in sections if f"`python benchmarks/paper {item}`" in s]
        assert "](figures/" in section, item
    linked = {part.split(")")[0] for part in index.split("](figures/")[1:]}
    assert linked == {path.name for path in folder.iterdir()}


def test_figures_say_what_they_rest_on(rendered):
    """Rows and repetitions stand in each figure of searches."""
    *_, folder = rendered
    for name in ("noisy_sine", "benchmark", "competitors", "remaining_benchmark"):
        text = (folder / f"{name}.svg").read_text()
        assert "120 rows" in text, name
        assert "3 repetitions" in text, name


def test_each_number_stands_beside_the_papers(rendered, results):
    """One line per row of the paper, with both ratios and both speeds."""
    index, *_ = rendered
    table = index.split("## Table 1")[1].split("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")][1:]
    lines = [line for line in lines if "---" not in line]
    assert len(lines) == 30
    runs = load_runs(results, "smoke")
    found = pairs(runs, "cv")
    ratios = found[(found["data"] == "banana") & (found["learner"] == "SVM")]["ratio"]
    (mine,) = [line for line in lines if line.startswith("| banana | SVM")]
    cells = [cell.strip(" *") for cell in mine.strip("|").split("|")]
    half = 1.96 * ratios.std(ddof=1) / sqrt(3)
    assert cells[2:4] == ["120 of 2,650", "3"]
    assert cells[4] == f"{ratios.mean():.3f} ± {half:.3f}"
    told = ["1.001 ± 0.008", "1.0", "16.9", "slower", "150", cells[-1]]
    assert cells[5:] == told


def test_substitutes_are_labelled_in_every_table(rendered):
    """Wherever rows of kin32nm were run, the page names what they are."""
    for page in rendered[:2]:
        for line in page.splitlines():
            if line.startswith("| kin32nm") and "KRR" in line and "not run" not in line:
                assert "here kin32fm" in line


def test_missing_rows_are_said_to_be_missing(rendered):
    """On both pages: 28 of 30 rows of each part."""
    index, judgement, _ = rendered
    assert index.count("Not run (28 of 30): banana KLR, covtype KLR") == 4
    assert "112 were not run" in judgement
    table = judgement.split("## Table 2, lower part")[1].split("\n## ")[0]
    assert table.count("| not run |") == 28


def test_pages_of_a_trial_stay_beside_its_results(tmp_path):
    """Only the usual folder of a real profile writes into the documentation."""
    usual = figures.USUAL_OUTPUT
    assert figures.folder_of_pages(usual, PROFILES["laptop"]) == figures.PAGES
    assert figures.folder_of_pages(usual, SMOKE).parent == usual
    assert figures.folder_of_pages(tmp_path, PROFILES["full"]).parent == tmp_path


def test_an_empty_folder_is_rendered_too(tmp_path):
    """Nothing is run, everything says so, and only the example data is drawn."""
    index, judgement = pages.render(tmp_path, SMOKE)

    assert "No search has been run yet." in index.read_text()
    assert "120 were not run" in judgement.read_text()
    drawn = {path.name for path in (index.parent / "figures").iterdir()}
    assert drawn == {"example_data.svg"}


def test_rows_of_the_papers_size_have_a_table_of_their_own(tmp_path):
    """Beside the profile's own, with what the paper prints."""
    lines = []
    for k, other in enumerate((0.11, 0.12, 0.10)):
        lines += [
            run("cvst", k, 0.1, 1.0, profile="full", n_train=2650),
            run("cv", k, other, 1.0, profile="full", n_train=2650, device="cuda"),
            run("cvst", k, 0.1, 1.0),
            run("cv", k, 0.5, 1.0),
        ]
    write_runs(tmp_path, lines)

    (section,) = pages.paper_sizes_section(Evidence(tmp_path, SMOKE))

    (line,) = [line for line in section.splitlines() if line.startswith("| banana")]
    cells = [cell.strip(" *") for cell in line.strip("|").split("|")]
    assert cells[:4] == ["banana", "SVM", "2,650", "3"]
    assert cells[4] == "1.100 ± 0.113"
    assert not list(pages.paper_sizes_section(Evidence(tmp_path, PROFILES["full"])))


@pytest.mark.parametrize(
    ("learned", "repetitions", "counted"),
    [(2650, 3, WORSE), (2650, 2, AGREES), (2000, 3, AGREES)],
)
def test_rows_of_the_papers_size_are_the_ones_that_count(
    tmp_path, learned, repetitions, counted
):
    """Races of 120 rows agree with the paper; with more they are worse.

    Fewer rows than the paper's do not count, nor do too few repetitions.
    """
    lines = []
    for k in range(15):
        lines += [run("cvst", k, 0.1, 1.0), run("cv", k, 0.1, 1.0)]
    for k in range(repetitions):
        full = {"profile": "full", "n_train": learned}
        lines += [run("cvst", k, 0.1, 1.0, **full), run("cv", k, 0.05, 1.0, **full)]
    write_runs(tmp_path, lines)

    page = judgement.judgement_page(Evidence(tmp_path, SMOKE), [])

    header, _, first, *_ = cells_of(page, "At a glance")
    assert first[header.index(counted)] == "1"
    rows = cells_of(page, judgement.PARTS[PARTS[0]][1])
    verdicts = [one[7] for one in rows if one[:2] == ["banana", "SVM"]]
    assert verdicts == ([AGREES, WORSE] if counted == WORSE else [AGREES])
    told = "changes the verdict of banana SVM (worse; agrees with 120)."
    assert (told in page) == (counted == WORSE)


def test_how_often_searches_were_timed_follows_the_file(tmp_path):
    lines = [
        *timed("a", "2026-11-16", 2, 10.0),
        *[one | {"data": "covtype"} for one in timed("a", "2026-11-16", 3, 10.0)],
        *[
            one | {"data": "noisy_sine", "d": 5, "noise": 0.5}
            for one in timed("a", "2026-11-16", 1, 10.0)
        ],
        run("plain_grid", 0, "", 60.0, machine="a"),
    ]
    write_runs(tmp_path, lines)
    words = pages.timed_words(Evidence(tmp_path, SMOKE))
    assert "beside the race SVM 2 to 3 times for each set" in words
    assert "and plain search at most once." in words
    assert words.endswith("artificial sets it was: noisy sine with SVM once.")


def test_the_default_has_its_speeds_over_searches_of_its_own_size(tmp_path):
    """Full cross-validation took 6 s and plain search 60; other rows do not count."""
    lines = []
    for k in range(2):
        lines += [
            run("cvst", k, 0.2, 1.0),
            run("track_and_confirm", k, 0.2, 2.0),
            run("cv", k, 0.2, 6.0),
            run("plain_grid", k, "", 60.0),
            run("plain_grid", k, "", 900.0, n_train=60),
            run("track_and_confirm", k, 0.2, 2.0, n_train=60),
        ]
    runs = write_runs(tmp_path, lines)

    tables = {one.split("\n")[0]: one for one in pages.extra_sections(runs)}

    default = tables['### `strategy="track_and_confirm"`']
    assert "| over 10-fold, same evaluator | over GridSearchCV |" in default
    assert "| banana | SVM | 120 | 2 | 1.000 ± 0.000 | 2.0 | 3.0 | 30.0 |" in default
    assert "| banana | KLR | - | 0 | not run | - | - | - |" in default
    assert not any("GridSearchCV |" in one for one in tables.values() if one != default)


def test_options_are_shown_for_regression_and_each_artificial_setting(tmp_path):
    """The error of the option over that of CVST, and no row that cannot be run."""
    sinc = {"data": "noisy_sinc", "learner": "KRR", "task": "regression", "d": 3}
    lines = [
        run("cvst", 0, 0.2, 2.0, noise=0.1, **sinc),
        run("shuffled", 0, 0.3, 3.0, noise=0.1, **sinc),
        run("cvst", 0, 0.2, 2.0, noise=0.2, **sinc),
        run("shuffled", 0, 0.1, 3.0, noise=0.2, **sinc),
    ]
    runs = write_runs(tmp_path, lines)

    sections = [one for one in pages.extra_sections(runs) if "new shuffle" in one]

    (section,) = sections
    assert "| noisy sinc, d = 3, noise 0.1 | KRR | 120 | 1 | 1.500 | 1.5 |" in section
    assert "| noisy sinc, d = 3, noise 0.2 | KRR | 120 | 1 | 0.500 | 1.5 |" in section
    assert "| blocks | SVR | - | 0 | not run | - |" in section
    assert "KLR" not in section


def test_a_few_values_are_points_and_many_a_box():
    """From eight values on."""
    for n, n_points in ((7, 7), (8, 0)):
        _, axes = figures.style.panels(1, 1, (3, 3))
        figures.style.distribution(axes[0, 0], 0, np.arange(n), "#000000", 0.5)
        dots = [one for one in axes[0, 0].lines if one.get_marker() == "."]
        assert sum(len(one.get_xdata()) for one in dots) == n_points
        assert len(axes[0, 0].patches) == (n >= 8)


# --- the pages that are committed, against the files that are committed ---

ROOT = Path(__file__).parents[2]


def committed(name):
    return (ROOT / "docs" / "paper" / name).read_text(encoding="utf-8")


def cells_of(page, heading):
    """Return the cells of the first table below a heading."""
    below = page.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in below.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.fixture(scope="module")
def stored():
    """Return the evidence that the committed pages rest on."""
    return Evidence(ROOT / "benchmarks" / "results" / "paper", PROFILES["laptop"])


@pytest.mark.parametrize("part", PARTS)
def test_committed_tables_have_the_numbers_of_the_files(stored, part):
    """Counts, means and verdicts of both pages, each row computed again."""
    heading = pages.PARTS[part][1]
    index = cells_of(committed("index.md"), heading)
    judged = cells_of(committed("what_reproduces.md"), heading)
    places = {name: index[0].index(name) for name in ("runs", "verdict")}
    # A row that was run with all rows of the paper has a line more.
    judged = [one for at, one in enumerate(judged) if one[:2] != judged[at - 1][:2]]
    for row, told, words in zip(
        stored.tables[part], index[2:], judged[2:], strict=True
    ):
        assert told[0].split(" (")[0] == words[0].split(" (")[0] == row.data
        assert told[1] == words[1] == row.learner
        assert int(told[places["runs"]]) == int(words[2]) == row.ours.n
        assert told[places["verdict"]] == words[7] == row.verdict
        if row.ours.n:
            for cell in (told[4], words[4]):
                mean = float(cell.strip("*").split(" ± ")[0])
                assert mean == pytest.approx(row.ours.mean, abs=0.0005)


def test_committed_pages_are_what_the_code_writes_of_the_files(stored):
    """Line by line: ratios, intervals, speeds, reasons and sentences."""
    told = committed("what_reproduces.md").splitlines()
    written = pages.judgement_page(stored, pages.claims_of(stored)).splitlines()
    assert len(told) == len(written)
    assert [one for one in told if one not in written] == []
    parts = [
        pages.introduction(stored),
        pages.timed_words(stored),
        *(pages.table_section(part, stored.tables[part]) for part in PARTS),
        *pages.paper_sizes_section(stored),
        *pages.extra_sections(stored.runs),
    ]
    page = committed("index.md")
    told = page.splitlines()
    written = "\n\n".join(parts).splitlines()
    assert [one for one in written if one not in told and one != parts[1]] == []
    assert parts[1] in page
    searches = [one for one in told if one.startswith("| ") and one.count(" | ") > 4]
    assert [one for one in searches if one not in written] == []


def test_committed_claims_are_those_of_the_files(stored):
    """What the pages say in words is what the code says of the files."""
    page = committed("what_reproduces.md")
    for claim in pages.claims_of(stored):
        cells = claim.item, claim.words, claim.found, claim.verdict
        line = " | ".join(cell.replace("|", "/") for cell in cells)
        assert f"| {line} |" in page


def test_the_guide_says_of_the_outlier_variant_what_the_files_say(stored):
    """Means and intervals, as the claims have them."""
    guide = (ROOT / "docs" / "user_guide" / "similarity_tests.md").read_text("utf-8")
    claims = [one for one in benchmark_claims(stored) if "outliers" in one.item]
    found = [one.found.split("; ")[0] for one in claims]
    safer, factor, better, slower = (
        [one.lstrip("+-") for one in re.findall(r"[+-]?\d+\.\d+", text)]
        for text in found
    )
    told = (
        f"lower by {safer[0]} on average over 12 settings (95 % interval {safer[2]} to "
        f"{safer[1]}), at {factor[0]} times the speed. On the paper's regression sets "
        f"it is {better[0]} % lower, but the interval goes from {better[1]} % lower to "
        f"{better[2]} % higher. The speed there is {slower[0]} % lower."
    )
    assert told in guide
    assert "of 12 settings" in claims[0].found


def test_the_guide_says_which_window_the_example_run_has():
    """That of the stored race; the printed numbers are checked by another test."""
    guide = (ROOT / "docs" / "user_guide" / "departures.md").read_text("utf-8")
    race = pd.read_csv(RUNS.parent / "example-run.csv")
    [window] = race.loc[race["profile"] == "laptop", "window"].unique()
    assert f"| {window} in our repetition of the run, 3 to check its printed" in guide
    assert f"on another draw of the data, keeps the {window} of the text." in guide
    assert "checks the printed numbers with 3." in guide
    usual = CVST()
    assert f"three tenths of the steps, so {usual.window} of {usual.max_steps}" in guide


def test_the_guide_says_where_the_papers_race_costs_less_than_the_default(stored):
    """Counted on the table of the default; speeds below 1 favour the default."""
    guide = (ROOT / "docs" / "user_guide" / "strategies.md").read_text("utf-8")
    page = committed("index.md").split('### `strategy="track_and_confirm"`')[1]
    lines = [line.split(" | ") for line in page.split("\n### ")[0].split("\n")]
    rows = [cells for cells in lines if cells[0].startswith("| ")][2:]
    kernel = [float(cells[5]) > 1 for cells in rows if cells[1] in ("KRR", "KLR")]
    vectors = [float(cells[5]) <= 1 for cells in rows if cells[1] in ("SVM", "SVR")]
    assert {int(cells[3]) for cells in rows} == {3}
    assert f"on {sum(kernel)} of {len(kernel)} rows" in guide
    assert "three repetitions each" in guide
    assert f"as much or more on {sum(vectors)} of {len(vectors)} with" in guide
    found = pairs(stored.runs, "track_and_confirm")
    problems = found[found["d"].isna()].groupby(["data", "learner"])
    speeds = [estimate(of_one_size(mine)["speed"]) for _, mine in problems]
    assert len(speeds) == len(kernel) + len(vectors)
    sides = Counter(above(bounds(speed), 1) for speed in speeds)
    less, more = sides[AS_SAID], sides[OTHERWISE]
    assert sides[OPEN] == len(speeds) - less - more
    assert (
        f"less on {less} of the {len(speeds)} rows, and surely more on {more}" in guide
    )


def test_counts_at_a_glance_add_up():
    """The first table counts the verdicts of the others, of each row its last line."""
    page = committed("what_reproduces.md")
    header, _, *lines = cells_of(page, "At a glance")
    for part, line in zip(PARTS, lines, strict=True):
        rows = cells_of(page, pages.PARTS[part][1])[2:]
        verdicts = list({(one[0], one[1]): one[7] for one in rows}.values())
        for name, count in zip(header[1:-1], line[1:-1], strict=True):
            assert verdicts.count(name) == int(count)


def stopped_after_four(data, learner):
    """Return races with the paper's rows that took four steps, and how many ran.

    With each: the number left, its parameters and those of cross-validation.
    """
    runs = pd.read_csv(RUNS, dtype={"machine": str, "device": str, "substitute": str})
    here = (runs.data == data) & (runs.learner == learner) & (runs.profile == "full")
    runs = runs[here & (runs.device == "cuda")].set_index("repetition")
    params = runs.params.map(json.loads)
    races, full = runs.method == "cvst", runs.method == "cv"
    short = runs[races & (runs.n_looks == 4)]
    left = [int(one.split(";")[-1]) for one in short.survivors]
    chosen = [(params[races][n], params[full][n]) for n in short.index]
    return left, chosen, int(races.sum())


def test_what_is_said_of_races_with_the_papers_rows(stored):
    """How many stop early, with how many left, and what they choose."""
    text = " ".join((TEXTS / "paper_sizes.md").read_text(encoding="utf-8").split())
    few = {(row.data, row.learner): row for row in stored.tables["cross-validation"]}
    lower = {
        row.data: below(difference_bounds(row.ours, few[row.data, "KRR"].ours), 0)
        for row in stored.paper_sizes
        if row.learner == "KRR"
    }
    assert lower == {"bank32nm": AS_SAID, "pumadyn32nm": AS_SAID, "kin32nm": OPEN}
    assert "ratio is surely lower on bank32nm and pumadyn32nm. On kin32fm, with" in text
    left, chosen, n_races = stopped_after_four("bank32nm", "KRR")
    assert f"{len(left)} of {n_races} races stop after four of ten steps" in text
    assert f"the {min(left)} to {max(left)} configurations left behave alike" in text
    larger = sum(ours["alpha"] > 9 * full["alpha"] for ours, full in chosen)
    assert f"{larger} of the races choose a ridge ten times" in text
    left, chosen, n_races = stopped_after_four("covtype", "KLR")
    assert f"{len(left)} of {n_races} races stop after four of ten steps with" in text
    assert f"with {min(left)} to {max(left)} configurations left" in text
    assert all(ours["gamma"] < full["gamma"] for ours, full in chosen)
