"""Hyper-parameter search that races configurations on growing subsets of the data."""

from cvst.evaluation import PointwiseLoss, batch_evaluator_for
from cvst.race import CVST, CrossValidation, TrackAndConfirm
from cvst.search import RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV

__all__ = [
    "CVST",
    "CrossValidation",
    "PointwiseLoss",
    "RaceGridSearchCV",
    "RaceRandomSearchCV",
    "RaceSearchCV",
    "TrackAndConfirm",
    "batch_evaluator_for",
]

__version__ = "0.1.0.dev0"
