"""Figures of the theory, drawn by the package's own displays from stored numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from curves import QUARTILES, TESTS, load
from profiles import Profile

from cvst.displays import (
    ErrorBoundDisplay,
    FalseNegativesDisplay,
    SpeedGainDisplay,
)
from cvst.theory import FalseNegatives, SpeedGain
from figures.style import note, panels, save

__all__ = ["error_bound", "false_negatives", "speed_simulation"]

NAMES = {"open": "Open test", "closed": "Closed test"}


def false_negatives(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw the open test above the closed one, 10 steps left and 20 right."""
    found = load("false-negatives", output_dir, profile.name)
    if found.empty:
        return
    steps = sorted(found["max_steps"].unique())
    figure, axes = panels(len(TESTS), len(steps), (10, 7.4), sharey=True)
    for row, name in enumerate(TESTS):
        for column, max_steps in enumerate(steps):
            here = found[(found["test"] == name) & (found["max_steps"] == max_steps)]
            rates = here.pivot(
                index="win_probability_before", columns="change_point", values="rate"
            )
            result = FalseNegatives(
                max_steps=int(max_steps),
                change_points=rates.columns.to_numpy(),
                win_probabilities_before=rates.index.to_numpy(),
                win_probability_after=1.0,
                rates=rates.to_numpy(),
                n_resamples=int(here["n_resamples"].iloc[0]),
            )
            display = FalseNegativesDisplay(
                result=result,
                safety_zone=TESTS[name](int(max_steps)).safety_zone,
                name=NAMES[name],
            )
            display.plot(axes[row, column], legend=row == len(TESTS) - 1)
    resamples = int(found["n_resamples"].iloc[0])
    note(figure, f"{resamples:,} simulated configurations behind each point")
    yield save(figure, folder / "false_negatives.svg")


def error_bound(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw the bound of Theorem 1 over the number of steps."""
    found = load("error-bound", output_dir, profile.name)
    if found.empty:
        return
    bounds = found.pivot(index="win_probability", columns="max_steps", values="bound")
    figure, axes = panels(1, 1, (6.6, 4.4))
    ErrorBoundDisplay(
        max_steps=bounds.columns.to_numpy(),
        win_probabilities=bounds.index.to_numpy(),
        bounds=bounds.to_numpy(),
    ).plot(axes[0, 0])
    note(figure, "exact values, nothing simulated; dotted: what each tends to")
    yield save(figure, folder / "error_bound.svg")


def speed_simulation(
    output_dir: Path, profile: Profile, folder: Path
) -> Iterator[Path]:
    """Draw the simulated gains of the open test and of the closed one."""
    found = load("speed-simulation", output_dir, profile.name)
    if found.empty:
        return
    figure, axes = panels(1, len(TESTS), (10, 4.6), sharey=True)
    problems = list(dict.fromkeys(found["problem"]))
    steps = sorted(found["max_steps"].unique())
    for ax, name in zip(axes[0], TESTS, strict=True):
        here = found[found["test"] == name].set_index(["problem", "max_steps"])
        # Quartiles of the five stored quantiles are the stored quartiles.
        gains = np.array(
            [[here.loc[(p, s), list(QUARTILES)] for s in steps] for p in problems],
            dtype=float,
        )
        result = SpeedGain(
            problems=tuple(problems),
            max_steps=np.array(steps),
            gains=gains,
            winners_dropped=np.zeros_like(gains),
            steps_run=np.zeros(gains.shape, dtype=np.intp),
        )
        SpeedGainDisplay(result=result, name=NAMES[name]).plot(ax)
    resamples = int(found["n_resamples"].iloc[0])
    note(figure, f"{resamples:,} simulated races of 100 configurations; cubic learner")
    yield save(figure, folder / "speed_simulation.svg")
