"""Hyper-parameter search that races configurations on growing subsets of the data."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cvst.evaluation import PointwiseLoss, batch_evaluator_for
    from cvst.race import CVST, CrossValidation, TrackAndConfirm
    from cvst.search import (
        RaceGridSearchCV,
        RaceRandomSearchCV,
        RaceSearchCV,
        SimplestNotWorse,
        load_checkpoint,
    )

__all__ = [
    "CVST",
    "CrossValidation",
    "PointwiseLoss",
    "RaceGridSearchCV",
    "RaceRandomSearchCV",
    "RaceSearchCV",
    "SimplestNotWorse",
    "TrackAndConfirm",
    "batch_evaluator_for",
    "load_checkpoint",
]

__version__ = "0.1.0.dev0"

# Where the public names live. They are imported when first asked for, so that
# ``cvst --help`` does not wait for scikit-learn.
_HOMES = {
    "CVST": "race",
    "CrossValidation": "race",
    "PointwiseLoss": "evaluation",
    "RaceGridSearchCV": "search",
    "RaceRandomSearchCV": "search",
    "RaceSearchCV": "search",
    "SimplestNotWorse": "search",
    "TrackAndConfirm": "race",
    "batch_evaluator_for": "evaluation",
    "load_checkpoint": "search",
}

# Importing the package has always made these available as attributes.
_PACKAGES = (
    "datasets",
    "displays",
    "evaluation",
    "exceptions",
    "integrations",
    "learners",
    "proposals",
    "race",
    "report",
    "search",
    "spaces",
    "statistics",
    "theory",
)

# Type checkers read the imports above instead, and so still see misspelt names.
if not TYPE_CHECKING:

    def __getattr__(name):
        """Import a public name or package on first use."""
        if name in _HOMES:
            value = getattr(import_module(f"cvst.{_HOMES[name]}"), name)
        elif name in _PACKAGES:
            value = import_module(f"cvst.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_PACKAGES})
