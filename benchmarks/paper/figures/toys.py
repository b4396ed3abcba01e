"""Figures of the artificial data: the data, differences, speed gains, more rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from problems import Problem
from profiles import Profile
from summary import load_published, load_runs, pairs

from figures.style import (
    BOUNDARY,
    COLOURS,
    LEARNER_COLOURS,
    distribution,
    learner_legend,
    note,
    panels,
    plain_numbers,
    save,
    span,
    tidy,
)

__all__ = ["example_data", "more_data", "noisy_sinc", "noisy_sine", "outliers_toy"]

SPEED_TICKS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
TITLES = {"noisy_sine": "noisy sine", "noisy_sinc": "noisy sinc"}
LEARNERS = {"noisy_sine": ("SVM", "KLR"), "noisy_sinc": ("SVR", "KRR")}


def example_data(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw the two artificial data sets."""
    del output_dir
    figure, axes = panels(1, 2, (9, 3.4))
    left, right = axes[0]
    sine = Problem("noisy_sine", "SVM", profile.toy_rows, 5, 0.25, 1)
    rows = sine.rows(0)
    x, label = rows.X_train[:, 0], rows.y_train
    # Only the class is left of the wave; its rows are spread at random to be seen.
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(x))
    for value, colour in enumerate(COLOURS[:2]):
        here = label == value
        left.plot(
            x[here],
            label[here] + jitter[here],
            ".",
            color=colour,
            ms=2.5,
            rasterized=True,
        )
    wave = np.linspace(0, x.max(), 600)
    left.plot(wave, 0.5 + np.sin(wave) / 2, color=BOUNDARY, lw=0.8)
    left.set_yticks([0, 1], ["class 0", "class 1"])
    left.set(xlabel="x", title="noisy sine, d = 5, noise 0.25")
    sinc = Problem("noisy_sinc", "SVR", profile.toy_rows, 2, 0.1, 1)
    rows = sinc.rows(0)
    x = rows.X_train[:, 0]
    right.plot(x, rows.y_train, ".", color=COLOURS[0], ms=2.5, rasterized=True)
    right.set(xlabel="x", ylabel="y", title="noisy sinc, d = 2, noise 0.1")
    for ax in (left, right):
        tidy(ax, along_x=True)
    note(figure, f"{profile.toy_rows:,} rows each, first repetition")
    yield save(figure, folder / "example_data.svg")


def noisy_sine(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw differences and speed gains on the noisy sine."""
    yield from differences(output_dir, profile, folder, "noisy_sine")


def noisy_sinc(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw differences and speed gains on the noisy sinc."""
    yield from differences(output_dir, profile, folder, "noisy_sinc")


def outliers_toy(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw the same for the outlier variant on the noisy sinc."""
    yield from differences(output_dir, profile, folder, "noisy_sinc", "outliers")


def differences(
    output_dir: Path, profile: Profile, folder: Path, data: str, ours: str = "cvst"
) -> Iterator[Path]:
    """Draw a race against cross-validation for all settings of d and noise."""
    runs = load_runs(output_dir, profile.name)
    found = pairs(runs, "cv", ours)
    found = found[(found["data"] == data) & (found["n_train"] == profile.toy_rows)]
    if found.empty:
        return
    noises = sorted(found["noise"].unique())
    figure, axes = panels(
        len(noises), 2, (9, 1.2 + 2.6 * len(noises)), sharex=True, sharey="col"
    )
    learners = [name for name in LEARNERS[data] if name in set(found["learner"])]
    for (left, right), noise in zip(axes, noises, strict=True):
        here = found[found["noise"] == noise]
        grouped(left, here, "difference", learners)
        left.axhline(0, color=BOUNDARY, lw=1, ls="--")
        left.set(ylabel=f"noise {noise:g}", title="")
        grouped(right, here, "speed", learners)
    # Before the ticks: the ranges of the paper may widen the axes.
    ranges = [] if ours != "cvst" else paper_ranges(axes[:, 1], data, learners)
    for _, right in axes:
        right.set_yscale("log")
        plain_numbers(right, SPEED_TICKS)
    who = "CVST" if ours == "cvst" else "the variant"
    axes[0, 0].set_title(f"error of {who} minus that of cross-validation")
    axes[0, 1].set_title("times faster than cross-validation")
    learner_legend(figure, learners, *ranges)
    name = data if ours == "cvst" else "outliers_toy"
    variant = "" if ours == "cvst" else "outlier variant, "
    note(figure, f"{TITLES[data]}, {variant}{basis(found)}")
    yield save(figure, folder / f"{name}.svg")


def grouped(ax: Axes, frame: pd.DataFrame, column: str, learners: list[str]) -> None:
    """Draw the distributions of a column, learners side by side for each d."""
    dimensions = sorted(frame["d"].unique())
    width = 0.7 / len(learners)
    for (place, d), (side, learner) in product(
        enumerate(dimensions), enumerate(learners)
    ):
        here = frame[(frame["d"] == d) & (frame["learner"] == learner)]
        middle = place + (side - (len(learners) - 1) / 2) * (width + 0.05)
        distribution(ax, middle, here[column], LEARNER_COLOURS[learner], width)
    ax.set_xticks(range(len(dimensions)), [f"d = {d:g}" for d in dimensions])
    ax.set_xlim(-0.6, len(dimensions) - 0.4)
    tidy(ax)


def paper_ranges(axes: np.ndarray, data: str, learners: list[str]) -> list[Patch]:
    """Shade the speeds that the paper names, and return what explains that."""
    published = load_published()
    handles = []
    for line in published[published["part"] == "speed"].itertuples():
        if line.data != data or line.learner not in learners:
            continue
        colour = LEARNER_COLOURS[line.learner]
        for ax in axes:
            ax.axhspan(line.speed_low, line.speed_high, color=colour, alpha=0.1, lw=0)
        text = f"paper, {line.learner}: {line.speed_low:g} to {line.speed_high:g}"
        handles.append(Patch(facecolor=colour, alpha=0.15, label=text))
    return handles


def basis(frame: pd.DataFrame) -> str:
    """Return how many rows and repetitions a figure rests on."""
    keys = ["data", "d", "noise", "learner", "n_train"]
    counts = frame.groupby(keys, dropna=False)["repetition"].nunique()
    rows = span(frame["n_train"], "row", "rows")
    grid = span(frame["n_configurations"], "configuration", "configurations")
    return f"{rows}, {grid}, {span(counts, 'repetition', 'repetitions')} per setting"


def more_data(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw how the difference shrinks as rows are added; SVM and SVR only."""
    found = pairs(load_runs(output_dir, profile.name), "cv")
    found = found[found["learner"].isin(["SVM", "SVR"]) & found["d"].notna()]
    if found["n_train"].nunique() < 2:
        return
    names = [name for name in TITLES if name in set(found["data"])]
    figure, axes = panels(2, len(names), (9, 6.2), sharey="col")
    sizes = sorted(found["n_train"].unique())
    for column, name in enumerate(names):
        frame = found[found["data"] == name]
        levels = sorted(frame["noise"].unique())
        # The smoke profile has one level of noise, and leaves a panel empty.
        for ax, noise in zip(axes[:, column], levels, strict=False):
            by_size(ax, frame[frame["noise"] == noise], sizes)
            ax.set_title(f"{TITLES[name]}, noise {noise:g}", fontsize="medium")
    for ax in axes.flat:
        ax.set_visible(bool(ax.get_title()))
    axes[0, 0].set_ylabel("error of CVST minus that of CV")
    handles = [
        Line2D([], [], color=colour, lw=5, alpha=0.6, label=f"{size:,.0f} rows")
        for size, colour in zip(sizes, COLOURS, strict=False)
    ]
    figure.legend(
        handles=handles, loc="outside upper center", ncols=len(handles), frameon=False
    )
    note(figure, f"SVM and SVR, {basis(found)}")
    yield save(figure, folder / "more_data.svg")


def by_size(ax: Axes, frame: pd.DataFrame, sizes: list[int]) -> None:
    """Draw the differences, numbers of rows side by side for each d."""
    dimensions = sorted(frame["d"].unique())
    width = 0.75 / len(sizes)
    for (place, d), (side, size) in product(enumerate(dimensions), enumerate(sizes)):
        here = frame[(frame["d"] == d) & (frame["n_train"] == size)]
        middle = place + (side - (len(sizes) - 1) / 2) * (width + 0.04)
        distribution(ax, middle, here["difference"], COLOURS[side], width)
    ax.axhline(0, color=BOUNDARY, lw=1, ls="--")
    ax.set_xticks(range(len(dimensions)), [f"d = {d:g}" for d in dimensions])
    ax.set_xlim(-0.6, len(dimensions) - 0.4)
    tidy(ax)
