"""The whole procedure against runs of the authors' R package, without any learner."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from cvst.race import CVST, LookLosses, Problem, RaceState, race

RUNS = Path(__file__).parent.parent / "reference" / "runs"


def load(path):
    with gzip.open(path) as file:
        return json.load(file)


def stored_runs():
    paths = sorted(RUNS.glob("*.json.gz"))
    return [path for path in paths if stored_losses(load(path))]


def stored_losses(run):
    """Return one string per step and configuration, a sign per test row.

    They are errors of 0 or 1, or ranks among the configurations, which are all that
    Friedman's test looks at.
    """
    return run.get("pointwise_errors") or run.get("pointwise_ranks")


class StoredErrors:
    """A source of losses that reads them from a file, from some step on."""

    def __init__(self, run, first=0):
        self.steps = iter(stored_losses(run)[first:])
        self.means = iter(run.get("mean_error_of_ranks", [])[first:])

    def observe(self, look):
        rows, means = next(self.steps), next(self.means, None)
        losses = np.array(
            [[ord(sign) - ord("0") for sign in rows[i]] for i in look.configurations],
            dtype=float,
        )
        mean_losses = losses.mean(axis=1)
        if means is not None:
            mean_losses = np.array([means[i] for i in look.configurations])
        nothing = np.zeros(len(losses))
        return LookLosses(losses, mean_losses, nothing, nothing)


def strategy_of(run):
    setup = run["setup"]
    return CVST(
        max_steps=setup["steps"],
        stopping_window=setup["early_stopping_window"],
        similarity_level=setup["similarity_significance"],
        stopping_level=setup["early_stopping_significance"],
        loser_level=setup["beta"],
        winner_level=setup["alpha"],
        similarity="outliers" if setup["outlier_similarity"] else "auto",
    )


@pytest.mark.parametrize("path", stored_runs(), ids=lambda path: path.name[:-8])
def test_race_on_stored_errors_repeats_the_run(path):
    """Traces, drops, last step and winner are those of R with exact p-values."""
    run = load(path)
    expected = run.get("result_exact_permutation", run["result"])
    strategy = strategy_of(run)
    state = RaceState(Problem(run["n_configs"], run["N"]))

    states = list(race(state, StoredErrors(run), strategy))

    assert len(states) == expected["steps_run"]
    for step, state in enumerate(states):
        traces = "".join(str(int(top)) for top in state.traces[:, step])
        assert traces == expected["traces"][step]
        active = "".join(str(int(mark)) for mark in state.active)
        assert active == expected["active_after"][step]
        assert state.subset_sizes[step] == expected["model_sizes"][step]
    stopped_early = strategy.stop_reason(states[-1]) == "similar_performance"
    assert stopped_early == expected["stopped_early"]
    assert strategy.ranking(states[-1])[0] in expected["tied_winners"]
    assert sorted(strategy.ranking(states[-1])) == expected["survivors"]


def test_resumed_race_ends_like_the_uninterrupted_one():
    """Passing an old state continues the race where it stood."""
    path = next(path for path in stored_runs() if "klr_sine_d5" in path.name)
    run = load(path)
    strategy = strategy_of(run)
    start = RaceState(Problem(run["n_configs"], run["N"]))
    whole = list(race(start, StoredErrors(run), strategy))

    halfway = whole[1]
    resumed = list(race(halfway, StoredErrors(run, first=2), strategy))

    np.testing.assert_array_equal(resumed[-1].traces, whole[-1].traces)
    np.testing.assert_array_equal(resumed[-1].active, whole[-1].active)
