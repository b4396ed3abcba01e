"""Draw the figures of the page on pictures: ``python docs/user_guide/make_figures.py``.

The race is the noisy sinc of the paper, kernel ridge regression on a grid of 225; some
figures show a search that proposes 60 configurations on the same data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import load_digits
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from cvst import RaceGridSearchCV, RaceSearchCV
from cvst.displays import (
    ContourDisplay,
    ImportanceDisplay,
    IncumbentDisplay,
    LearningCurvesDisplay,
    LossSurfaceDisplay,
    ParallelCoordinatesDisplay,
    RacePathsDisplay,
    SlicesDisplay,
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
PROPOSED = {
    "incumbent": IncumbentDisplay,
    "importance": ImportanceDisplay,
    "slices": SlicesDisplay,
    "parallel_coordinates": ParallelCoordinatesDisplay,
    "contour": ContourDisplay,
}


def noisy_sinc() -> tuple[np.ndarray, np.ndarray]:
    """Return the data of all figures."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-np.pi, np.pi, size=(600, 1))
    y = np.sinc(4 * X[:, 0] / np.pi) + rng.normal(scale=0.2, size=600)
    return X, y


def fitted_search() -> RaceGridSearchCV:
    """Return the race over a grid."""
    grid = {"alpha": np.logspace(-5, 2, 15), "gamma": np.logspace(-2, 2, 15)}
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"), grid, strategy="cvst", random_state=1
    )
    return search.fit(*noisy_sinc())


def proposed_search() -> RaceSearchCV:
    """Return the search that proposes."""
    space = {"alpha": loguniform(1e-5, 100), "gamma": loguniform(0.01, 100)}
    space["kernel"] = ["rbf", "laplacian"]
    search = RaceSearchCV(KernelRidge(kernel="rbf"), space, n_iter=60, random_state=0)
    return search.fit(*noisy_sinc())


def first_race() -> RaceGridSearchCV:
    """Return the race of the readme."""
    grid = {"C": np.logspace(-1, 4, 11), "gamma": np.logspace(-5, -1, 9)}
    search = RaceGridSearchCV(SVC(), grid, random_state=0)
    return search.fit(*load_digits(return_X_y=True))


def save(display: Any, name: str) -> None:
    """Write the picture of a display that was drawn."""
    display.figure_.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


def main() -> None:
    """Write one file for each display, and one for the readme."""
    mpl.use("Agg")
    # Without these, files would differ from run to run.
    mpl.rcParams["svg.hashsalt"] = "cvst"
    FOLDER.mkdir(exist_ok=True)
    for search, displays in (
        (fitted_search(), DISPLAYS),
        (proposed_search(), PROPOSED),
    ):
        for name, display in displays.items():
            save(display.from_search(search).plot(), name)
    # Its last looks would only show two configurations that stay.
    _, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
    save(TracesDisplay.from_search(first_race()).plot(ax), "first_race")


if __name__ == "__main__":
    main()
