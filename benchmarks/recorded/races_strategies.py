"""Races by every variant of the strategies, over grids and over random draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from problems import blobs, lines, wave
from race_definition import Race, cvst, grid_race, quick, random_race
from scipy.stats import loguniform, randint
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cvst import CrossValidation, TrackAndConfirm

__all__ = ["STRATEGIES"]

DEPTHS = {"max_depth": [1, 2, 3, 4, 6, 9], "min_samples_leaf": [1, 2, 4, 8, 16, 32]}
WAVES = {"alpha": [0.001, 0.1, 10.0], "gamma": [0.01, 0.1, 1.0, 10.0]}


class _Squares:
    """A schedule of one's own: subsets that grow with the square of the step."""

    def n_train(self, step: int, problem: Any) -> int:
        return max(2, round(problem.n_samples * 0.9 * (step / 10) ** 2))


class _FirstFlop:
    """A rule of one's own that drops whoever was flop three times in a row."""

    def is_loser(self, traces: Any) -> Any:
        return ~traces[:, -3:].any(axis=1) & (traces.shape[1] >= 3)


class _LastLook:
    """A winner's rule of one's own: the lowest loss of the last step."""

    def scores(self, mean_losses: Any) -> Any:
        return mean_losses[:, -1]


CVST_VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "friedman": {"similarity": "friedman"},
    "kruskal_wallis": {"similarity": "kruskal_wallis"},
    "closed": {"elimination": "closed"},
    "no_elimination": {"elimination": "none"},
    "within_window": {"stopping": "similar_within_window"},
    "never_stop": {"stopping": "never"},
    "shuffled": {"shuffle_each_step": True},
    "steps_7": {"max_steps": 7},
    "steps_20": {"max_steps": 20},
    "window_0": {"stopping_window": 0},
    "window_6": {"stopping_window": 6},
    "levels": {"similarity_level": 0.2, "stopping_level": 0.2},
    "strict": {"loser_level": 0.3, "winner_level": 0.1},
    "own_rules": {
        "schedule": _Squares(),
        "elimination": _FirstFlop(),
        "winner": _LastLook(),
    },
}

TRACK_VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "fractions": {"first_fraction": 0.3, "late_fraction": 0.5},
    "survivors": {"max_survivors": 3},
    "tracked": {"n_tracked": 2, "n_leaders": 1},
    "not_wide": {"wide": False},
    "no_hedges": {"n_hedges": 0},
    "folds": {"n_folds": 6, "final_folds": 8},
    "no_limit": {"n_raced": 0},
    "raced_2": {"n_raced": 2},
    "no_final": {"final_folds": 0},
    "same_folds": {"n_folds": 4, "final_folds": 4},
    "no_climbs": {"climbs": 0},
    "level": {"level": 0.4},
    "all_to_folds": {"few": 100},
    "all_to_final": {"few": 100, "n_folds": 2},
    "large_rows": {"min_rows": 250},
    "narrow": {"n_tracked": 1, "n_leaders": 1, "n_hedges": 0, "wide": False},
}


def _of_cvst() -> list[Race]:
    races = []
    for name, settings in CVST_VARIANTS.items():
        strategy = cvst(**settings)
        races += [
            grid_race(f"cvst/{name}/numbers", KernelRidge(kernel="rbf"), WAVES, wave(),
                strategy=strategy),
            grid_race(f"cvst/{name}/classes", DecisionTreeClassifier(), DEPTHS,
                blobs(300, 3), strategy=strategy),
        ]  # fmt: skip
    for similarity in "cochran", "wilson":
        races.append(
            grid_race(f"cvst/{similarity}", DecisionTreeClassifier(), DEPTHS, blobs(),
                strategy=cvst(similarity=similarity))
        )  # fmt: skip
    return [
        *races,
        grid_race("cvst/outliers", KernelRidge(kernel="rbf"), WAVES, wave(),
            strategy=cvst(similarity="outliers")),
        grid_race("cvst/shuffled_stratified", SVC(), {"C": [0.1, 1.0, 10.0]}, blobs(),
            strategy=cvst(shuffle_each_step=True), ordering="stratified"),
        grid_race("cvst/one_step", Ridge(), {"alpha": [0.1, 10.0]}, lines(),
            strategy=cvst(max_steps=1, elimination="none")),
    ]  # fmt: skip


def _of_track() -> list[Race]:
    of_classes = ("default", "tracked", "no_limit", "narrow")
    return [
        *(grid_race(f"track/{name}/numbers", DecisionTreeRegressor(), DEPTHS, wave(),
            strategy=quick(**settings)) for name, settings in TRACK_VARIANTS.items()),
        *(grid_race(f"track/{name}/classes", DecisionTreeClassifier(), DEPTHS,
            blobs(300, 3), strategy=quick(**TRACK_VARIANTS[name]))
          for name in of_classes),
        grid_race("track/defaults_of_the_library", DecisionTreeRegressor(), DEPTHS,
            wave(600), strategy=TrackAndConfirm()),
        grid_race("track/by_name", KNeighborsClassifier(),
            {"n_neighbors": list(range(1, 40))}, blobs(500),
            strategy="track_and_confirm"),
        grid_race("track/few_of_the_library", Ridge(), {"alpha": np.logspace(-3, 3, 9)},
            lines()),
        grid_race("track/five_of_the_library", Ridge(), {"alpha": [0.1, 1, 10.0, 50]},
            lines()),
        grid_race("track/one_axis", KernelRidge(kernel="rbf"),
            {"gamma": np.logspace(-3, 2, 40)}, wave(), strategy=quick()),
        grid_race("track/words", DecisionTreeClassifier(),
            {"criterion": ["gini", "entropy"], "splitter": ["best", "random"],
             "max_features": [None, "sqrt"], "class_weight": [None, "balanced"]},
            blobs(), strategy=quick()),
    ]  # fmt: skip


def _of_folds() -> list[Race]:
    model, grid = DecisionTreeRegressor(), DEPTHS
    return [
        grid_race("folds/by_name", model, grid, wave(), strategy="cross_validation"),
        grid_race("folds/two", model, grid, wave(), strategy=CrossValidation(2)),
        grid_race("folds/ten", model, grid, wave(), strategy=CrossValidation(10)),
        grid_race("folds/classes", DecisionTreeClassifier(), grid, blobs(300, 3),
            strategy="cross_validation"),
    ]  # fmt: skip


def _of_draws() -> list[Race]:
    space = {"alpha": loguniform(1e-3, 1e2), "gamma": loguniform(1e-2, 1e2)}
    mixed = {"max_depth": randint(1, 9), "min_samples_leaf": [1, 4, 16],
             "criterion": ["gini", "entropy"]}  # fmt: skip
    several = [{"C": loguniform(0.01, 100)},
               {"kernel": ["linear"], "C": [0.1, 1.0]}]  # fmt: skip
    strategies = {"track": quick(), "cvst": "cvst", "folds": CrossValidation(3)}
    races = []
    for name, strategy in strategies.items():
        races += [
            random_race(f"random/kernel_ridge/{name}", KernelRidge(kernel="rbf"), space,
                wave(), n_iter=24, strategy=strategy),
            random_race(f"random/trees/{name}", DecisionTreeClassifier(), mixed,
                blobs(), n_iter=20, strategy=strategy),
            random_race(f"random/several/{name}", SVC(), several, blobs(200), n_iter=9,
                strategy=strategy),
        ]  # fmt: skip
    return [
        *races,
        random_race("random/default", KernelRidge(kernel="rbf"), space, wave(200)),
        random_race("random/whole_grid", Ridge(), {"alpha": [0.1, 1.0, 10.0]},
            lines(), n_iter=10, strategy="cvst"),
        random_race("random/one", Ridge(), {"alpha": loguniform(0.1, 10)}, lines(),
            n_iter=1),
    ]  # fmt: skip


STRATEGIES = [*_of_cvst(), *_of_track(), *_of_folds(), *_of_draws()]
