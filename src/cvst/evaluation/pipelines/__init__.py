"""Pipelines and transformed targets: what comes before the model is done once.

Importing the room registers its evaluators; it exports nothing.
"""

from __future__ import annotations

from cvst.evaluation.pipelines import _evaluator as _evaluator
from cvst.evaluation.pipelines import _targets as _targets

__all__: list[str] = []
