"""The race on indices and arrays: looks, states, strategies and their rules."""

from cvst.race._cross_validation import CrossValidation
from cvst.race._cvst import CVST
from cvst.race._elimination import NoElimination
from cvst.race._loop import race, take_look
from cvst.race._parameters import Parametrised
from cvst.race._planned import PlannedLook
from cvst.race._ranking import rank_all
from cvst.race._rules import (
    Comparison,
    EliminationRule,
    LookCutError,
    LossSource,
    Schedule,
    SimilarityRule,
    StoppingRule,
    Strategy,
    WinnerRule,
)
from cvst.race._schedule import LinearSchedule
from cvst.race._similarity import OutlierSimilarity, PrefixSimilarity
from cvst.race._space import Axis, SearchSpace
from cvst.race._state import (
    Look,
    LookLosses,
    Observation,
    Problem,
    RaceState,
    Verdict,
)
from cvst.race._stopping import NeverStop, SimilarTraces
from cvst.race._track_and_confirm import TrackAndConfirm
from cvst.race._winner import MeanRank

__all__ = [
    "CVST",
    "Axis",
    "Comparison",
    "CrossValidation",
    "EliminationRule",
    "LinearSchedule",
    "Look",
    "LookCutError",
    "LookLosses",
    "LossSource",
    "MeanRank",
    "NeverStop",
    "NoElimination",
    "Observation",
    "OutlierSimilarity",
    "Parametrised",
    "PlannedLook",
    "PrefixSimilarity",
    "Problem",
    "RaceState",
    "Schedule",
    "SearchSpace",
    "SimilarTraces",
    "SimilarityRule",
    "StoppingRule",
    "Strategy",
    "TrackAndConfirm",
    "Verdict",
    "WinnerRule",
    "race",
    "rank_all",
    "take_look",
]
