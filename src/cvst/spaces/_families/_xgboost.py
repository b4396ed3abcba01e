"""XGBoost."""

from __future__ import annotations

from cvst.spaces._families._family import (
    Case,
    Family,
    Parameter,
    Suggest,
    rows,
    tuned_rounds,
)
from cvst.spaces._ranges import floats, integers

__all__ = ["FAMILIES"]

SOURCE = "XGBoost's notes on tuning, and ranges common in benchmarks of boosted trees"
RATE = Parameter(
    "learning_rate",
    floats(0.01, 0.3, log=True),
    "The smaller the rate, the more rounds and the better, down to about 0.01.",
    ("eta",),
)
ROUNDS = "Rounds go with the rate, and one fit tells the losses of all of them."
RIDGE = Parameter(
    "reg_lambda",
    floats(1e-3, 100, log=True),
    "Shrinks weights that rest on few rows; below 0.001 it hardly acts.",
    ("lambda",),
)
LASSO = Parameter(
    "reg_alpha",
    floats(1e-4, 10, log=True),
    "Sets small weights to 0; useful with many noisy features.",
    ("alpha",),
)


def xgboost(case: Case) -> Family:
    """Return the space of ``XGB*``, for trees or for its linear booster."""
    # A linear booster has no trees, and XGBoost warns of what it does not use.
    return _linear(case) if case.params.get("booster") == "gblinear" else _trees(case)


def _trees(case: Case) -> Family:
    rounds = tuned_rounds(case)
    return Family(
        (
            RATE,
            Parameter("n_estimators", rounds, ROUNDS, ("num_boost_round",)),
            Parameter(
                "max_depth",
                integers(2, 12),
                "Depth is how many features may act together; 3 to 10 is usual.",
            ),
            Parameter(
                "min_child_weight",
                # A sum of second derivatives; for squared errors a number of rows.
                floats(0.5, 50, log=True),
                "About the fewest rows of a leaf: few fit noise, many miss details.",
            ),
            Parameter(
                "colsample_bytree",
                floats(0.3, 1.0),
                "Trees on a part of the features are faster and less alike.",
            ),
            Parameter(
                "subsample",
                floats(0.5, 1.0),
                "Trees on half to all of the rows make the sum less noisy.",
            ),
            RIDGE,
            LASSO,
        ),
        rows(
            (
                "learning_rate",
                "n_estimators",
                "max_depth",
                "min_child_weight",
                "colsample_bytree",
                "subsample",
                "reg_lambda",
                "reg_alpha",
            ),
            (0.05, 400, 5, 2.0, 0.8, 0.8, 1.0, 0.001),
            (0.02, 1000, 7, 5.0, 0.6, 0.8, 1.0, 0.001),
            (0.2, 150, 3, 1.0, 0.9, 0.9, 0.1, 0.001),
            (0.05, 500, 3, 20.0, 0.5, 0.7, 10.0, 1.0),
            (0.1, 200, 10, 1.0, 0.8, 1.0, 0.01, 0.0001),
            (0.03, 600, 4, 1.0, 0.4, 0.6, 0.01, 0.01),
        ),
        SOURCE,
        ("n_estimators", rounds.high),
    )


def _linear(case: Case) -> Family:
    rounds = tuned_rounds(case)
    return Family(
        (RATE, Parameter("n_estimators", rounds, ROUNDS), RIDGE, LASSO),
        rows(
            ("learning_rate", "n_estimators", "reg_lambda", "reg_alpha"),
            (0.3, 100, 0.01, 0.001),
            (0.3, 300, 0.001, 0.0001),
            (0.1, 200, 1.0, 0.01),
            (0.1, 200, 0.01, 1.0),
        ),
        SOURCE,
        ("n_estimators", rounds.high),
    )


FAMILIES: dict[str, Suggest] = {
    "XGBClassifier": xgboost,
    "DaskXGBClassifier": xgboost,
    "DaskXGBRegressor": xgboost,
    "XGBRegressor": xgboost,
    "XGBRanker": xgboost,
}
