"""The engine of the reproduction: what is run, on which rows, and what is kept."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import runner
from folds import by_fold, run_folds
from grids import LEARNERS, grid_for
from items import ITEMS, OPTIONS, Fit, fits
from methods import (
    METHODS,
    TIMED_BY_CVST,
    Trial,
    random_search,
    run_method,
    sampled,
    unpaired,
)
from problems import BENCHMARKS, Problem, split
from profiles import PROFILES
from runner import Place, Task, plan, trial_of
from runner import run as run_tasks
from scipy.stats import kstest
from sklearn.model_selection import GridSearchCV
from sklearn.svm import NuSVR
from store import Run, Store

from cvst import CVST, RaceGridSearchCV
from cvst.race import LookLosses, RaceState
from cvst.race import Problem as RaceProblem

PAPER = Path(__file__).parents[2] / "benchmarks" / "paper"
SMOKE = PROFILES["smoke"]
# Items whose searches are all that there are, without figures or pages.
SEARCHES = ["table1", "table2-unpaired", "table2-ten-percent", "table2-random"]
SEARCHES += ["today", "variants"]

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.xdist_group("paper engine"),  # its fixtures take half a minute
]


def command(output, *arguments):
    """Return a command line, and an environment without any data on disk."""
    environment = {k: v for k, v in os.environ.items() if k != "CVST_DATA_HOME"}
    line = [sys.executable, str(PAPER), *arguments, "--profile", "smoke"]
    return [*line, "--output", str(output)], environment


def run(output, *arguments):
    line, environment = command(output, *arguments)
    done = subprocess.run(line, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def run_here(output, *arguments):
    """Run without a new process, for what needs no real one."""
    specification = spec_from_file_location("paper_main", PAPER / "__main__.py")
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    line, _ = command(output, *arguments)
    return module.main(line[2:])


def lines(output):
    with (output / "runs.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def key(line):
    names = ["data", "learner", "d", "noise", "n_train", "repetition", "method"]
    return tuple(line[name] for name in names)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Run all tables in one process."""
    output = tmp_path_factory.mktemp("finished")
    run(output, *SEARCHES, "--jobs", "1")
    return output


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Kill a run of two processes in the middle, then run it to its end."""
    output = tmp_path_factory.mktemp("killed")
    arguments = ["table1", "--jobs", "2", "--only", "data=blocks"]
    line, environment = command(output, *arguments)
    process = subprocess.Popen(
        line, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
    )
    file = output / "runs.csv"
    while not file.exists() or file.read_bytes().count(b"\n") < 4:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = lines(output)
    # What a machine that loses its power may leave of a line.
    with file.open("ab") as handle:
        handle.write("smoke,blocks,,regr\u00e9".encode()[:-1])
    run(output, *arguments)
    return output, kept


def test_every_search_of_every_table_has_a_finite_result(finished):
    """The lines are those that the items ask for, each once, with an error and time."""
    found = lines(finished)

    wanted = {
        (
            fit.problem.data,
            fit.problem.learner,
            str(fit.problem.n_train),
            str(repetition),
            method,
        )
        for fit in fits(SEARCHES, SMOKE)
        for repetition in range(fit.repetitions)
        for method in fit.methods
    }
    have = [
        tuple(line[n] for n in ("data", "learner", "n_train", "repetition", "method"))
        for line in found
    ]
    assert sorted(have) == sorted(wanted)
    elsewhere = {"outliers", *OPTIONS} - {"cvst"}
    assert {line["method"] for line in found} == set(METHODS) - elsewhere
    for line in found:
        assert math.isfinite(float(line["seconds"]))
        if line["method"] == "plain_grid":
            assert line["error"] == ""
        else:
            assert math.isfinite(float(line["error"]))


def test_all_items_together_use_every_method_and_every_problem_of_the_paper():
    """610 configurations; 30 benchmark rows; 24 artificial ones and 24 with more."""
    needed = fits(list(ITEMS), PROFILES["full"])

    assert {method for fit in needed for method in fit.methods} == set(METHODS)
    toys = [fit.problem for fit in needed if fit.problem.is_toy]
    assert len(needed) - len(toys) == 30
    rows = Counter((problem.learner, problem.n_train) for problem in toys)
    assert rows == {
        **{(name, 1000): 6 for name in ("KLR", "SVM", "KRR", "SVR")},
        **{(name, n): 6 for name in ("SVM", "SVR") for n in (2000, 5000)},
    }
    for fit in needed:
        assert len(grid_for(fit.problem.data, fit.problem.learner)) == 610
        assert fit.repetitions == 50
        # Half of the 32-input kin data is all there is.
        rows = 2048 if fit.problem.data == "kin32nm" else fit.problem.n_rows_paper
        assert fit.problem.n_train == rows


def test_small_sets_are_run_at_their_own_size_and_others_capped():
    """50 repetitions of the 14 rows with at most 1,587 rows, 15 of the others."""
    needed = fits(["table1"], PROFILES["laptop"])

    small = [fit for fit in needed if fit.problem.n_rows_paper <= 1587]
    assert len(small) == 14
    for fit in small:
        assert (fit.problem.n_train, fit.repetitions) == (fit.problem.n_rows_paper, 50)
    for fit in needed:
        if fit not in small:
            assert (fit.problem.n_train, fit.repetitions) == (1000, 15)


def test_second_run_adds_nothing(finished):
    """The file stays as it is, to the byte."""
    before = (finished / "runs.csv").read_bytes()
    assert run_here(finished, *SEARCHES, "--jobs", "2") == 0
    assert (finished / "runs.csv").read_bytes() == before


def test_killed_run_goes_on_without_a_torn_or_double_line(killed, finished):
    """All lines are whole, each search is there once, and old lines are kept."""
    output, kept = killed
    found = lines(output)

    assert found[: len(kept)] == kept
    assert len(kept) < len(found)
    assert all(None not in line.values() and None not in line for line in found)
    expected = [
        key(line)
        for line in lines(finished)
        if line["data"] == "blocks" and line["method"] in ("cvst", "cv", "plain_grid")
    ]
    assert sorted(key(line) for line in found) == sorted(expected)


def test_errors_do_not_depend_on_the_number_of_processes(killed, finished):
    """Two processes find what one does, winner and survivors included."""

    def results(output):
        return {
            key(line): (line["error"], line["params"], line["survivors"])
            for line in lines(output)
        }

    alone = results(finished)
    for name, found in results(killed[0]).items():
        assert found == alone[name]


def test_no_search_begins_after_the_time(tmp_path):
    """With no time at all nothing is run, and that is not a failure."""
    status = run_here(tmp_path, "table1", "--jobs", "1", "--seconds", "-1")
    assert status == 0
    assert not (tmp_path / "runs.csv").exists()


def test_only_leaves_the_rest_out(tmp_path):
    """Filters hold for data, learners and methods."""
    only = "data=blocks,learner=KRR,method=cvst,method=unpaired"
    assert run_here(tmp_path, *SEARCHES, "--jobs", "1", "--only", only) == 0
    names = {(e["data"], e["learner"], e["method"]) for e in lines(tmp_path)}
    assert names == {("blocks", "KRR", "cvst"), ("blocks", "KRR", "unpaired")}


def test_bad_filter_says_what_is_allowed(tmp_path, capsys):
    """The message has the value and the rule."""
    with pytest.raises(SystemExit):
        run_here(tmp_path, "table1", "--only", "size=3")
    message = capsys.readouterr().err
    assert "'size=3' must be NAME=VALUE with a name out of data" in message


def test_missing_data_are_said_once_and_the_rest_is_run(tmp_path, capsys, monkeypatch):
    """The way out is in the message; other problems of the run have their lines."""
    monkeypatch.setenv("CVST_DATA_HOME", str(tmp_path / "nothing"))
    problems = [Problem("banana", "SVM", 60), Problem("blocks", "KRR", 60, n_test=50)]
    wanted = [Fit(problem, ("cvst", "cv"), 1) for problem in problems]
    store = Store(tmp_path / "runs.csv")

    failures = run_tasks(plan(wanted, SMOKE, []), store, jobs=1)

    (message,) = failures
    assert "banana.csv.gz" in message
    assert "CVST_DATA_HOME" in message
    assert {key[1] for key in store.runs()} == {"blocks"}
    assert capsys.readouterr().err.count("cannot be downloaded") == 1


def test_all_problems_are_run_once_before_any_twice_and_cheap_ones_first():
    """The order is by repetition, then by cost; cvst comes before what it times."""
    fit_list = fits(SEARCHES, PROFILES["laptop"])
    tasks = plan(fit_list, PROFILES["laptop"], [])

    places = [(task.repetition, task.problem.cost) for task in tasks]
    assert places == sorted(places)
    assert tasks[0].problem.learner == "KRR"
    for task in tasks:
        first = task.methods.index("cvst")
        assert all(task.methods.index(name) > first for name in TIMED_BY_CVST)


@pytest.mark.parametrize(("learner", "n_loaded"), [("SVM", 2), ("KLR", 0)])
def test_solver_is_loaded_before_support_vectors_are_timed(
    tmp_path, monkeypatch, learner, n_loaded
):
    """Otherwise the first races of a process would be those of a slower solver."""
    events = []
    monkeypatch.setattr(runner, "load_compiled_solver", lambda: events.append("load"))
    search = runner.run_method
    monkeypatch.setattr(
        runner, "run_method", lambda *a: events.append("search") or search(*a)
    )
    problem = Problem("twonorm", learner, 60, n_test=50, generated=True)
    wanted = [Fit(problem, ("cvst", "unpaired"), 1)]

    assert not run_tasks(plan(wanted, SMOKE, []), Store(tmp_path / "runs.csv"), jobs=1)

    assert events.count("load") == n_loaded
    assert events[-2:] == (["load", "search"] if n_loaded else ["search", "search"])


def test_random_search_brings_cvst_along_unless_that_is_known():
    """It takes the time that CVST took on the same rows."""
    problem = Problem("blocks", "KRR", 100)
    wanted = [Fit(problem, ("random",), 1)]
    (task,) = plan(wanted, SMOKE, [])
    assert task.methods == ("cvst", "random")
    (task,) = plan(wanted, SMOKE, [task.key("cvst")])
    assert task.methods == ("random",)


def test_another_machine_or_a_card_runs_what_is_known_elsewhere():
    """Seconds of random search are those of CVST on the same machine."""
    problem = Problem("blocks", "KRR", 100)
    wanted = [Fit(problem, ("random", "cv"), 1)]
    (task,) = plan(wanted, SMOKE, [])
    known = [task.key(name) for name in task.methods]

    assert not plan(wanted, SMOKE, known)
    (task,) = plan(wanted, SMOKE, known, Place("large"))
    assert task.methods == ("cvst", "cv", "random")
    (task,) = plan(wanted, SMOKE, known, Place(device="cuda"))
    assert task.methods == ("cv",)


def test_a_card_gets_our_own_searches_over_learners_that_it_knows():
    """No SVM, no search of scikit-learn, none that is given the time of another."""
    tasks = plan(fits(list(ITEMS), SMOKE), SMOKE, [], Place(device="cuda"))

    assert {task.problem.learner for task in tasks} == {"KRR", "KLR"}
    known = {name for task in tasks for name in task.methods}
    assert {"cvst", "cv", "unpaired", "ten_percent", "shuffled"} <= known
    assert not known & {"plain_grid", "halving", "optuna", "random", "random_on_test"}


@pytest.mark.parametrize("learner", ["KRR", "KLR"])
@pytest.mark.parametrize("method", ["cvst", "cv"])
def test_search_on_a_card_finds_what_the_host_finds(learner, method):
    """The same winner after the same looks, by the path that a card takes."""
    pytest.importorskip("torch")
    host, error = run_method(method, small(learner))
    card, same_error = run_method(method, small(learner, device="torch:cpu"))

    assert card.params == host.params
    assert card.survivors == host.survivors
    assert same_error == error


def small(learner, n_train=80, data=None, **options):
    names = {"classification": "twonorm", "regression": "heavisine"}
    name = data or names[LEARNERS[learner].task]
    problem = Problem(name, learner, n_train, n_test=200, generated=True)
    return Trial(problem, repetition=0, shape=(7, 4), **options)


# With these rows other folds would have another winner.
@pytest.mark.parametrize(
    ("learner", "repetition"), [("KLR", 3), ("SVM", 3), ("KRR", 4), ("SVR", 3)]
)
def test_cv_picks_the_winner_of_scikit_learn(learner, repetition):
    """Witness: GridSearchCV on the same folds, and its refitted error."""
    trial = replace(small(learner), repetition=repetition, shape=(13, 3))
    finding, error = run_method("cv", trial)

    X, y, X_test, y_test = trial.rows
    plain = GridSearchCV(
        LEARNERS[learner].model(),
        trial.grid.levels(len(y)),
        scoring=LEARNERS[learner].scoring,
        cv=trial.folds(),
    ).fit(X, y)
    # Of configurations with the same score either may win.
    ours = plain.cv_results_["params"].index(finding.params)
    scores = plain.cv_results_["mean_test_score"]
    assert scores[ours] == pytest.approx(plain.best_score_, rel=1e-6)
    refitted = plain.best_estimator_.set_params(**finding.params).fit(X, y)
    expected = {
        "classification": np.mean(refitted.predict(X_test) != y_test),
        "regression": np.mean((refitted.predict(X_test) - y_test) ** 2),
    }
    assert error == pytest.approx(expected[LEARNERS[learner].task])


@pytest.mark.parametrize("learner", ["SVM", "SVR"])
def test_cv_by_fold_is_the_whole_search(tmp_path, learner):
    """Witness: the search over all folds at once."""
    problem = Problem("noisy_sine" if learner == "SVM" else "noisy_sinc", learner, 120)
    problem = replace(problem, d=2, noise=0.2, n_test=300)
    profile = replace(PROFILES["smoke"], shape=(7, 4))
    task = Task(problem, 0, ("cvst", "cv"), profile)
    rest, folds = by_fold([task])
    assert rest == [task.only(("cvst",))]

    store = Store(tmp_path / "runs.csv")
    assert run_folds(folds[:-1], store.path, jobs=1) == []
    assert store.runs() == {}
    assert run_folds(folds, store.path, jobs=1) == []
    (line,) = store.runs().values()

    finding, error = run_method("cv", trial_of(task))
    assert json.loads(line.params) == finding.params
    assert float(line.error) == pytest.approx(error)
    assert (line.method, line.n_looks) == ("cv", str(finding.n_looks))
    seconds = [json.loads(path.read_text())["seconds"] for path in folds_in(tmp_path)]
    assert float(line.seconds) == pytest.approx(sum(seconds), rel=1e-5)


def test_folds_of_two_hosts_have_no_seconds(tmp_path):
    problem = Problem("noisy_sinc", "KRR", 80, d=2, noise=0.2, n_test=300)
    task = Task(problem, 0, ("cv",), replace(PROFILES["smoke"], shape=(3, 3)))
    _, folds = by_fold([task])
    store = Store(tmp_path / "runs.csv")
    run_folds(folds[:1], store.path, jobs=1)
    (first,) = folds_in(tmp_path)
    first.write_text(json.dumps({**json.loads(first.read_text()), "host": "another"}))
    run_folds(folds, store.path, jobs=1)
    (line,) = store.runs().values()
    assert (line.seconds, line.wall_seconds) == ("", "")
    assert line.error


def folds_in(folder):
    return sorted((folder / "folds").glob("*.json"))


@pytest.mark.parametrize("learner", LEARNERS)
def test_unpaired_variant_ignores_which_row_a_loss_belongs_to(learner):
    """Shuffle each configuration's losses: only the paired tests notice."""
    rng = np.random.default_rng(0)
    base = rng.exponential(size=200)
    losses = np.array([base + 0.02 * k + 0.01 * rng.normal(size=200) for k in range(5)])
    if LEARNERS[learner].task == "classification":
        difficulty = rng.random(200)
        losses = np.array([(difficulty < 0.2 + 0.02 * k) * 1.0 for k in range(5)])
    shuffled = np.array([rng.permutation(row) for row in losses])

    def top(strategy, table):
        state = RaceState(RaceProblem(n_configurations=5, n_samples=300))
        nothing = np.zeros(5)
        seen = LookLosses(table, table.mean(axis=1), nothing, nothing)
        return strategy.judge(state, strategy.next_look(state), seen).top.tolist()

    strategy = unpaired(LEARNERS[learner])
    assert top(strategy, losses) == top(strategy, shuffled)
    assert top(CVST(), losses) != top(CVST(), shuffled)


@pytest.mark.parametrize(
    ("method", "strategy"),
    [
        ("unpaired", CVST(similarity="kruskal_wallis")),
        ("outliers", CVST(similarity="outliers")),
        ("closed", CVST(elimination="closed")),
        ("shuffled", CVST(shuffle_each_step=True)),
        ("twenty_steps", CVST(max_steps=20)),
        ("quick_losers", CVST(loser_level=0.3)),
        ("sure_differences", CVST(similarity_level=0.01)),
    ],
)
def test_variants_are_the_races_they_are_named_after(method, strategy):
    """Witness: the same race by hand; and it is not the paper's usual one."""
    trial = replace(small("KRR", 250), shape=(13, 10))
    finding, _ = run_method(method, trial)
    usual, _ = run_method("cvst", trial)

    search = RaceGridSearchCV(
        LEARNERS["KRR"].model(),
        trial.grid.levels(250),
        strategy=strategy,
        scoring="neg_mean_squared_error",
        random_state=trial.seed,
    ).fit(trial.rows.X_train, trial.rows.y_train)
    survivors = [
        int(search.race_.problem.n_configurations - np.sum(fallen))
        for fallen in (
            (search.race_.dropped_at > 0) & (search.race_.dropped_at <= step)
            for step in range(1, search.n_looks_ + 1)
        )
    ]
    assert finding.survivors == survivors
    assert finding.params == search.best_params_
    assert (finding.survivors, finding.n_looks) != (usual.survivors, usual.n_looks)


def with_rows(trial, **changes):
    """Return a trial whose rows are others."""
    other = replace(trial)
    other.__dict__["rows"] = trial.rows._replace(**changes)
    return other


@pytest.mark.parametrize("learner", ["KRR", "SVR"])
def test_ten_percent_sees_a_tenth_and_keeps_lambda(learner):
    """The other rows may be anything; the winner lies on the grid of all rows."""
    trial = small(learner, 300)
    finding = METHODS["ten_percent"](trial)

    y = trial.rows.y_train.copy()
    y[30:] = 1e9
    spoilt = METHODS["ten_percent"](with_rows(trial, y_train=y))
    assert finding.params == spoilt.params
    levels = trial.grid.levels(300)
    for name, value in finding.params.items():
        assert np.isclose(value, levels[name], rtol=1e-9).any()


def test_nu_svr_has_the_bound_of_the_r_package_on_subsets():
    """R's C = N bounds each of n rows by N / n: 10 on a tenth, 1 on all."""
    learner = LEARNERS["SVR"]
    assert learner.model().get_params()["C"] == 1.0
    assert learner.model(share=0.1).get_params()["C"] == pytest.approx(10.0)
    assert isinstance(learner.model(), NuSVR)


def test_grids_are_the_papers():
    """They have gamma = 1 / sigma, alpha = N lambda, nu as printed."""
    wide = grid_for("bank32nm", "KRR").levels(1000)
    fine = grid_for("doppler", "SVR").levels(1000)

    np.testing.assert_allclose(wide["gamma"], 10.0 ** (np.arange(-30, 31) / 10))
    np.testing.assert_allclose(wide["alpha"], 1000 * 10.0 ** np.arange(-7, 3))
    np.testing.assert_allclose(fine["gamma"], 10.0 ** (np.arange(61) / 10))
    np.testing.assert_allclose(fine["nu"], 0.05 * np.arange(1, 11))


def test_benchmark_rows_are_standardised_and_split_in_half():
    """Both halves together have mean 0 and variance 1 in every column and in y."""
    rows = Problem("bumps", "KRR", 1024).rows(3)

    assert rows.X_train.shape == rows.X_test.shape == (1024, 1)
    X = np.concatenate([rows.X_train, rows.X_test])
    y = np.concatenate([rows.y_train, rows.y_test])
    assert len(np.unique(X)) == 2048
    for values in (X[:, 0], y):
        assert abs(values.mean()) < 1e-12
        assert values.std(ddof=1) == pytest.approx(1)


def test_cap_takes_some_of_the_same_rows_and_leaves_the_test_rows():
    """A capped problem learns from the first rows of the uncapped one."""
    whole = Problem("twonorm", "SVM", 3700, generated=True).rows(1)
    capped = Problem("twonorm", "SVM", 1000, generated=True).rows(1)
    np.testing.assert_array_equal(capped.X_train, whole.X_train[:1000])
    np.testing.assert_array_equal(capped.X_test, whole.X_test)
    assert set(np.unique(whole.y_test)) == {-1, 1}


def test_rows_depend_on_data_and_repetition_only():
    """Both learners meet the same rows; repetitions and settings other ones."""
    first = Problem("noisy_sinc", "KRR", 50, 2, 0.1).rows(0)
    again = Problem("noisy_sinc", "SVR", 50, 2, 0.1).rows(0)
    for ours, theirs in zip(first, again, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(first.y_test) == 10_000
    others = [
        Problem("noisy_sinc", "KRR", 50, 2, 0.1).rows(1),
        Problem("noisy_sinc", "KRR", 50, 2, 0.2).rows(0),
    ]
    for other in others:
        assert not np.any(first.X_train == other.X_train)


def test_covtype_learns_from_the_same_number_of_each_class():
    """2,000 of each class; no row is on both sides."""
    y = np.repeat([1, 2], [12_000, 9_000])
    train, test = split(y, 2000, np.random.default_rng(0))

    assert Counter(y[train].tolist()) == {1: 2000, 2: 2000}
    np.testing.assert_array_equal(np.sort(np.append(train, test)), np.arange(21_000))
    # The first rows are a sample too, so that a cap keeps the classes mixed.
    assert 400 < np.sum(y[train[:1000]] == 1) < 600
    assert BENCHMARKS["covtype"].n_train == 4000


@pytest.mark.parametrize("data", ["kin32nm", "covtype", "twonorm"])
def test_substitutes_are_named(data):
    """What is not the paper's own rows says so."""
    learner = "SVM" if BENCHMARKS[data].task == "classification" else "SVR"
    names = {"kin32nm": "kin32fm", "covtype": "covtype-24000", "twonorm": "generated"}
    problem = Problem(data, learner, 100, generated=data == "twonorm")
    assert problem.substitute == names[data]
    assert Problem("blocks", "KRR", 100).substitute == ""


def test_random_search_never_looks_at_the_test_rows_unless_it_peeks():
    """Other test rows change the choice of the literal reading only."""

    def choice(spoil, peek):
        trial = small("KRR", 120, seconds=12, clock=count().__next__)
        y_test = trial.rows.y_test
        if spoil:
            trial = with_rows(
                trial, y_test=np.random.default_rng(5).permutation(y_test)
            )
        finding = random_search(trial, peek)
        assert finding.n_looks == 12
        return finding.params

    assert choice(False, peek=False) == choice(True, peek=False)
    assert choice(False, peek=True) != choice(True, peek=True)


@pytest.mark.parametrize("learner", LEARNERS)
def test_draws_are_uniform_on_the_range_of_the_grid(learner):
    """Exponents of gamma and lambda, and nu, by the test of Kolmogorov and Smirnov."""
    grid = grid_for("german", learner)
    rng = np.random.default_rng(0)
    draws = [grid.draw(rng, 500) for _ in range(400)]

    logs = np.log10([draw["gamma"] for draw in draws])
    assert kstest(logs, "uniform", (-3, 6)).pvalue > 0.01
    values = np.array([draw[LEARNERS[learner].penalty] for draw in draws])
    if LEARNERS[learner].penalty == "nu":
        assert kstest(values, "uniform", (0.05, 0.45)).pvalue > 0.01
    else:
        assert kstest(np.log10(values / 500), "uniform", (-7, 9)).pvalue > 0.01


def test_optuna_stops_in_time_but_not_before_one_configuration_has_all_folds():
    """One trial of ten folds without time; more with more, chosen by the mean error."""
    (once, error), (longer, better) = (
        run_method("optuna", small("KRR", 120, seconds=seconds, clock=count().__next__))
        for seconds in (0, 300)
    )
    assert once.n_looks == 1
    assert longer.n_looks > 10
    assert better < error


def test_plain_grid_times_a_sample_with_all_levels_in_equal_shares():
    """Each penalty comes as often as any other, and one width from each stretch."""
    trial = replace(small("KRR"), shape=(60, 10), plain_share=20 / 600)
    part = sampled(trial)

    assert len(part) == 20
    penalties = Counter(params["alpha"] for params in part)
    assert sorted(penalties.values()) == [2] * 10
    levels = trial.grid.levels(80)["gamma"]
    places = sorted(levels.index(params["gamma"]) for params in part)
    assert [place // 3 for place in places] == list(range(20))


def example_run(**changes):
    values = dict.fromkeys(Run.__dataclass_fields__, "0")
    return Run(**{**values, **changes})


def test_a_search_is_stored_with_its_day(finished):
    """In UTC, so that no clock of a machine is ahead by a zone."""
    with (finished / "runs.csv").open(newline="", encoding="utf-8") as file:
        days = {line["day"] for line in csv.DictReader(file)}
    now = datetime.now(UTC)
    assert days
    assert days <= {str((now - timedelta(days=k)).date()) for k in (0, 1)}


def test_same_search_is_stored_once(tmp_path):
    """A second line of the same key is refused; another repetition is not."""
    store = Store(tmp_path / "runs.csv")
    assert store.add(example_run(error="1"))
    assert not Store(store.path).add(example_run(error="2"))
    assert store.add(example_run(repetition="1"))
    assert [run.error for run in store.runs().values()] == ["1", "0"]


def test_awkward_text_comes_back_from_the_store(tmp_path):
    """Commas, quotes and letters beyond ASCII survive."""
    run = example_run(params='{"a": 1, "b": "é"}', version='x, "y"')
    store = Store(tmp_path / "runs.csv")
    store.add(run)
    assert asdict(store.runs()[run.key]) == asdict(run)


def test_file_of_something_else_is_refused(tmp_path):
    """The message says which columns there are."""
    path = tmp_path / "runs.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"columns \['a', 'b'\]"):
        Store(path).runs()
