"""Time the evaluators of kernel machines on the first looks of the paper's races.

One thread, processor time; N = 1000, 61 widths times 10 penalties or values of nu, at
90, 181 and 272 training rows, tested on the others. Fits one by one are timed on a
random twentieth of the grid and scaled up. Run with ``OPENBLAS_NUM_THREADS=1``.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, NuSVC, NuSVR
from threadpoolctl import threadpool_limits

from cvst.datasets import make_noisy_sinc, make_noisy_sine
from cvst.evaluation import OneByOne, RaceRows, Scratch, Task, batch_evaluator_for
from cvst.learners import KernelLogisticRegression

N_SAMPLES = 1000
WIDTHS = 10.0 ** np.linspace(-3, 3, 61)
RATIOS = 10.0 ** np.arange(-7, 3)
NUS = 0.05 * np.arange(1, 11)


def ridge_grid(n_train: int) -> list[dict[str, Any]]:
    alphas = RATIOS * n_train
    return [{"gamma": gamma, "alpha": alpha} for gamma in WIDTHS for alpha in alphas]


def nu_grid(n_train: int) -> list[dict[str, Any]]:
    del n_train
    return [{"gamma": gamma, "nu": nu} for gamma in WIDTHS for nu in NUS]


def rescaled_nu_grid(n_train: int) -> list[dict[str, Any]]:
    return [{**values, "C": N_SAMPLES / n_train} for values in nu_grid(n_train)]


def box_grid(n_train: int) -> list[dict[str, Any]]:
    del n_train
    return [{"gamma": gamma, "C": 10.0**k} for gamma in WIDTHS for k in range(-5, 5)]


Case = tuple[Any, Callable[[int], list[dict[str, Any]]], Callable[..., Any]]
CASES: dict[str, Case] = {
    "KernelRidge": (KernelRidge(kernel="rbf"), ridge_grid, make_noisy_sinc),
    "KernelLogisticRegression": (
        KernelLogisticRegression(),
        ridge_grid,
        make_noisy_sine,
    ),
    "NuSVR": (NuSVR(), rescaled_nu_grid, make_noisy_sinc),
    "NuSVC": (NuSVC(), nu_grid, make_noisy_sine),
    "SVC": (SVC(), box_grid, make_noisy_sine),
}


def look(
    case: Case, X: Any, y: Any, n_train: int, scratch: Scratch
) -> tuple[Task, list[list[int]]]:
    estimator, grid, _ = case
    train, test = slice(0, n_train), slice(n_train, len(X))
    whole = RaceRows(X, train, test, scratch)
    configurations = grid(n_train)
    task = Task(
        estimator,
        dict(enumerate(configurations)),
        X[train],
        y[train],
        X[test],
        race_rows=whole,
    )
    groups = batch_evaluator_for(estimator).groups(
        estimator, dict(enumerate(configurations))
    )
    return task, groups


def run(case: Case, sizes: list[int], seed: int, share: bool) -> list[float]:
    """Return the seconds of processor time of each look."""
    X, y = case[2](N_SAMPLES, random_state=seed)
    scratch = Scratch()
    rng = np.random.default_rng(seed)
    seconds = []
    for n_train in sizes:
        task, groups = look(case, X, y, n_train, scratch)
        if share:
            evaluator = batch_evaluator_for(task.estimator)
            start = process_time()
            for group in groups:
                for _ in evaluator.evaluate(task.only(group)):
                    pass
            seconds.append(process_time() - start)
        else:
            n_all = len(task.configurations)
            chosen = rng.choice(n_all, size=n_all // 20, replace=False).tolist()
            start = process_time()
            for _ in OneByOne().evaluate(task.only(chosen)):
                pass
            seconds.append((process_time() - start) * n_all / len(chosen))
    return seconds


def row(name: str, what: str, ours: float, theirs: float) -> str:
    ratio = theirs / ours
    return (
        f"{name:25} {what:8} {ours:7.3f} s, one by one {theirs:7.2f} s, {ratio:5.1f}x"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--repeat", type=int, default=3, help="the fastest run counts")
    parser.add_argument("--profile", action="store_true", help="show where time goes")
    options = parser.parse_args()
    sizes = [90, 181, 272]
    for name in options.cases or list(CASES):
        case = CASES[name]
        with threadpool_limits(limits=1):
            runs = [run(case, sizes, 0, share=True) for _ in range(options.repeat)]
            shared = np.min(runs, axis=0)
            alone = np.array(run(case, sizes, 0, share=False))
        for n_train, ours, theirs in zip(sizes, shared, alone, strict=True):
            print(row(name, f"n = {n_train}", ours, theirs))
        print(row(name, "all", shared.sum(), alone.sum()))
        if options.profile:
            with cProfile.Profile(process_time) as profile, threadpool_limits(limits=1):
                run(case, sizes, 0, share=True)
            pstats.Stats(profile).sort_stats("tottime").print_stats(18)


if __name__ == "__main__":
    main()
