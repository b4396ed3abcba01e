"""What the winner is worth on new rows: a value, and an interval."""

from cvst.search.estimate._growth import look_again_at
from cvst.search.estimate._score_estimate import ScoreEstimate, score_estimate

__all__ = ["ScoreEstimate", "look_again_at", "score_estimate"]
