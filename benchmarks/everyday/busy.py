"""Measure how busy the workers of RaceSearchCV are, and what the search itself takes.

    python benchmarks/everyday/busy.py --seconds 30 --n-jobs 1 2

For some development tasks, of the time from the first look to the last:

- busy: the share of the workers' seconds that fits and predictions took;
- started: the same from the end of the first look on, when processes have started and
  imported what they need;
- proposals, decisions, tests: what the search itself took for proposing, for choosing
  the next look, and for judging the last one, as shares of the seconds of all workers;
  *own* is their sum;
- alone: how long workers waited for that, since no look was under way;
- waits: how long workers waited while others were at work, which is what is left;
- fit: the usual seconds of a fit with its predictions.

Shares of one run are comparable on a busy machine, seconds of several are not.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import numpy as np
import one_thread  # noqa: F401 - before NumPy
from tasks import Task, chosen_tasks

import cvst
from cvst.race.machinery import ProposeAndConfirm
from cvst.search._proposal_source import ProposalSource
from cvst.search._watched import WatchedSource

# Fits from milliseconds to a second; none of these tasks is held out.
USUAL = (
    "churn-lightgbm",
    "visits-hist",
    "credit-mlp",
    "page_blocks-forest",
    "concrete-svm",
    "texture-neighbours",
)

PARTS = {
    "proposals": [(ProposalSource, "propose")],
    "decisions": [
        (ProposeAndConfirm, name) for name in ("stop_reason", "propose", "next_look")
    ],
    "tests": [(ProposeAndConfirm, "judge")],
    "looks": [(WatchedSource, "begin"), (WatchedSource, "take")],
}


class Stopwatch:
    """Gives each second to the innermost part that is running.

    ``alone`` has the seconds of parts while no look was under way.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.seconds: dict[str, float] = defaultdict(float)
        self.alone = 0.0
        self._running: list[str] = []
        self._n_looks = 0
        self._last = self._clock()

    def _pass(self) -> None:
        now = self._clock()
        if self._running:
            self.seconds[self._running[-1]] += now - self._last
            if not self._n_looks:
                self.alone += now - self._last
        self._last = now

    def timed(self, part: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method that tells when it begins and ends."""

        @wraps(method)
        def inner(*args: Any, **kwargs: Any) -> Any:
            self._pass()
            self._n_looks += method.__name__ == "begin"
            self._running.append(part)
            try:
                return method(*args, **kwargs)
            finally:
                self._pass()
                self._n_looks -= method.__name__ == "take"
                self._running.pop()

        return inner


def measured(task: Task, seconds: float, n_jobs: int, seed: int) -> dict[str, Any]:
    """Return the shares of one search."""
    X, y = task.rows[:2]
    # Alone in one process, seconds of the processor are less disturbed by others.
    clock = process_time if n_jobs == 1 else perf_counter
    watch, start = Stopwatch(clock), clock()
    with ExitStack() as stack:
        for part, methods in PARTS.items():
            for owner, name in methods:
                timed = watch.timed(part, getattr(owner, name))
                stack.enter_context(patch.object(owner, name, timed))
        search = cvst.RaceSearchCV(
            task.estimator,
            task.space,
            time_budget=seconds,
            n_jobs=n_jobs,
            scoring=task.scoring,
            random_state=seed,
        ).fit(X, y)
    seen = search.race_.observations
    each = np.concatenate([one.fit_seconds + one.score_seconds for one in seen])
    worked, elapsed = float(np.nansum(each)), seen[-1].elapsed
    later = float(np.nansum(each[len(seen[0].fit_seconds) :]))
    started = later / max(n_jobs * (elapsed - seen[0].elapsed), 1e-9)
    taken = clock() - start if n_jobs == 1 else elapsed
    own = {
        name: watch.seconds[name] / (n_jobs * taken)
        for name in PARTS
        if name != "looks"
    }
    fits = sum(len(np.unique(_families(search, one))) for one in seen)
    busy = worked / (n_jobs * elapsed)
    alone = watch.alone / taken
    return {
        "task": task.name,
        "n_jobs": n_jobs,
        "busy": busy,
        "started": started,
        **own,
        "own": sum(own.values()),
        "alone": alone,
        "waits": 1 - busy - alone,
        "fit": worked / fits,
        "fits": fits,
        "looks": len(seen),
        "loss": task.judged(search.best_params_),
    }


def _families(search: Any, observation: Any) -> list[str]:
    """Return what tells the fits of a look apart."""
    rounds = search._rounds()
    return [
        repr(sorted((k, v) for k, v in one.items() if k not in rounds))
        for one in map(
            search.race_.configurations.__getitem__,
            observation.look.configurations.tolist(),
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--n-jobs", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--tasks", nargs="+", default=list(USUAL))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="a file to which lines are added")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for task in chosen_tasks("dev", options.tasks):
        for n_jobs in options.n_jobs:
            line = measured(task, options.seconds, n_jobs, options.seed)
            print(
                "  ".join(
                    f"{name} {value:.4g}" if isinstance(value, float) else f"{value}"
                    for name, value in line.items()
                ),
                flush=True,
            )
            if options.output:
                with options.output.open("a") as file:
                    file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
