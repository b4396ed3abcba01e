"""The searches: races behind scikit-learn's interface."""

from cvst.search._ensemble import Ensemble
from cvst.search._grid import RaceGridSearchCV
from cvst.search._plan import LookForecast, RacePlan
from cvst.search._predictions import OutOfFoldPredictions
from cvst.search._propose import RaceSearchCV
from cvst.search._random import RaceRandomSearchCV
from cvst.search._setup import DEFAULT_STRATEGY, STRATEGIES
from cvst.search._simplest import SimplestNotWorse
from cvst.search.checkpoint import Checkpoint, load_checkpoint
from cvst.search.estimate import ScoreEstimate

__all__ = [
    "DEFAULT_STRATEGY",
    "STRATEGIES",
    "Checkpoint",
    "Ensemble",
    "LookForecast",
    "OutOfFoldPredictions",
    "RaceGridSearchCV",
    "RacePlan",
    "RaceRandomSearchCV",
    "RaceSearchCV",
    "ScoreEstimate",
    "SimplestNotWorse",
    "load_checkpoint",
]
