"""Nearest neighbours: one search, all k and all weights.

Importing the room registers its evaluators; it exports nothing.
"""

from __future__ import annotations

from cvst.evaluation.neighbours import _evaluator as _evaluator

__all__: list[str] = []
