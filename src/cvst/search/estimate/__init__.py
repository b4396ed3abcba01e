"""What the winner is worth on new rows: a value, and an interval."""

from cvst.search.estimate._growth import Growth, look_again_at
from cvst.search.estimate._score_estimate import (
    Evidence,
    ScoreEstimate,
    score_estimate,
)

__all__ = ["Evidence", "Growth", "ScoreEstimate", "look_again_at", "score_estimate"]
