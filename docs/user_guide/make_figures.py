"""Draw the figures of the page on pictures: ``python docs/user_guide/make_figures.py``.

The race is the noisy sinc of the paper, kernel ridge regression on a grid of 225.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.kernel_ridge import KernelRidge

from cvst import RaceGridSearchCV
from cvst.displays import (
    LearningCurvesDisplay,
    LossSurfaceDisplay,
    RacePathsDisplay,
    SurvivorsDisplay,
    TracesDisplay,
)

FOLDER = Path(__file__).parent / "figures"
DISPLAYS = {
    "traces": TracesDisplay,
    "survivors": SurvivorsDisplay,
    "learning_curves": LearningCurvesDisplay,
    "loss_surface": LossSurfaceDisplay,
    "race_paths": RacePathsDisplay,
}


def fitted_search() -> RaceGridSearchCV:
    """Return the race that all figures show."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-np.pi, np.pi, size=(600, 1))
    y = np.sinc(4 * X[:, 0] / np.pi) + rng.normal(scale=0.2, size=600)
    grid = {"alpha": np.logspace(-5, 2, 15), "gamma": np.logspace(-2, 2, 15)}
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"), grid, strategy="cvst", random_state=1
    )
    return search.fit(X, y)


def main() -> None:
    """Write one file for each display."""
    mpl.use("Agg")
    # Without these, files would differ from run to run.
    mpl.rcParams["svg.hashsalt"] = "cvst"
    FOLDER.mkdir(exist_ok=True)
    search = fitted_search()
    for name, display in DISPLAYS.items():
        figure = display.from_search(search).plot().figure_
        figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
