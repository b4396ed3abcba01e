"""Draw the figures of planning.md again: ``python docs/theory/make_figures.py``.

An argument names another folder to write to; ``.png`` as a second one, another format.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from cvst.displays import (
    ErrorBoundDisplay,
    FalseNegativesDisplay,
    SafetyZoneDisplay,
    SequentialTestDisplay,
    SpeedGainDisplay,
    SurvivingPathsDisplay,
)
from cvst.statistics import SpicerTest, WaldTest

TESTS = (WaldTest, SpicerTest)
TRACES = {
    "constant winner": "1111111111",
    "late winner": "0011111111",
    "wavering": "0101101011",
    "constant loser": "0000000000",
}


def figures() -> Iterator[tuple[str, Figure]]:
    """Yield the figures with their names."""
    traces = [[mark == "1" for mark in trace] for trace in TRACES.values()]
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    for make_test, ax in zip(TESTS, axes, strict=True):
        display = SequentialTestDisplay.from_test(
            make_test(10), traces, labels=list(TRACES)
        )
        display.plot(ax)
    yield "sequential_test", figure

    yield "safety_zone", SafetyZoneDisplay.from_levels().plot().figure_
    figure, ax = plt.subplots(figsize=(8, 5.4), layout="constrained")
    SurvivingPathsDisplay.from_levels(20).plot(ax)
    yield "surviving_paths", figure
    yield "error_bound", ErrorBoundDisplay.from_levels().plot().figure_

    figure, axes = plt.subplots(
        2, 2, figsize=(10, 7.2), layout="constrained", sharey=True
    )
    for row, make_test in zip(axes, TESTS, strict=True):
        for ax, max_steps in zip(row, (10, 20), strict=True):
            display = FalseNegativesDisplay.from_test(make_test(max_steps))
            display.plot(ax, legend=make_test is TESTS[-1])
    yield "false_negatives", figure

    figure, axes = plt.subplots(
        1, 2, figsize=(10, 4.4), layout="constrained", sharey=True
    )
    for make_test, ax in zip(TESTS, axes, strict=True):
        SpeedGainDisplay.from_test(make_test).plot(ax)
    yield "speed_gain", figure


def main(folder: Path, suffix: str) -> None:
    """Write all figures."""
    folder.mkdir(parents=True, exist_ok=True)
    # The same data give the same file, so that a change in it is a change of substance.
    mpl.rcParams["svg.hashsalt"] = "cvst"
    # Letters as text, not as outlines: smaller files that can be searched.
    mpl.rcParams["svg.fonttype"] = "none"
    for name, figure in figures():
        metadata = {"Date": None} if suffix == ".svg" else {}
        figure.savefig(folder / f"{name}{suffix}", metadata=metadata, dpi=110)
        plt.close(figure)


if __name__ == "__main__":
    here = Path(__file__).parent / "figures"
    main(
        Path(sys.argv[1]) if len(sys.argv) > 1 else here,
        sys.argv[2] if len(sys.argv) > 2 else ".svg",
    )
