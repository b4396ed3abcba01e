"""Kernel logistic regression: one kernel per width, one path for all penalties.

Importing the room registers its evaluators; it exports nothing.
"""

from __future__ import annotations

from cvst.evaluation.klr import _evaluator as _evaluator

__all__: list[str] = []
