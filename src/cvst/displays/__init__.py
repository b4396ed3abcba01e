"""Pictures of races and of their theory: computed once, drawn often.

Every display has a ``from_...`` method that computes and a ``plot`` method that draws,
as in scikit-learn. Drawing needs the extra ``cvst[plots]``.
"""

from cvst.displays._contour import ContourDisplay
from cvst.displays._error_bound import ErrorBoundDisplay
from cvst.displays._false_negatives import FalseNegativesDisplay
from cvst.displays._importance import ImportanceDisplay
from cvst.displays._incumbent import IncumbentDisplay
from cvst.displays._learning_curves import LearningCurvesDisplay
from cvst.displays._loss_surface import LossSurfaceDisplay
from cvst.displays._parallel_coordinates import ParallelCoordinatesDisplay
from cvst.displays._parameter_axis import ParameterAxis, parameter_axis
from cvst.displays._race_paths import RacePathsDisplay
from cvst.displays._safety_zone import SafetyZoneDisplay
from cvst.displays._sequential_test import SequentialTestDisplay
from cvst.displays._slices import SlicesDisplay
from cvst.displays._speed_gain import SpeedGainDisplay
from cvst.displays._surviving_paths import SurvivingPathsDisplay
from cvst.displays._survivors import SurvivorsDisplay
from cvst.displays._time_consumption import TimeConsumptionDisplay
from cvst.displays._traces import TracesDisplay

__all__ = [
    "ContourDisplay",
    "ErrorBoundDisplay",
    "FalseNegativesDisplay",
    "ImportanceDisplay",
    "IncumbentDisplay",
    "LearningCurvesDisplay",
    "LossSurfaceDisplay",
    "ParallelCoordinatesDisplay",
    "ParameterAxis",
    "RacePathsDisplay",
    "SafetyZoneDisplay",
    "SequentialTestDisplay",
    "SlicesDisplay",
    "SpeedGainDisplay",
    "SurvivingPathsDisplay",
    "SurvivorsDisplay",
    "TimeConsumptionDisplay",
    "TracesDisplay",
    "parameter_axis",
]
