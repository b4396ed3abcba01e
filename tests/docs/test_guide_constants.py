"""Numbers of the guides that are settings of the code are those of the code."""

from __future__ import annotations

import inspect
import logging
import re

import numpy as np
import pytest
from docs_pages import differences, page, plain, script
from scipy.stats import norm
from sklearn.kernel_ridge import KernelRidge

from cvst import CVST, RaceRandomSearchCV, SimplestNotWorse
from cvst.cli import _main
from cvst.cli.commands import _chosen_search, _demo_run
from cvst.cli.grid import _files
from cvst.cli.table import _preparation, _reading, _target
from cvst.datasets import _example, _stored
from cvst.displays import _importance
from cvst.evaluation.ensembles import _catboost
from cvst.evaluation.linear import _logistic
from cvst.evaluation.losses.influence import _jackknife, _opaque
from cvst.evaluation.pipelines import _stages
from cvst.evaluation.svm import _fits
from cvst.parallel import _chunks, _ray
from cvst.race import (
    TrackAndConfirm,
    _cvst,
    _problem,
    _proposal_folds,
    _proposal_records,
    _proposal_times,
    _propose_and_confirm,
    _track_and_confirm,
    _tracking,
)
from cvst.search import (
    _ensemble,
    _memory,
    _plan,
    _predictions,
    _proposal_source,
    _propose,
    _results,
)
from cvst.search.checkpoint import _recorder
from cvst.search.estimate import _growth
from cvst.spaces import _drawn
from cvst.statistics import _selection
from cvst.theory import _error_bound, safety_zone

GUIDE = "docs/user_guide"

WORDS = {2: "two", 3: "three", 4: "four", 6: "six", 8: "eight"}


def default(function, name):
    return inspect.signature(function).parameters[name].default


def told(name, *sentences):
    """Check that a page has some sentences."""
    text = plain(name)
    for one in sentences:
        assert one in text, one


def test_track_and_confirm():
    rule = TrackAndConfirm()
    raced = [
        max(_track_and_confirm.FEWEST_RACED, rule.n_raced // looks)
        for looks in (1, 2, 3)
    ]
    assert (rule.first_fraction, rule.late_fraction) == (1 / 5, 2 / 5)
    assert (_tracking.LARGEST_EXCESS, rule.n_hedges) == (3, 10)
    doubtful = _track_and_confirm.DOUBTFUL
    last = _track_and_confirm.N_FINALISTS
    told(
        f"{GUIDE}/strategies.md",
        "**First look**: all configurations on a fifth of the rows.",
        f"Of the others, the best {rule.max_survivors} go on and the rest",
        "**Late look**: two fifths of the rows.",
        "exceeds three times the leader's gain over a constant predictor",
        f"**Confirm**: the best {rule.n_tracked}, the neighbours of the best "
        f"{rule.n_leaders} and the best of each tenth of every axis run "
        f"{rule.n_folds}-fold cross-validation",
        "The best {}, then the best {}, then the best {} go on".format(*raced),
        f"about as good by the test (*p* > {doubtful})",
        f"run the same folds, up to {WORDS[rule.climbs]} times.",
        f"the last {WORDS[last]} run {rule.final_folds}-fold cross-validation",
        f"ends when one is behind by the test (*p* < {doubtful})",
        '"about as good" means *p* > '
        f"{_track_and_confirm.DOUBTFUL_OF_ALL_ROWS} in the folds and in the final",
        "the best {}, {} and {}, and those about as good, go on".format(*raced),
        f"None has fewer than {rule.min_rows} rows (`min_rows`)",
        f"Fewer than {rule.direct_below} fits (`direct_below`) run the five folds",
        f"A look tests at most {rule.max_test:,} rows (`max_test`). Of more than "
        f"{rule.max_rows:,} rows, {rule.max_rows:,} are drawn and raced",
        f"is dropped **by a test** is at most `level` ({rule.level})",
        f"*G* the same for the final, at most {2 * rule.final_folds}.",
        f"A look of {rule.min_rows} rows shows little",
    )
    few = f"a fifth of the rows, never fewer than {rule.min_rows}"
    told("docs/migration/from_halving.md", few)
    assert rule.max_rows == _propose_and_confirm.MOST_ROWS
    most = f"Beyond {rule.max_rows:,} rows"
    sample = f"a sample of {rule.max_rows:,} is raced"
    told("docs/recipes/large_data.md", f"{most}, {sample}")
    told(f"{GUIDE}/large_data.md", most, f"Up to {rule.max_test:,} rows neither limit")


def test_losses_of_a_look_and_what_memory_allows():
    most, fewest, bounded = (
        _problem.LARGEST_LOOK,
        _problem.FEWEST_TESTED,
        _problem.FEWEST_BOUNDED,
    )
    assert _memory.SHARED_PART == 4
    told(
        f"{GUIDE}/planning.md",
        f"A look on a subset holds at most {most // 10**6} million losses",
        f"but never on fewer than {fewest:,}",
        f"A race of 800 configurations on 100,000 rows tests on {most // 800:,}",
    )
    assert _stored.LARGEST_BYTES == 2**30
    told(
        f"{GUIDE}/large_data.md",
        "holds at most ten million losses",
        f"800 configurations are then compared on {most // 800:,} rows",
        f"tests fewer rows if it has to, but at least {bounded}. Up to a quarter",
        f"one block of {_stored.BLOCK_ROWS:,} rows",
        "as many as take one gibibyte",
    )


def test_why_more_test_rows_add_no_power():
    error = np.sqrt(0.02 / TrackAndConfirm().max_test)
    shown = f"{error:.5f}".removeprefix("0")
    limit = norm.isf(TrackAndConfirm().level / 50)
    told(
        f"{GUIDE}/large_data.md",
        f"error rates is {shown}. A difference of .002 is then {0.002 / error:.1f} "
        "standard errors from zero, and fifty comparisons at level .05 ask for "
        f"{limit:.1f}.",
    )


def test_cases_of_large_data():
    cases = script("large/cases.py")
    _, sgd = cases.learner("sgd")
    _, boosting = cases.learner("hgb")
    sizes = [len(values) for grid in (sgd, boosting) for values in grid.values()]
    words = "over {} penalties and {} losses, whose fits are short; `hgb` and "
    words += "`lightgbm` are boosting of ten rounds over {} learning rates and {} "
    told(
        f"{GUIDE}/large_data.md",
        f"{words.format(*sizes)}numbers of leaves",
        f"default strategy, {cases.N_COLUMNS} columns of float64",
    )


def test_proposals():
    numbers = WORDS[len(_proposal_source.SHARES)]
    trees = _propose.SCREEN_ROUNDS
    assert (_proposal_records.GROWTH, _proposal_folds.PROMOTED) == (4, 1 / 3)
    assert _proposal_folds.FEW == 100
    told(
        f"{GUIDE}/proposing.md",
        "The best third goes on to four times as many",
        "once more than a hundred have been seen on the whole fold",
        f"no time to confirm {WORDS[_propose_and_confirm.FEWEST_CONFIRMED]}, all of it",
        f"each fit is judged at {numbers} numbers of rounds",
        f"Forests are screened with {trees} trees and confirmed with all. A forest of "
        f"{trees} trees cannot show",
    )


def test_the_command_line():
    configurations = len(_demo_run.GAMMAS) * len(_demo_run.LAMBDAS)
    assert _chosen_search.MOST_CONFIGURATIONS == 10**6
    told(
        f"{GUIDE}/command_line.md",
        f"whole numbers with at most {_target.MOST_CLASSES} distinct values",
        f"beyond {_preparation.MOST_CATEGORIES} categories the rarest share one",
        f"or `--n-iter` ({_propose.DEFAULT_N_ITER})",
        f"how many configurations (default: {_chosen_search.DEFAULT_DRAWS})",
        "at most a million configurations",
        f"up to {_error_bound.MOST_STEPS}, that leave time to drop the losers",
        f"the loser level is raised to {_cvst.LARGEST_LEVEL};",
        f"Races {configurations} configurations of kernel ridge",
        f"the best of the grid on {_demo_run.N_FRESH:,} fresh points",
        f"unpacks to more than {_reading.MOST_BYTES // 10**9} GB",
        f"stand for more than {_files.MOST_VALUES:,} values",
        f"The exit code is {_main.INTERRUPTED}.",
        f"and {_main.INTERRUPTED} that you pressed Ctrl-C",
        f"{_main.BAD_INPUT} means that something was wrong that you can fix",
    )


def test_shared_work():
    kept = _stages.KEPT_BYTES // 2**20
    assert _logistic.SHARE_OF_TOLERANCE == 0.01
    assert (_fits.BACKGROUND_SECONDS, _fits.COMPILE_SECONDS) == (2, 10)
    told(
        f"{GUIDE}/shared_work.md",
        f"Below {_catboost.FEW_ROUNDS} rounds it takes one step",
        "stops at a hundredth of `tol`",
        f"`max_iter` below {_logistic.FEWEST_ITERATIONS}",
        f"more than {_logistic.MOST_COEFFICIENTS} coefficients",
        "waits until libsvm has worked for two seconds",
        "compiles after ten seconds of libsvm",
        f"about {2 * 12 * 3000**2 / 1e9:.1f} GB for 3,000 rows",
        f"kept while a look lasts, up to {kept} MB",
    )


def test_results_estimates_and_scores():
    assert default(SimplestNotWorse, "level") == 0.05
    assert norm.sf(1) == pytest.approx(0.16, abs=0.005)
    told(
        f"{GUIDE}/results.md",
        "p-value is above its `level` (0.05). A level of 0.16 is about one standard",
        f"With more than {_results.MOST_LOOK_COLUMNS} looks there are no columns",
        f"the survivors, at most {_predictions.MOST_SURVIVORS}, by five folds",
        f"There are up to {_ensemble.MOST_ROUNDS} rounds.",
    )
    draws = default(_selection.corrected_best, "n_resamples")
    assert _problem.MOST_KEPT == 5_000_000
    told(
        f"{GUIDE}/estimate.md",
        f"drawn with replacement, {draws} times",
        f"to the power of \N{MINUS SIGN}{_growth.POWER}",
        "more than five million losses",
    )
    clipped = -np.log(np.finfo(float).eps)
    told(
        f"{GUIDE}/losses.md",
        f"log loss of such a row is {clipped:.0f}, the clipped logarithm",
        f"each of up to {_jackknife.N_BLOCKS} blocks of rows",
        f"values on up to {_opaque.N_OPAQUE_BLOCKS} blocks of the test rows",
    )


def test_small_settings():
    first, last = (round(100 * one) for one in _importance.INTERVAL)
    few = WORDS[_importance.FEWEST]
    told(
        f"{GUIDE}/pictures.md",
        f"The line from {first} to {last} % comes from",
        f"With fewer than {few} configurations",
    )
    assert _recorder.LATE_SECONDS == 0.1
    told(f"{GUIDE}/checkpoints.md", "waits a tenth of a second at most")
    told(f"{GUIDE}/datasets.md", f"returns {_example.N_SAMPLES} fixed rows")
    drawn = f"| {_drawn.N_NUMBERS:,} draws from it, always the same "
    drawn += f"({_drawn.N_CATEGORIES} if they are not numbers)"
    told(f"{GUIDE}/spaces.md", drawn)
    assert (_chunks.CHUNKS_PER_WORKER, _ray.RETRIES) == (8, 3)
    told(
        f"{GUIDE}/clusters.md",
        "up to eight per worker and look",
        "After Dask's `allowed-failures` or three retries of Ray",
    )
    draws = default(RaceRandomSearchCV, "n_iter")
    told("docs/migration/from_grid_search.md", f"default 10 | default {draws}, since")
    seconds = _plan.PROBE_SECONDS, _plan.PROBE_SHARE, _plan.LONGEST_PROBE
    assert seconds == (1, 1 / 20, 10)
    told(
        f"{GUIDE}/planning.md",
        "Timing takes a second or a twentieth of the race, whichever is more, but at "
        "most ten seconds.",
        f"`loser_level` is raised to {_cvst.LARGEST_LEVEL}.",
    )


def test_the_arithmetic_of_a_large_cluster():
    rows, numbers, workers, configurations, test = 100_000, 50, 1000, 1000, 20_000
    groups = 1200
    sent = 8 * rows * numbers
    idle = 1 - groups / (workers * -(-groups // workers))
    told(
        f"{GUIDE}/clusters.md",
        f"{sent // 10**6} MB for {rows:,} rows of {numbers} numbers, "
        f"{sent * workers // 10**9} GB in all",
        f"about $\\log_2 W = {np.log2(workers):.0f}$ steps",
        f"{4 * test // 1000} kB here for five folds",
        f"{_chunks.CHUNKS_PER_WORKER * workers:,} tasks of some hundred bytes",
        f"{8 * configurations * test // 10**6} MB for {configurations:,} "
        f"configurations on {test:,} test rows",
        f"{workers:,} workers, {idle:.0%}".replace("%", " %") + " of the time is idle",
    )


# Plans ------------------------------------------------------------------------------


@pytest.fixture
def race():
    """Return the search of the page on plans, and its data."""
    text = page(f"{GUIDE}/planning.md")
    [block] = re.findall(r"```python\n(import numpy.*?)print", text, re.DOTALL)
    names = {}
    exec(block, names)
    return names["search"], (names["X"], names["y"])


def shown(start):
    """Return the block of text of the page on plans that has some words."""
    blocks = re.findall(r"```text\n(.*?)```", page(f"{GUIDE}/planning.md"), re.DOTALL)
    [block] = [one for one in blocks if start in one]
    return block


def test_the_plan_of_the_page(race):
    """All that does not hang on the clock: looks, rows, chances, numbers of fits."""
    search, data = race

    def timeless(text):
        head, rest = text.split("A fit costs")
        table, chances = head.split("Safety zone")
        rows = [re.split(r" {2,}", line.strip())[:5] for line in table.splitlines()]
        fits = rest.split("In fits on all rows")[1].split("Expected")[0]
        return rows, chances.split(), fits.split()

    assert timeless(str(search.plan(*data))) == timeless(shown("Plan: "))
    looks = search.fit(*data).n_looks_
    assert search.stop_reason_ == "similar_performance"
    words = f"it ended after {WORDS[looks]} looks of ten"
    assert words in plain(f"{GUIDE}/planning.md")


def test_the_race_that_a_budget_chose(race, caplog):
    """The same looks again, without the clock."""
    search, data = race
    text = shown("time budget 10 s")
    steps = int(re.search(r"CVST\(max_steps=(\d+)\)", text)[1])
    assert f"'strategy': CVST(max_steps={steps})" in page(f"{GUIDE}/planning.md")
    zone = safety_zone(steps, CVST().loser_level, CVST().winner_level)
    assert f"safety zone {zone:.2f} looks" in text
    with caplog.at_level(logging.INFO, logger="cvst"):
        search.set_params(strategy=CVST(max_steps=steps)).fit(*data)
    said = [one.getMessage() for one in caplog.records if one.name.startswith("cvst")]
    looks = [f"[cvst] {one}" for one in said if one.startswith(("look", "The race"))]
    expected = text[text.index("[cvst] look 1") :]
    assert differences("\n".join(looks), expected.rstrip()) == []


def test_the_figures_show_what_the_page_says():
    pytest.importorskip("matplotlib")
    figures = script("../docs/user_guide/make_figures.py")
    search = figures.fitted_search()
    race = search.race_
    words = f"{race.problem.n_samples} rows, a grid of {len(race.active)}."
    assert words in plain(f"{GUIDE}/pictures.md")
    assert isinstance(search.estimator, KernelRidge)


def test_what_a_late_final_fit_leaves_for_the_search():
    assert (_proposal_times.LATE, _proposal_times.COUNTED_IF_LATE) == (0.9, 0.5)
    told(
        f"{GUIDE}/proposing.md",
        "one final fit takes nine tenths of the time or more, the search has half",
    )
