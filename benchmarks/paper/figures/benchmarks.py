"""Figures of the benchmark sets: ratios, speed gains and the three competitors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from profiles import Profile
from summary import OTHERS, load_published, load_runs, of_one_size, pairs

from figures.style import (
    BOUNDARY,
    LEARNER_COLOURS,
    PAPER,
    distribution,
    learner_legend,
    note,
    panels,
    plain_numbers,
    save,
    span,
    tidy,
)

__all__ = ["benchmark", "competitors", "outliers_benchmark"]

RATIO_TICKS = (0.2, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20)
COARSE_RATIO_TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
SPEED_TICKS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
CLASSIFICATION, REGRESSION = ("SVM", "KLR"), ("SVR", "KRR")
COMPETITORS = {
    "unpaired": "against CVST with unpaired tests",
    "ten-percent": "against cross-validation on 10 % of the rows",
    "random": "against random search in the time of CVST",
}


def benchmark(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw ratios above and speed gains below, classification left."""
    found = per_problem(pairs(load_runs(output_dir, profile.name), "cv"))
    if found.empty:
        return
    published = load_published()
    published = published[published["part"] == "cross-validation"]
    figure, axes = panels(2, 2, (10.5, 6.8), width_ratios=[8, 7], sharey="row")
    for column, learners in enumerate((CLASSIFICATION, REGRESSION)):
        names = names_of(published, learners)
        for ax, values, theirs in (
            (axes[0, column], "ratio", "ratio"),
            (axes[1, column], "speed", "speed"),
        ):
            grouped(ax, found, values, names, learners)
            marks(ax, published, theirs, names, learners)
    finish(axes)
    axes[0, 0].set_ylabel("error of CV over that of CVST")
    axes[1, 0].set_ylabel("times faster than CV")
    learner_legend(figure, [*CLASSIFICATION, *REGRESSION], paper_mark())
    note(figure, f"Table 1. {basis(found)}. Above 1: CVST is better (faster)")
    yield save(figure, folder / "benchmark.svg")


def outliers_benchmark(
    output_dir: Path, profile: Profile, folder: Path
) -> Iterator[Path]:
    """Draw ratios and speed gains of the outlier variant, beside those of CVST."""
    runs = load_runs(output_dir, profile.name)
    variant = per_problem(pairs(runs, "cv", "outliers"))
    variant = variant[variant["d"].isna()]
    if variant.empty:
        return
    usual = per_problem(pairs(runs, "cv"))
    names = names_of(load_published(), REGRESSION)
    figure, axes = panels(2, 2, (10.5, 6.4), sharey="row", sharex="col")
    for column, (frame, title) in enumerate(
        ((variant, "outlier variant"), (usual, "CVST as in Table 1"))
    ):
        for row, values in enumerate(("ratio", "speed")):
            grouped(axes[row, column], frame, values, names, REGRESSION)
        axes[0, column].set_title(title)
    finish(axes)
    axes[0, 0].set_ylabel("error of CV over that of the race")
    axes[1, 0].set_ylabel("times faster than CV")
    learner_legend(figure, REGRESSION)
    note(figure, f"{basis(variant)}. Above 1: the race is better (faster)")
    yield save(figure, folder / "outliers_benchmark.svg")


def competitors(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw the distributions of the ratios of the three parts of Table 2."""
    runs = load_runs(output_dir, profile.name)
    published = load_published()
    frames = {part: per_problem(pairs(runs, OTHERS[part])) for part in COMPETITORS}
    if all(frame.empty for frame in frames.values()):
        return
    figure, axes = panels(3, 2, (10.5, 9.4), width_ratios=[8, 7], sharey="row")
    for row, (part, title) in enumerate(COMPETITORS.items()):
        lines = published[published["part"] == part]
        for column, learners in enumerate((CLASSIFICATION, REGRESSION)):
            ax = axes[row, column]
            names = names_of(lines, learners)
            grouped(ax, frames[part], "ratio", names, learners)
            marks(ax, lines, "ratio", names, learners)
            ax.axhline(1, color=BOUNDARY, lw=1, ls="--")
        axes[row, 0].set_title(title, loc="left", fontsize="medium")
        axes[row, 0].set_ylabel("error of the other over CVST")
        log_ratios(axes[row])
    learner_legend(figure, [*CLASSIFICATION, *REGRESSION], paper_mark())
    every = pd.concat(list(frames.values()))
    note(figure, f"Table 2. {basis(every)}. Above 1: CVST is better")
    yield save(figure, folder / "competitors.svg")


def per_problem(found: pd.DataFrame) -> pd.DataFrame:
    """Keep one training size and grid for each benchmark set and learner."""
    found = found[found["d"].isna()]
    if found.empty:
        return found
    groups = found.groupby(["data", "learner"], sort=False)
    return pd.concat([of_one_size(frame) for _, frame in groups])


def names_of(published: pd.DataFrame, learners: Sequence[str]) -> list[str]:
    """Return the benchmark sets of some learners in the order of the tables."""
    tables = published[published["table"] != "text"]
    lines = tables[tables["learner"].isin(learners)]
    return list(dict.fromkeys(lines["data"]))


def grouped(
    ax: Axes,
    frame: pd.DataFrame,
    column: str,
    names: Sequence[str],
    learners: Sequence[str],
) -> None:
    """Draw the distributions of a column, learners side by side for each set."""
    for place, name in enumerate(names):
        for side, learner in enumerate(learners):
            here = frame[(frame["data"] == name) & (frame["learner"] == learner)]
            middle = place - 0.2 + 0.4 * side
            distribution(ax, middle, here[column], LEARNER_COLOURS[learner], 0.3)
    labels = [label_of(frame, name) for name in names]
    ax.set_xticks(range(len(names)), labels, rotation=30, ha="right", fontsize="small")
    ax.set_xlim(-0.6, len(names) - 0.4)
    tidy(ax)


def label_of(frame: pd.DataFrame, name: str) -> str:
    """Return a set's name, with a star if other data stand in for it."""
    here = frame.loc[frame["data"] == name, "substitute"]
    return f"{name}*" if len(here) and here.iloc[0] else name


def marks(
    ax: Axes,
    published: pd.DataFrame,
    column: str,
    names: Sequence[str],
    learners: Sequence[str],
) -> None:
    """Mark the paper's means and, for ratios, its intervals."""
    for line in published.itertuples():
        if line.data not in names or line.learner not in learners:
            continue
        place = names.index(line.data) - 0.2 + 0.4 * learners.index(line.learner)
        half = line.half_width if column == "ratio" else 0.0
        ax.errorbar(
            place, getattr(line, column), half, fmt="D", ms=4, mfc="none",
            color=PAPER, lw=1, zorder=4,
        )  # fmt: skip


def paper_mark() -> Line2D:
    """Return what explains the paper's marks."""
    return Line2D(
        [], [], marker="D", ms=4, mfc="none", color=PAPER, lw=1, label="the paper"
    )


def finish(axes: np.ndarray) -> None:
    """Draw the lines of equal error and equal time, and set both scales."""
    for ax in axes.flat:
        ax.axhline(1, color=BOUNDARY, lw=1, ls="--")
    log_ratios(axes[0])
    for ax in axes[1]:
        ax.set_yscale("log")
        plain_numbers(ax, SPEED_TICKS)


def log_ratios(axes: np.ndarray) -> None:
    """Make halves and doubles equally far from 1."""
    for ax in axes:
        ax.set_yscale("log")
    for ax in axes:
        plain_numbers(ax, RATIO_TICKS, COARSE_RATIO_TICKS)


def basis(frame: pd.DataFrame) -> str:
    """Return how many rows and repetitions a figure rests on."""
    counts = frame.groupby(["data", "learner"])["repetition"].nunique()
    rows = span(frame["n_train"], "row", "rows")
    stand_in = sorted(
        f"{name}: {substitute}"
        for name, substitute in set(
            zip(frame["data"], frame["substitute"], strict=True)
        )
        if substitute
    )
    star = f"; * other data ({', '.join(stand_in)})" if stand_in else ""
    repetitions = span(counts, "repetition", "repetitions")
    return f"{rows} to learn from, {repetitions}{star}"
