"""Sentences and values of a report that searches and commands share; not public."""

from __future__ import annotations

from cvst.report._explain import EARLY_ENDS, settled_reason, stop_sentence
from cvst.report._summary import estimate_values, score_name, spoken_score
from cvst.report._ties import tie_of

__all__ = [
    "EARLY_ENDS",
    "estimate_values",
    "score_name",
    "settled_reason",
    "spoken_score",
    "stop_sentence",
    "tie_of",
]
