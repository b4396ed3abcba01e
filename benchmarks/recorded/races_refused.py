"""Races that cannot be and end with an error that says why, and a few doubtful ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from problems import Fussy, blobs, wave
from race_definition import Race, cvst, grid_race, quick, random_race
from scipy.stats import loguniform
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, TimeSeriesSplit
from sklearn.pipeline import make_pipeline

from cvst import CVST, CrossValidation

__all__ = ["REFUSED"]

SHIFTS = {"shift": [0.0, 1.0]}

BAD_OPTIONS: dict[str, dict[str, Any]] = {
    "loser_level": {"strategy": cvst(loser_level=2)},
    "text_level": {"strategy": cvst(similarity_level="0.05")},
    "few_steps": {"strategy": cvst(max_steps=3)},
    "half_step": {"strategy": cvst(max_steps=2.5)},
    "many_steps": {"strategy": cvst(max_steps=400)},
    "window": {"strategy": cvst(stopping_window=12)},
    "window_word": {"strategy": cvst(stopping_window="wide")},
    "similarity": {"strategy": cvst(similarity="student")},
    "elimination": {"strategy": cvst(elimination="some")},
    "stopping": {"strategy": cvst(stopping="soon")},
    "schedule": {"strategy": cvst(schedule="square")},
    "winner": {"strategy": cvst(winner="loser")},
    "cochran_of_numbers": {"strategy": cvst(similarity="cochran")},
    "class_of_strategy": {"strategy": CVST},
    "word_of_strategy": {"strategy": "halving"},
    "number_of_strategy": {"strategy": 3},
    "fractions": {"strategy": quick(first_fraction=0.5, late_fraction=0.3)},
    "fraction_above": {"strategy": quick(late_fraction=1.5)},
    "level": {"strategy": quick(level=0.0)},
    "n_folds": {"strategy": quick(n_folds=1)},
    "n_tracked": {"strategy": quick(n_tracked=0)},
    "n_raced": {"strategy": quick(n_raced=-1)},
    "climbs": {"strategy": quick(climbs=-1)},
    "one_fold": {"strategy": CrossValidation(1)},
    "folds_word": {"strategy": CrossValidation("5")},
    "rescale_name": {"rescale": {"shiift": 1}},
    "rescale_nan": {"rescale": {"shift": np.nan}, "strategy": "cvst"},
    "rescale_word": {"rescale": "always"},
    "ordering": {"ordering": "random"},
    "max_looks": {"max_looks": 0},
    "refit": {"refit": "r2"},
    "incremental": {"incremental": True},
    "cv_word": {"cv": "five"},
    "cv_one": {"cv": 1},
    "cv_of_groups": {"cv": GroupKFold(3)},
    "cv_many": {"cv": KFold(500)},
    "error_score": {"error_score": "ignore"},
    "on_interrupt": {"on_interrupt": "stop"},
    "several_scores": {"scoring": {"a": "r2", "b": "max_error"}},
    "shuffled_in_order": {
        "strategy": cvst(shuffle_each_step=True),
        "ordering": "given",
    },
}


def _options() -> list[Race]:
    return [
        grid_race(f"refused/option/{name}", Fussy(), SHIFTS, wave(220), **options)
        for name, options in BAD_OPTIONS.items()
    ]


def _grids() -> list[Race]:
    data = wave(220)
    pipeline = make_pipeline(PCA(), Ridge())
    grids: dict[str, tuple[Any, Any]] = {
        "unknown": (Fussy(), {"shiift": [0.0, 1.0]}),
        "unknown_step": (pipeline, {"svc__C": [0.1, 1.0]}),
        "unknown_in_step": (pipeline, {"ridge__C": [0.1, 1.0]}),
        "no_parts": (Fussy(), {"shift__deep": [1, 2]}),
        "number": (Fussy(), {1: [1, 2]}),
        "nothing": (Fussy(), []),
        "no_values": (Fussy(), {"shift": []}),
        "one_word": (Fussy(), {"mood": "good"}),
        "no_list": (Fussy(), {"shift": 3.0}),
        "text": (Fussy(), "shift"),
    }
    return [
        *(grid_race(f"refused/grid/{name}", model, grid, data)
          for name, (model, grid) in grids.items()),
        random_race("refused/draws/none", Fussy(), {"shift": loguniform(0.1, 1)}, data,
            n_iter=0),
        random_race("refused/draws/nothing", Fussy(), [], data),
        random_race("refused/draws/unknown", Fussy(), {"deep": loguniform(1, 2)}, data,
            n_iter=3),
    ]  # fmt: skip


def _data() -> list[Race]:
    X, y = wave(220)
    missing = np.where(np.arange(220) == 3, np.nan, y)
    words = np.array(["ham", "spam"] * 110, dtype=object)
    words[7] = None
    frame, other = (
        pd.DataFrame(X, columns=["a", "b"]),
        pd.DataFrame(X, columns=["a", 0]),
    )
    fits: dict[str, dict[str, Any]] = {
        "short_groups": {"groups": [1, 2, 3]},
        "nan_groups": {"groups": np.r_[np.nan, np.arange(219.0)]},
        "two_columns_of_groups": {"groups": np.zeros((220, 2))},
        "one_group": {"groups": np.zeros(220)},
        "ten_groups": {"groups": np.arange(220) % 10},
        "short_weights": {"sample_weight": [1, 2, 3]},
        "no_weight": {"sample_weight": np.zeros(220)},
        "negative_weight": {"sample_weight": np.r_[-1.0, np.ones(219)]},
        "words_for_weights": {"sample_weight": ["much"] * 220},
        "one_weight": {"sample_weight": 3},
        "late_weights": {"sample_weight": np.r_[np.zeros(60), np.ones(160)]},
        "early_weights": {"sample_weight": np.r_[np.ones(200), np.zeros(20)]},
        "half_a_test_set": {"X_val": X},
        "empty_test_set": {"X_val": X[:0], "y_val": y[:0]},
        "wide_test_set": {"X_val": np.hstack([X, X]), "y_val": y},
        "two_targets_to_test": {"X_val": X, "y_val": np.column_stack([y, y])},
        "unknown_argument": {"colour": "blue"},
    }
    alphas = {"alpha": [0.1, 1.0]}
    return [
        *(grid_race(f"refused/fit/{name}", Ridge(), alphas, (X, y), fit=fit,
            strategy="cvst", ordering="auto" if "groups" in fit else "given")
          for name, fit in fits.items()),
        grid_race("refused/data/nan_target", Ridge(), alphas, (X, missing)),
        grid_race("refused/data/infinite_target", Ridge(), alphas,
            (X, np.where(np.isnan(missing), np.inf, y))),
        grid_race("refused/data/missing_words", LogisticRegression(), {"C": [0.1, 1.0]},
            (X, words)),
        grid_race("refused/data/complex", Ridge(), alphas, (X, y + 1j)),
        grid_race("refused/data/numbers_as_classes", LogisticRegression(),
            {"C": [0.1, 1.0]}, (X, y)),
        grid_race("refused/data/lengths", Ridge(), alphas, (X, y[:-1])),
        grid_race("refused/data/no_rows", Ridge(), alphas, (X[:0], y[:0])),
        grid_race("refused/data/no_target", Ridge(), alphas, (X, None)),
        grid_race("doubtful/components", PCA(), {"n_components": [1, 2]}, (X, None)),
        grid_race("refused/data/clusters", KMeans(n_init=1), {"n_clusters": [2, 3]},
            (X, None)),
        grid_race("refused/data/other_columns", Ridge(), alphas, (frame, y),
            fit={"X_val": other, "y_val": y}),
        grid_race("doubtful/time_and_groups", Ridge(), alphas, (X, y),
            cv=TimeSeriesSplit(3), fit={"groups": np.arange(220) // 11}),
        grid_race("doubtful/leave_one_out", Ridge(), alphas, (X[:40], y[:40]),
            cv=LeaveOneOut(), strategy="cross_validation"),
        grid_race("refused/data/one_feature_row", LogisticRegression(),
            {"C": [0.1, 1.0]}, (blobs(40)[0][:, 0], blobs(40)[1])),
    ]  # fmt: skip


REFUSED = [*_options(), *_grids(), *_data()]
