"""Single races told in full, and errors over the width of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from curves import MANY_ROWS, load
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from profiles import Profile

from cvst.displays import TracesDisplay
from figures.style import COLOURS, note, panels, save, span, tidy

__all__ = ["example_run", "race_codes", "trace_matrix", "width_curves"]

TOP, FLOP, DROPPED = 1, 2, 3
CELLS = {TOP: "#000000", FLOP: "#D55E00", DROPPED: "#BBBBBB"}
# The paper shows the three last windows of its race.
MOST_ZOOMS = 3


def race_codes(race: pd.DataFrame) -> tuple[np.ndarray, pd.DataFrame]:
    """Return top, flop or dropped of (configurations, steps), survivors first.

    The second value says for each row which configuration it is, whether it survived
    and whether it won.
    """
    steps = int(race["step"].max())
    who = race.groupby("configuration").agg(
        log10_sigma=("log10_sigma", "first"),
        nu=("nu", "first"),
        winner=("winner", "max"),
        dropped=("dropped", "max"),
        last=("step", "max"),
        loss=("mean_loss", "last"),
    )
    who = who.sort_values(
        ["winner", "dropped", "last", "loss"], ascending=[False, True, False, True]
    )
    tops = race.pivot(index="configuration", columns="step", values="top")
    tops = tops.reindex(who.index)[range(1, steps + 1)].to_numpy(dtype=float)
    codes = np.where(np.isnan(tops), DROPPED, np.where(tops == 1, TOP, FLOP))
    return codes, who.reset_index()


def trace_matrix(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw all traces of a race above its last stopping windows."""
    race = load("trace-matrix", output_dir, profile.name)
    if race.empty:
        return
    codes, who = race_codes(race)
    n_steps, window = codes.shape[1], int(race["window"].iloc[0])
    zooms = [step for step in range(1, n_steps + 1) if step >= window][-MOST_ZOOMS:]
    figure, axes = panels(2, len(zooms) or 1, (8, 8), height_ratios=[2.4, 1])
    grid = axes[0, 0].get_gridspec()
    for ax in axes[0]:
        ax.remove()
    display = TracesDisplay(
        codes=codes,
        subset_sizes=race.groupby("step")["n_train"].first().to_numpy(),
        stages=["race"] * n_steps,
        labels=[""] * len(codes),
        survivors=(who["dropped"] == 0).to_numpy(),
        window=window,
    )
    display.plot(figure.add_subplot(grid[0, :]))
    for ax, step in zip(axes[1], zooms, strict=False):
        zoom(ax, codes, step, window)
    note(
        figure,
        f"noisy sine (d = 5, noise 0.25), SVM, {len(codes):,} configurations, "
        f"{int(race['n_samples'].iloc[0]):,} rows, "
        f"repetition {int(race['repetition'].iloc[0]) + 1}. "
        f"It stopped after step {n_steps} ({stopped(race)})",
    )
    yield save(figure, folder / "trace_matrix.svg")


def zoom(ax: Axes, codes: np.ndarray, step: int, window: int) -> None:
    """Draw the stopping window of a step, without the dropped."""
    # Who is dropped in a step still took part in it: the next column tells.
    after = codes[:, step] if step < codes.shape[1] else codes[:, step - 1]
    kept = codes[after != DROPPED, step - window : step]
    palette = np.array([to_rgb(CELLS.get(code, "white")) for code in range(4)])
    ax.imshow(
        np.repeat(palette[kept], 200, axis=1),
        aspect="auto",
        interpolation="antialiased",
        extent=(step - window + 0.5, step + 0.5, len(kept) + 0.5, 0.5),
    )
    ax.set_xticks(range(step - window + 1, step + 1))
    ax.set_yticks([1, len(kept)] if len(kept) > 1 else [1])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlabel="step", title=f"after step {step}: {len(kept)} left")


def stopped(race: pd.DataFrame) -> str:
    """Say why a race ended."""
    reason = str(race["stop_reason"].iloc[0])
    return "the rest alike" if reason == "similar_performance" else "all steps made"


def example_run(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw the survivors' traces and errors of a run like that of Appendix B."""
    race = load("example-run", output_dir, profile.name)
    if race.empty:
        return
    codes, who = race_codes(race)
    kept = (who["dropped"] == 0).to_numpy()
    codes, who = codes[kept], who[kept]
    losses = race.pivot(index="configuration", columns="step", values="mean_loss")
    losses = losses.reindex(who["configuration"]).to_numpy()
    figure, ((left, right),) = panels(
        1, 2, (9.5, max(3.0, 1.6 + 0.22 * len(who))), width_ratios=[1, 1.2]
    )
    labels = [
        rf"$\log\sigma = {line.log10_sigma:.1f}$, $\nu = {line.nu:.2f}$"
        for line in who.itertuples()
    ]
    palette = np.array([to_rgb(CELLS.get(code, "white")) for code in range(4)])
    sizes = race.groupby("step")["n_train"].first().to_numpy()
    left.imshow(palette[codes], aspect="auto")
    for line in np.arange(0.5, codes.shape[1] - 1):
        left.axvline(line, color="white", lw=1)
    for line in np.arange(0.5, len(codes) - 1):
        left.axhline(line, color="white", lw=1)
    left.set_yticks(range(len(labels)), labels, fontsize="small")
    left.set_xticks(range(len(sizes)), [f"{n:,}" for n in sizes])
    left.tick_params(length=0)
    left.spines[:].set_visible(False)
    left.set(xlabel="rows learned from", title="black: top, red: flop; winner first")
    for row, values in enumerate(losses):
        is_winner = row == 0
        right.plot(
            sizes,
            values,
            color=COLOURS[0] if is_winner else "#BBBBBB",
            lw=2 if is_winner else 0.8,
            zorder=3 if is_winner else 2,
            label="winner" if is_winner else None,
        )
    right.set(xlabel="rows learned from", ylabel="mean squared error", title="errors")
    right.legend(frameon=False)
    tidy(right, along_x=True)
    note(
        figure,
        f"noisy sinc (d = 2, noise 0.1), SVR, window 4, "
        f"{int(race['n_samples'].iloc[0]):,} rows, "
        f"{race['configuration'].nunique():,} configurations, one race",
    )
    yield save(figure, folder / "example_run.svg")


def width_curves(output_dir: Path, profile: Profile, folder: Path) -> Iterator[Path]:
    """Draw errors over the kernel's width for growing n, and where the best lies."""
    found = load("width-curves", output_dir, profile.name)
    if found.empty:
        return
    means = found.groupby(["n_train", "log10_sigma"])["error"].mean().unstack()
    many = means.loc[MANY_ROWS] if MANY_ROWS in means.index else None
    means = means.drop(index=MANY_ROWS, errors="ignore")
    figure, ((left, right),) = panels(1, 2, (10, 4.2), sharey=True)
    for rank, (n_train, errors) in enumerate(means.iterrows()):
        colour = colormaps["viridis"](0.85 * rank / max(1, len(means) - 1))
        for ax in (left, right):
            ax.plot(errors.index, errors, color=colour, label=f"{n_train:,}", lw=1.3)
            ax.plot(errors.idxmin(), errors.min(), "o", color=colour, ms=5)
    if many is not None:
        right.plot(many.index, many, color="black", lw=1.8, label=f"{MANY_ROWS:,}")
    right.axhline(0.01, color=COLOURS[0], ls="--", lw=1.2, label="noise")
    left.set_title(r"test error, best $\nu$ of each width")
    right.set_title("the same with what is left when rows abound")
    for ax in (left, right):
        ax.set_yscale("log")
        ax.set(xlabel=r"$\log_{10}\sigma$")
        tidy(ax, along_x=True)
        ax.legend(title="rows", fontsize="small", frameon=False, ncols=2)
    left.set_ylabel("mean squared error")
    left.set_yticks(
        [0.01, 0.02, 0.05, 0.1, 0.2], ["0.01", "0.02", "0.05", "0.1", "0.2"]
    )
    left.set_yticks([], minor=True)
    repetitions = found.groupby("n_train")["repetition"].nunique()
    note(
        figure,
        "noisy sinc (d = 2, noise 0.1), SVR, points: the minima. Means of "
        f"{span(repetitions, 'repetition', 'repetitions')}, "
        f"{span(found['n_test'], 'test row', 'test rows')}",
    )
    yield save(figure, folder / "width_curves.svg")
