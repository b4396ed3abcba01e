"""Draw every race of the default beside full cross-validation, task by task.

    python benchmarks/default/picture.py benchmarks/results/default.jsonl FILE.svg

A dot is a split, a bar the mean of its task. The axis is even up to 10 % and
shrinks beyond, so that a few large differences do not hide all others.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).parent))
from summary import DEFAULT, MARGIN, ratios, read
from tasks import TASKS

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = {
    "linear": "#0072B2",
    "boosting": "#D55E00",
    "forest": "#009E73",
    "svm": "#CC79A7",
    "net": "#000000",
}
TICKS = (-60, -30, -10, -5, -2, 0, 2, 5, 10, 30, 60, 160)


def drawn(path: Path) -> Figure:
    """Return the picture of a file of results."""
    lines, _ = read(path)
    names = [name for family in COLOURS for name in tasks_of(family)]
    figure = Figure(figsize=(8.5, 8.6), layout="constrained")
    ax = figure.subplots()
    ax.axvspan(-MARGIN, MARGIN, color="#DDDDDD", lw=0, label="within 1 %")
    ax.axvline(0, color="#444444", lw=1)
    for place, name in enumerate(reversed(names)):
        [values] = ratios(lines, DEFAULT, "loss", [name]).values()
        colour = COLOURS[TASKS[name].family]
        # A little apart, or equal splits would be one dot.
        apart = place + np.linspace(-0.25, 0.25, len(values))
        ax.plot(values, apart, "o", color=colour, ms=3.5, alpha=0.6, mew=0)
        ax.plot([np.mean(values)] * 2, [place - 0.4, place + 0.4], color=colour, lw=2.2)
    ax.set_xscale("symlog", linthresh=0.1, linscale=1.6)
    ax.set_xticks(
        np.log1p(np.array(TICKS) / 100),
        [f"{tick:+d} %" if tick else "0 %" for tick in TICKS],
    )
    ax.tick_params(axis="x", labelsize="small", rotation=45)
    ax.set_xticks([], minor=True)
    ax.set_yticks(range(len(names)), reversed(names), fontsize="small")
    ax.set_ylim(-0.7, len(names) - 0.3)
    ax.set_xlabel("loss on fresh rows against that of full 5-fold; right is worse")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#EEEEEE", axis="y")
    ax.set_axisbelow(True)
    ax.legend(loc="lower left", frameon=False, fontsize="small")
    return figure


def tasks_of(family: str) -> list[str]:
    """Return the tasks of a family of learners."""
    return [name for name, task in TASKS.items() if task.family == family]


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    # The same data give the same file.
    with mpl.rc_context({"svg.hashsalt": "cvst", "svg.fonttype": "none"}):
        metadata = {"Date": None} if options.output.suffix == ".svg" else None
        drawn(options.results).savefig(options.output, metadata=metadata, dpi=110)


if __name__ == "__main__":
    main()
