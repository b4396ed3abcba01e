"""Forests, single trees and bagging of scikit-learn."""

from __future__ import annotations

from cvst._typing import Configuration
from cvst.spaces._families._family import (
    Case,
    Family,
    Parameter,
    Suggest,
    at_most,
    rows,
)
from cvst.spaces._lists import choices
from cvst.spaces._ranges import floats, integers

__all__ = ["FAMILIES"]

SOURCE = "scikit-learn's user guide, and studies of how tunable forests are"


def _leaf(case: Case) -> Parameter:
    return Parameter(
        "min_samples_leaf",
        integers(1, at_most(50, 0.1, case.n_samples), log=True),
        "Leaves of a row follow every detail, leaves of many smooth the noise away.",
    )


def _criteria(case: Case) -> tuple[Parameter, ...]:
    if not case.classifies:
        # Those of regressors stay: absolute errors take far longer to split by.
        return ()
    return (
        Parameter(
            "criterion",
            choices(["gini", "entropy"]),
            "The two judge splits differently, rarely by much, and cost the same.",
        ),
    )


def _with_criteria(
    case: Case, start: list[Configuration], criteria: str
) -> list[Configuration]:
    """Add a criterion to each row, by its first letter, if classes are predicted."""
    if not case.classifies:
        return start
    written = {"g": "gini", "e": "entropy"}
    return [
        {**row, "criterion": written[letter]}
        for row, letter in zip(start, criteria, strict=True)
    ]


FEATURES = Parameter(
    "max_features",
    floats(0.05, 1.0),
    "The share of features a split may choose from matters most: few make trees "
    "unlike, many make each better.",
)


def random_forest(case: Case) -> Family:
    """Return the space of ``RandomForest*``; more trees are never worse."""
    parameters = [FEATURES, _leaf(case), *_criteria(case)]
    start = rows(
        ("max_features", "min_samples_leaf"),
        (0.3, 1),
        (0.6, 1),
        (1.0, 3),
        (0.15, 2),
        (0.5, 10),
    )
    # scikit-learn refuses max_samples where rows are not drawn.
    if case.params.get("bootstrap", True):
        parameters.append(
            Parameter(
                "max_samples",
                floats(0.3, 1.0),
                "Trees on a smaller sample are faster and less alike.",
            )
        )
        shares = (1.0, 0.7, 0.8, 1.0, 0.5)
        start = [
            {**row, "max_samples": share}
            for row, share in zip(start, shares, strict=True)
        ]
    return Family(tuple(parameters), _with_criteria(case, start, "ggege"), SOURCE)


def extra_trees(case: Case) -> Family:
    """Return the space of ``ExtraTrees*``; more trees are never worse."""
    start = rows(
        ("max_features", "min_samples_leaf", "bootstrap"),
        (0.5, 1, False),
        (1.0, 1, False),
        (1.0, 3, True),
        (0.2, 2, False),
        (0.7, 10, False),
    )
    # No max_samples besides: half of the settings would be refused with it.
    bootstrap = Parameter(
        "bootstrap",
        choices([False, True]),
        "Its splits are random already; drawing rows as well helps on noisy data.",
    )
    return Family(
        (FEATURES, _leaf(case), bootstrap, *_criteria(case)),
        _with_criteria(case, start, "ggege"),
        SOURCE,
    )


def tree(case: Case) -> Family:
    """Return the space of single trees."""
    depth = Parameter(
        "max_depth",
        integers(1, 30, log=True),
        "Depth bounds how complex the tree is, and noisy data need shallow ones.",
    )
    features = Parameter(
        "max_features",
        floats(0.3, 1.0),
        "A split that sees a part of the features is less tempted by noise.",
    )
    start = rows(
        ("max_depth", "min_samples_leaf", "max_features"),
        (3, 1, 1.0),
        (5, 5, 1.0),
        (8, 10, 1.0),
        (15, 20, 1.0),
        (30, 2, 0.6),
    )
    return Family(
        (depth, _leaf(case), features, *_criteria(case)),
        _with_criteria(case, start, "ggege"),
        SOURCE,
    )


def bagging(case: Case) -> Family:
    """Return the space of ``Bagging*``; what is bagged stays as it is."""
    del case
    return Family(
        (
            Parameter(
                "max_samples",
                floats(0.2, 1.0),
                "Members on fewer rows are less alike and faster to fit.",
            ),
            Parameter(
                "max_features",
                floats(0.3, 1.0),
                "Members on a part of the features are less alike.",
            ),
            Parameter(
                "bootstrap",
                choices([True, False]),
                "Rows drawn with or without putting them back; neither is always best.",
            ),
        ),
        rows(
            ("max_samples", "max_features", "bootstrap"),
            (1.0, 1.0, True),
            (0.6, 0.7, False),
            (0.8, 0.5, True),
            (0.4, 1.0, False),
        ),
        SOURCE,
    )


FAMILIES: dict[str, Suggest] = {
    "RandomForestClassifier": random_forest,
    "RandomForestRegressor": random_forest,
    "ExtraTreesClassifier": extra_trees,
    "ExtraTreesRegressor": extra_trees,
    "DecisionTreeClassifier": tree,
    "DecisionTreeRegressor": tree,
    "ExtraTreeClassifier": tree,
    "ExtraTreeRegressor": tree,
    "BaggingClassifier": bagging,
    "BaggingRegressor": bagging,
}
