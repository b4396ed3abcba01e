"""CatBoost.

It refuses two names of one parameter, and shows only those it was made with: names the
user has chosen are kept. How rows are drawn depends on the loss and the device, so that
no parameter of the drawing is safe to set.
"""

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


def catboost(case: Case) -> Family:
    """Return the space of ``CatBoost*``."""
    rounds = tuned_rounds(case)
    parameters = [
        Parameter(
            "learning_rate",
            floats(0.01, 0.3, log=True),
            "The smaller the rate, the more rounds and the better, down to about 0.01.",
            ("eta",),
        ),
        Parameter(
            "iterations",
            rounds,
            "Rounds go with the rate, and one fit tells the losses of all of them.",
            ("n_estimators", "num_boost_round", "num_trees"),
        ),
        Parameter(
            "depth",
            integers(3, 10),
            "Its trees are symmetric, and 4 to 10 levels are advised; a level doubles "
            "the work.",
            ("max_depth",),
        ),
        Parameter(
            "l2_leaf_reg",
            floats(0.5, 30, log=True),
            "Shrinks leaves with few rows; 3 is the default.",
            ("reg_lambda",),
        ),
        Parameter(
            "random_strength",
            floats(0.1, 10, log=True),
            "Noise in the scores of splits keeps the first trees from fitting noise.",
        ),
    ]
    names = ["learning_rate", "iterations", "depth", "l2_leaf_reg", "random_strength"]
    table: list[tuple[float, ...]] = [
        (0.05, 500, 6, 3.0, 1.0),
        (0.02, 1000, 8, 3.0, 1.0),
        (0.2, 150, 4, 1.0, 1.0),
        (0.05, 600, 4, 20.0, 5.0),
        (0.1, 300, 8, 1.0, 0.2),
    ]
    # Only the processor draws features for each tree.
    if str(case.params.get("task_type", "CPU")).upper() == "CPU":
        parameters.append(
            Parameter(
                "rsm",
                floats(0.3, 1.0),
                "Splits that see a part of the features are faster and less alike.",
                ("colsample_bylevel",),
            )
        )
        names.append("rsm")
        shares = (0.8, 0.6, 0.9, 0.5, 0.8)
        table = [(*row, share) for row, share in zip(table, shares, strict=True)]
    return Family(
        tuple(parameters),
        rows(names, *table),
        "CatBoost's page on tuning, and ranges common in benchmarks of boosted trees",
        ("iterations", rounds.high),
    )


FAMILIES: dict[str, Suggest] = {
    "CatBoostClassifier": catboost,
    "CatBoostRegressor": catboost,
}
