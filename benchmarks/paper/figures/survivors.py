"""Remaining configurations after each step, on artificial and benchmark data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from profiles import Profile
from summary import each_once, load_published, load_runs, of_one_size

from figures.benchmarks import basis as benchmark_basis
from figures.benchmarks import label_of
from figures.style import (
    FEWEST_FOR_A_BOX,
    LEARNER_COLOURS,
    learner_legend,
    note,
    panels,
    plain_numbers,
    save,
    tidy,
)
from figures.toys import LEARNERS, TITLES
from figures.toys import basis as toy_basis

__all__ = ["carried", "counts", "remaining", "remaining_outliers"]

# Of the races that are drawn.
N_STEPS = 10
COUNT_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
MARKS = {"SVM": "o", "SVR": "o", "KLR": "s", "KRR": "s"}


def remaining(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw one figure for each artificial set and one for the benchmark sets."""
    yield from figures_of(output_dir, profile, folder, "cvst", "remaining")


def remaining_outliers(
    output_dir: Path, profile: Profile, folder: Path, *, toy: bool
) -> Iterator[Path]:
    """Draw the same for the outlier variant, on the artificial or the other sets."""
    name = "outliers_remaining"
    yield from figures_of(output_dir, profile, folder, "outliers", name, toy=toy)


def figures_of(
    output_dir: Path,
    profile: Profile,
    folder: Path,
    method: str,
    name: str,
    *,
    toy: bool | None = None,
) -> Iterator[Path]:
    runs = each_once(load_runs(output_dir, profile.name))
    runs = runs[(runs["method"] == method) & runs["survivors"].notna()]
    for data in TITLES if toy is not False else ():
        frame = runs[(runs["data"] == data) & (runs["n_train"] == profile.toy_rows)]
        if not frame.empty:
            yield toy_figure(frame, data, folder / f"{name}_{data}.svg")
    if toy is not True and runs["d"].isna().any():
        yield benchmark_figure(runs[runs["d"].isna()], folder / f"{name}_benchmark.svg")


def carried(frame: pd.DataFrame) -> np.ndarray:
    """Return survivors as (races, steps); one that has stopped keeps its last number.

    Otherwise a median would be that of the slow races alone.
    """
    table = counts(frame)
    if table.shape[1] < N_STEPS:
        more = np.full((len(table), N_STEPS - table.shape[1]), np.nan)
        table = np.hstack([table, more])
    return pd.DataFrame(table).ffill(axis=1).to_numpy()


def counts(frame: pd.DataFrame) -> np.ndarray:
    """Return survivors as (races, steps), NaN after the end of a race."""
    lists = [[float(n) for n in text.split(";")] for text in frame["survivors"]]
    table = np.full((len(lists), max(map(len, lists), default=0)), np.nan)
    for row, values in enumerate(lists):
        table[row, : len(values)] = values
    return table


def draw(ax: Axes, frame: pd.DataFrame, learners: Sequence[str]) -> None:
    """Draw the median of all races, each race or a band, and where races end."""
    for learner in learners:
        here = frame[frame["learner"] == learner]
        if here.empty:
            continue
        table = carried(here)
        steps = np.arange(1, table.shape[1] + 1)
        colour = LEARNER_COLOURS[learner]
        if len(table) >= FEWEST_FOR_A_BOX:
            low, high = np.nanquantile(table, [0.25, 0.75], axis=0)
            ax.fill_between(steps, low, high, color=colour, alpha=0.2, lw=0)
        else:
            for race in table:
                ax.plot(steps, race, color=colour, lw=0.6, alpha=0.6)
        middle = np.nanmedian(table, axis=0)
        ax.plot(steps, middle, color=colour, lw=1.4)
        # Marks up to the last step that any race has run.
        ran = slice(counts(here).shape[1])
        ax.plot(steps[ran], middle[ran], MARKS[learner], color=colour, ms=3)
    ax.set_yscale("log")
    ax.set_xticks([2, 4, 6, 8, 10])
    ax.set_xlim(0.6, 10.4)
    tidy(ax)


def toy_figure(frame: pd.DataFrame, data: str, path: Path) -> Path:
    """Draw panels by noise and d."""
    noises, dimensions = sorted(frame["noise"].unique()), sorted(frame["d"].unique())
    figure, axes = panels(
        len(noises),
        len(dimensions),
        (3 * len(dimensions) + 0.6, 2.3 * len(noises) + 1.0),
        sharex=True,
        sharey=True,
    )
    for row, noise in enumerate(noises):
        for column, d in enumerate(dimensions):
            here = frame[(frame["noise"] == noise) & (frame["d"] == d)]
            draw(axes[row, column], here, LEARNERS[data])
            title = f"d = {d:g}, noise {noise:g}"
            axes[row, column].set_title(title, fontsize="medium")
        axes[row, 0].set_ylabel("configurations left")
    for ax in axes[-1]:
        ax.set_xlabel("step")
    finish(axes, frame)
    learner_legend(figure, LEARNERS[data])
    note(figure, f"{TITLES[data]}, {toy_basis(frame)}. {how(frame)}")
    return save(figure, path)


def benchmark_figure(runs: pd.DataFrame, path: Path) -> Path:
    """Draw one panel for each benchmark set."""
    groups = runs.groupby(["data", "learner"], sort=False)
    runs = pd.concat([of_one_size(frame) for _, frame in groups])
    order = load_published()
    order = order[order["part"] == "cross-validation"]
    names = [name for name in dict.fromkeys(order["data"]) if name in set(runs["data"])]
    n_rows = -(-len(names) // 5)
    n_columns = min(5, len(names))
    figure, axes = panels(
        n_rows,
        n_columns,
        (max(5.5, 2.1 * n_columns + 0.4), 1.9 * n_rows + 1.2),
        sharex=True,
        sharey=True,
    )
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    for ax, name in zip(axes.flat, names, strict=False):
        here = runs[runs["data"] == name]
        draw(ax, here, list(dict.fromkeys(here["learner"])))
        ax.set_title(label_of(runs, name), fontsize="medium")
    for row in axes:
        row[0].set_ylabel("left")
    for ax in axes[-1]:
        ax.set_xlabel("step")
    finish(axes, runs)
    learner_legend(figure, [name for name in MARKS if name in set(runs["learner"])])
    note(figure, f"{benchmark_basis(runs)}. {how(runs)}")
    return save(figure, path)


def finish(axes: np.ndarray, frame: pd.DataFrame) -> None:
    """Use one scale of whole counts."""
    top = float(frame["n_configurations"].max()) * 1.4
    for ax in axes.flat:
        ax.set_ylim(0.8, top)
        plain_numbers(ax, COUNT_TICKS)


def how(frame: pd.DataFrame) -> str:
    """Say what lines and bands are."""
    fewest = frame.groupby(["data", "d", "noise", "learner"], dropna=False).size().min()
    rest = "middle half shaded" if fewest >= FEWEST_FOR_A_BOX else "thin: single races"
    return (
        "Medians of all races; one that has stopped keeps its survivors, and marks end "
        f"with the longest race; {rest}"
    )
