"""Support vector machines: one kernel per width for all penalties.

Importing the room registers its evaluators; it exports nothing.
"""

from __future__ import annotations

from cvst.evaluation.svm import _evaluator as _evaluator

__all__: list[str] = []
