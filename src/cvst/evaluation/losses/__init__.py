"""Pointwise losses: labels, probabilities, numbers, and the way to find one."""

from __future__ import annotations

from cvst.evaluation.losses._constant import constant_loss
from cvst.evaluation.losses._on_device import TableLosses, table_losses
from cvst.evaluation.losses._pointwise import (
    Assess,
    Assessed,
    PointwiseLoss,
    RowLosses,
    align_columns,
)
from cvst.evaluation.losses._resolve import own_score_name, resolve_loss
from cvst.evaluation.losses._several import (
    Scoring,
    named_scores,
    raced_name,
    resolve_scoring,
)

__all__ = [
    "Assess",
    "Assessed",
    "PointwiseLoss",
    "RowLosses",
    "Scoring",
    "TableLosses",
    "align_columns",
    "constant_loss",
    "named_scores",
    "own_score_name",
    "raced_name",
    "resolve_loss",
    "resolve_scoring",
    "table_losses",
]
