"""The race on indices and arrays: looks, states, strategies and their rules."""

from cvst.race._axes import Levels, levels_of, space_of
from cvst.race._bits import BitTable, compact
from cvst.race._comparable import comparable_means
from cvst.race._cross_validation import CrossValidation
from cvst.race._cvst import CVST
from cvst.race._decider import Decider
from cvst.race._deciding import (
    deciding_looks,
    deciding_losses,
    deciding_mean,
    shared_deciding_looks,
)
from cvst.race._elimination import NoElimination
from cvst.race._families import FamilyKeys, count_screened, most_rounds
from cvst.race._fitting_variant import fitting_variant
from cvst.race._fold_race import FoldRace
from cvst.race._growing_steps import GrowingSteps
from cvst.race._leader_tests import excess_p_values
from cvst.race._limits import Alone, AtMost, Limit
from cvst.race._look import Look, LookLosses, Observation, Verdict
from cvst.race._loop import race
from cvst.race._plain_time import plain_search_seconds
from cvst.race._planned import PlannedLook
from cvst.race._problem import LOSS_BYTES, Folds, Problem
from cvst.race._proposal_parts import Source, Trial
from cvst.race._propose_and_confirm import ProposeAndConfirm
from cvst.race._ranking import rank_all, within_equal_looks
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
from cvst.race._same_rows import Meeting, meetings
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
    "LOSS_BYTES",
    "Alone",
    "AtMost",
    "Axis",
    "BitTable",
    "Comparison",
    "CrossValidation",
    "Decider",
    "EliminationRule",
    "FamilyKeys",
    "FoldRace",
    "Folds",
    "GrowingSteps",
    "Levels",
    "Limit",
    "LinearSchedule",
    "Look",
    "LookCutError",
    "LookLosses",
    "LossSource",
    "MeanRank",
    "Meeting",
    "NeverStop",
    "NoElimination",
    "Observation",
    "OutlierSimilarity",
    "PlannedLook",
    "PrefixSimilarity",
    "Problem",
    "Program",
    "ProposeAndConfirm",
    "RaceState",
    "Relay",
    "Schedule",
    "SearchSpace",
    "SeveralLooksSource",
    "SimilarTraces",
    "SimilarityRule",
    "Source",
    "Stage",
    "Staged",
    "StoppingRule",
    "Strategy",
    "SubsetLook",
    "TrackAndConfirm",
    "Trial",
    "Verdict",
    "WinnerRule",
    "compact",
    "comparable_means",
    "count_screened",
    "deciding_looks",
    "deciding_losses",
    "deciding_mean",
    "excess_p_values",
    "fitting_variant",
    "levels_of",
    "meetings",
    "most_rounds",
    "plain_search_seconds",
    "race",
    "rank_all",
    "shared_deciding_looks",
    "space_of",
    "within_equal_looks",
]
