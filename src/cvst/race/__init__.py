"""The race on indices and arrays: looks, states, strategies and their rules.

Listed is what you need to read a race, to write a strategy, a stage or a rule, and to
run the loop yourself. What other packages of the library need besides is in
``cvst.race.machinery``, which is not public.
"""

from cvst.race._cross_validation import CrossValidation
from cvst.race._cvst import CVST
from cvst.race._decider import Decider
from cvst.race._elimination import NoElimination
from cvst.race._fold_race import FoldRace
from cvst.race._growing_steps import GrowingSteps
from cvst.race._limits import AtMost
from cvst.race._look import Look, LookLosses, Observation, Verdict
from cvst.race._loop import race
from cvst.race._planned import PlannedLook, Prospect
from cvst.race._problem import Folds, Problem
from cvst.race._relay import Relay
from cvst.race._rules import (
    Comparison,
    EliminationRule,
    LookCutError,
    LossSource,
    Schedule,
    SeveralLooksSource,
    SimilarityRule,
    StoppingRule,
    WinnerRule,
)
from cvst.race._schedule import LinearSchedule
from cvst.race._similarity import OutlierSimilarity, PrefixSimilarity
from cvst.race._space import Axis, SearchSpace
from cvst.race._stage import Program, Stage, Staged
from cvst.race._state import RaceState
from cvst.race._stopping import NeverStop, SimilarTraces
from cvst.race._strategy import Strategy
from cvst.race._subset_look import SubsetLook
from cvst.race._track_and_confirm import TrackAndConfirm
from cvst.race._winner import MeanRank

__all__ = [
    "CVST",
    "AtMost",
    "Axis",
    "Comparison",
    "CrossValidation",
    "Decider",
    "EliminationRule",
    "FoldRace",
    "Folds",
    "GrowingSteps",
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
    "PlannedLook",
    "PrefixSimilarity",
    "Problem",
    "Program",
    "Prospect",
    "RaceState",
    "Relay",
    "Schedule",
    "SearchSpace",
    "SeveralLooksSource",
    "SimilarTraces",
    "SimilarityRule",
    "Stage",
    "Staged",
    "StoppingRule",
    "Strategy",
    "SubsetLook",
    "TrackAndConfirm",
    "Verdict",
    "WinnerRule",
    "race",
]
