"""Scores of all test rows together, and what each row contributes to them."""

from __future__ import annotations

from cvst.evaluation.losses.influence._catalogue import whole_score
from cvst.evaluation.losses.influence._jackknife import JackknifeScore
from cvst.evaluation.losses.influence._opaque import OpaqueScore
from cvst.evaluation.losses.influence._whole import WholeScore

__all__ = [
    "JackknifeScore",
    "OpaqueScore",
    "WholeScore",
    "whole_score",
]
