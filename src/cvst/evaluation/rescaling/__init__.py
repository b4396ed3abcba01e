"""Hyper-parameters as functions of the number of training rows."""

from __future__ import annotations

from cvst.evaluation.rescaling._resolve import Rescaling, resolve_rescaling
from cvst.evaluation.rescaling._table import (
    RescalingRow,
    register_rescaling,
    rescaling_table,
)

__all__ = [
    "Rescaling",
    "RescalingRow",
    "register_rescaling",
    "rescaling_table",
    "resolve_rescaling",
]
