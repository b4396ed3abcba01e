"""The small experiments that are not searches, and single races told in full.

Each writes a tidy CSV of its name in the output folder: ``width-curves.csv`` and so on,
with the profile in the first column. What is there is not computed again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from grids import grid_for
from joblib import Parallel, delayed
from methods import Trial
from problems import Problem
from profiles import Profile
from sklearn.metrics.pairwise import euclidean_distances

from cvst import CVST, RaceGridSearchCV
from cvst.statistics import SpicerTest, WaldTest
from cvst.theory import (
    drop_error_bound,
    false_negative_rate,
    simulate_false_negatives,
    simulate_speed_gain,
)

__all__ = ["TESTS", "load", "run"]

Line = dict[str, Any]

TESTS = {"open": WaldTest, "closed": SpicerTest}

# The figure of the paper learns from up to 500 rows.
WIDTH_SIZES = (50, 100, 200, 300, 400, 500)
# Rows from which on narrow kernels are held back by their number no more.
MANY_ROWS = 2000
WIDTH_TEST_ROWS = 2000
WIDTH_REPETITIONS = 5

QUARTILES = {
    "smallest": 0.0,
    "lower_quartile": 0.25,
    "median": 0.5,
    "upper_quartile": 0.75,
    "largest": 1.0,
}
# Races tried until one shows early stopping.
MOST_RACES = 5

FALSE_NEGATIVE_STEPS = (10, 20)
# Simulated configurations for each one of a simulation of races.
FALSE_NEGATIVES_PER_RESAMPLE = 50


def run(item: str, output_dir: Path, profile: Profile, jobs: int = 1) -> Path:
    """Compute what is missing of an item's numbers, and return their file.

    Raises
    ------
    KeyError
        If the item has no such experiment.
    """
    path = Path(output_dir) / f"{item}.csv"
    EXPERIMENTS[item](path, profile, jobs)
    return path


def load(item: str, output_dir: Path, profile: str) -> pd.DataFrame:
    """Return the stored numbers of a profile; an empty frame if there are none."""
    path = Path(output_dir) / f"{item}.csv"
    if not path.exists():
        return pd.DataFrame({"profile": pd.Series(dtype=str)})
    frame = pd.read_csv(path)
    return frame[frame["profile"] == profile].reset_index(drop=True)


def append(path: Path, profile: Profile, lines: Iterable[Line]) -> None:
    """Add lines, all or none: a file cut short would pass for finished."""
    rows = [{"profile": profile.name, **line} for line in lines]
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    if path.exists():
        text.write(path.read_text(encoding="utf-8"))
    else:
        writer.writeheader()
    writer.writerows(rows)
    fresh = path.with_suffix(".new")
    fresh.write_text(text.getvalue(), encoding="utf-8")
    fresh.replace(path)


def once(make: Callable[[Profile], Iterator[Line]]) -> Callable[..., None]:
    """Compute all lines of a profile in one go, unless there are some."""

    def compute(path: Path, profile: Profile, jobs: int) -> None:
        del jobs
        if load(path.stem, path.parent, profile.name).empty:
            append(path, profile, make(profile))

    return compute


def width_curves(path: Path, profile: Profile, jobs: int) -> None:
    """Test errors of SVR over the kernel's width: for growing n, best nu of each."""
    known = load(path.stem, path.parent, profile.name)
    done = set()
    if not known.empty:
        done = set(zip(known["repetition"], known["n_train"], strict=True))
    wanted = [block for block in width_blocks(profile) if block not in done]
    # To start processes takes longer than a few small blocks.
    workers = jobs if profile.toy_rows >= WIDTH_SIZES[-1] else 1
    results = Parallel(workers, return_as="generator_unordered")(
        delayed(width_curve)(profile, *block) for block in wanted
    )
    for lines in results:
        append(path, profile, lines)


def width_blocks(profile: Profile) -> Iterator[tuple[int, int]]:
    """Yield repetitions and numbers of rows, small ones first."""
    sizes = WIDTH_SIZES
    if profile.toy_rows < WIDTH_SIZES[-1]:
        sizes = (profile.toy_rows // 2, profile.toy_rows)
    for repetition in range(min(profile.repetitions, WIDTH_REPETITIONS)):
        for n_train in sizes:
            yield repetition, n_train
    if sizes is WIDTH_SIZES:
        yield 0, MANY_ROWS


def width_curve(profile: Profile, repetition: int, n_train: int) -> list[Line]:
    """Return the error of each width on a subset, with the best nu."""
    n_all = min(profile.toy_rows, WIDTH_SIZES[-1])
    n_test = profile.n_test or WIDTH_TEST_ROWS
    # Subsets of the same rows; the many rows are a set of their own.
    problem = Problem("noisy_sinc", "SVR", max(n_all, n_train), 2, 0.1, n_test)
    rows = problem.rows(repetition)
    X, y = rows.X_train[:n_train], rows.y_train[:n_train]
    between = euclidean_distances(X, squared=True)
    across = euclidean_distances(rows.X_test, X, squared=True)
    grid = grid_for("noisy_sinc", "SVR", profile.shape)
    lines = []
    for log_gamma in grid.log_gammas:
        kernel, test_kernel = (
            np.exp(-(10.0**log_gamma) * d) for d in (between, across)
        )
        errors = []
        for nu in grid.penalties:
            model = grid.learner.model({"nu": nu}, share=n_train / n_all)
            model.set_params(kernel="precomputed").fit(kernel, y)
            errors.append(grid.learner.error(model, test_kernel, rows.y_test))
        best = int(np.argmin(errors))
        lines.append(
            {
                "repetition": repetition,
                "n_train": n_train,
                "n_test": n_test,
                "log10_sigma": -log_gamma,
                "nu": grid.penalties[best],
                "error": round(errors[best], 7),
            }
        )
    return lines


def race_lines(
    problem: Problem, strategy: CVST, profile: Profile, repetition: int = 0
) -> Iterator[Line]:
    """Run one race and yield a line for each configuration in each step."""
    trial = Trial(problem, repetition, shape=profile.shape)
    search = RaceGridSearchCV(
        trial.learner.model(),
        trial.grid.levels(problem.n_train),
        scoring=trial.learner.scoring,
        strategy=strategy,
        refit=False,
        random_state=trial.seed,
    ).fit(trial.rows.X_train, trial.rows.y_train)
    configurations = search.cv_results_["params"]
    for step, seen in enumerate(search.race_.observations, start=1):
        for place, index in enumerate(seen.look.configurations):
            params = configurations[index]
            yield {
                "configuration": int(index),
                "log10_sigma": round(-float(np.log10(params["gamma"])), 6),
                "nu": round(float(params["nu"]), 6),
                "step": step,
                "n_train": seen.look.n_train,
                "top": int(seen.top[place]),
                "mean_loss": round(float(seen.mean_losses[place]), 7),
                "dropped": int(int(index) in seen.drops),
                "winner": int(index == search.best_index_),
                "repetition": repetition,
                "n_samples": problem.n_train,
                "window": strategy.window,
                "stop_reason": search.stop_reason_,
            }


@once
def trace_matrix(profile: Profile) -> Iterator[Line]:
    """Race SVM on the noisy sine: the first race that stops before its last step."""
    problem = Problem("noisy_sine", "SVM", profile.toy_rows, 5, 0.25, profile.n_test)
    lines: list[Line] = []
    for repetition in range(MOST_RACES):
        lines = list(race_lines(problem, CVST(), profile, repetition))
        if lines[-1]["stop_reason"] == "similar_performance":
            break
    yield from lines


@once
def example_run(profile: Profile) -> Iterator[Line]:
    """Race SVR on the noisy sinc with a window of 4, as Appendix B does."""
    problem = Problem("noisy_sinc", "SVR", profile.toy_rows, 2, 0.1, profile.n_test)
    return race_lines(problem, CVST(stopping_window=4), profile)


@once
def false_negatives(profile: Profile) -> Iterator[Line]:
    """Drop rates of configurations that turn into winners, simulated and exact."""
    n_resamples = FALSE_NEGATIVES_PER_RESAMPLE * profile.theory_repetitions
    for name, make_test in TESTS.items():
        for max_steps in FALSE_NEGATIVE_STEPS:
            test = make_test(max_steps)
            found = simulate_false_negatives(test, n_resamples=n_resamples)
            for row, before in enumerate(found.win_probabilities_before.tolist()):
                for column, point in enumerate(found.change_points.tolist()):
                    yield {
                        "test": name,
                        "max_steps": max_steps,
                        "change_point": point,
                        "win_probability_before": before,
                        "rate": round(float(found.rates[row, column]), 6),
                        "exact": round(false_negative_rate(test, point, before), 6),
                        "n_resamples": n_resamples,
                    }


@once
def error_bound(profile: Profile) -> Iterator[Line]:
    """Bounds of Theorem 1; exact, so the profile changes how many steps are tried."""
    last = 60 if profile.theory_repetitions < 100 else 200
    for chance in (0.9, 0.95, 0.99):
        for max_steps in range(10, last + 1):
            bound = drop_error_bound(chance, max_steps)
            yield {
                "win_probability": chance,
                "max_steps": max_steps,
                "bound": round(float(bound), 7),
            }


@once
def speed_simulation(profile: Profile) -> Iterator[Line]:
    """Quartiles of the simulated gains of open and closed test."""
    steps = range(10, 101, 10) if profile.theory_repetitions >= 100 else (10, 20, 40)
    for name, make_test in TESTS.items():
        found = simulate_speed_gain(
            make_test, max_steps=tuple(steps), n_resamples=profile.theory_repetitions
        )
        for row, problem in enumerate(found.problems):
            for column, max_steps in enumerate(found.max_steps.tolist()):
                gains = np.quantile(found.gains[row, column], list(QUARTILES.values()))
                yield {
                    "test": name,
                    "problem": problem,
                    "max_steps": max_steps,
                    **dict(zip(QUARTILES, gains.round(4).tolist(), strict=True)),
                    "winners_dropped": round(
                        float(found.winners_dropped[row, column].mean()), 6
                    ),
                    "n_resamples": profile.theory_repetitions,
                }


def nothing(path: Path, profile: Profile, jobs: int) -> None:
    """Compute nothing: the example data are drawn when they are shown."""
    del path, profile, jobs


EXPERIMENTS: dict[str, Callable[..., None]] = {
    "width-curves": width_curves,
    "trace-matrix": trace_matrix,
    "example-run": example_run,
    "example-data": nothing,
    "false-negatives": false_negatives,
    "error-bound": error_bound,
    "speed-simulation": speed_simulation,
}
