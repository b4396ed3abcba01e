"""Pointwise losses: labels, probabilities, numbers, and the way to find one."""

from __future__ import annotations

from cvst.evaluation.losses._constant import constant_loss
from cvst.evaluation.losses._on_device import TableLosses, table_losses
from cvst.evaluation.losses._pointwise import Judge, Judged, PointwiseLoss, RowLosses
from cvst.evaluation.losses._resolve import resolve_loss

__all__ = [
    "Judge",
    "Judged",
    "PointwiseLoss",
    "RowLosses",
    "TableLosses",
    "constant_loss",
    "resolve_loss",
    "table_losses",
]
