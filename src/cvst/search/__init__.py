"""The searches: races behind scikit-learn's interface."""

from cvst.search._grid import RaceGridSearchCV
from cvst.search._plan import LookForecast, RacePlan
from cvst.search._random import RaceRandomSearchCV

__all__ = ["LookForecast", "RaceGridSearchCV", "RacePlan", "RaceRandomSearchCV"]
