"""Nearest neighbours, neural networks and naive Bayes of scikit-learn."""

from __future__ import annotations

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

SOURCE = "scikit-learn's user guide"


def neighbours(case: Case) -> Family:
    """Return the space of ``KNeighbors*``."""
    # A fit of a fold must still have that many rows.
    most = at_most(100, 0.25, case.n_samples, low=1)
    return Family(
        (
            Parameter(
                "n_neighbors",
                integers(1, most, log=True),
                "Few neighbours follow details, many average the noise; the difference "
                "is one of factors.",
            ),
            Parameter(
                "weights",
                choices(["uniform", "distance"]),
                "Weights by distance let the number of neighbours grow.",
            ),
            Parameter(
                "p",
                # Not a range: other powers are allowed, but slower than these two.
                choices([1, 2]),
                "Sums of absolute differences forgive a bad feature more than squares.",
            ),
        ),
        rows(
            ("n_neighbors", "weights", "p"),
            (3, "distance", 2),
            (10, "distance", 2),
            (10, "distance", 1),
            (30, "distance", 1),
            (20, "uniform", 2),
            (1, "uniform", 1),
        ),
        SOURCE,
    )


def network(case: Case) -> Family:
    """Return the space of ``MLP*``."""
    del case
    layers = [(32,), (64,), (128,), (256,), (32, 32), (64, 64), (128, 64), (128, 128)]
    return Family(
        (
            Parameter(
                "learning_rate_init",
                floats(1e-4, 3e-2, log=True),
                "The step matters most: too large diverges, too small never arrives.",
            ),
            Parameter(
                "hidden_layer_sizes",
                choices(layers),
                "One or two layers of 32 to 256 units suit tables.",
            ),
            Parameter(
                "alpha",
                floats(1e-6, 1.0, log=True),
                "A penalty is right or wrong by orders of magnitude.",
            ),
            Parameter(
                "activation",
                choices(["relu", "tanh"]),
                "Kinks or smooth curves; which is better depends on the data.",
            ),
        ),
        rows(
            ("learning_rate_init", "hidden_layer_sizes", "alpha", "activation"),
            (0.003, (64,), 1e-3, "relu"),
            (0.001, (128, 64), 1e-4, "relu"),
            (0.01, (32,), 1e-2, "tanh"),
            (0.003, (256,), 0.1, "relu"),
            (0.003, (64, 64), 1e-2, "tanh"),
        ),
        "scikit-learn's user guide, and benchmarks of networks on tables",
    )


def gaussian_bayes(case: Case) -> Family:
    """Return the space of ``GaussianNB``."""
    del case
    return Family(
        (
            Parameter(
                "var_smoothing",
                floats(1e-12, 1.0, log=True),
                "Widens all features by a share of the largest variance.",
            ),
        ),
        [{"var_smoothing": share} for share in (1e-9, 1e-6, 1e-3, 1e-2, 0.1)],
        SOURCE,
    )


def counting_bayes(case: Case) -> Family:
    """Return the space of the naive Bayes models of counts and categories."""
    del case
    return Family(
        (
            Parameter(
                "alpha",
                floats(1e-3, 10.0, log=True),
                "Counts added to each feature, so that the unseen is not impossible.",
            ),
            Parameter(
                "fit_prior",
                choices([True, False]),
                "Frequencies of the classes as they are, or all alike.",
            ),
        ),
        rows(
            ("alpha", "fit_prior"),
            (0.1, True),
            (0.01, True),
            (1.0, False),
            (3.0, True),
        ),
        SOURCE,
    )


FAMILIES: dict[str, Suggest] = {
    "KNeighborsClassifier": neighbours,
    "KNeighborsRegressor": neighbours,
    "MLPClassifier": network,
    "MLPRegressor": network,
    "GaussianNB": gaussian_bayes,
    "MultinomialNB": counting_bayes,
    "BernoulliNB": counting_bayes,
    "ComplementNB": counting_bayes,
    "CategoricalNB": counting_bayes,
}
