"""Linear models: what rows have in common is done once, for all penalties.

Importing the room registers its evaluators; it exports nothing.
"""

from __future__ import annotations

from cvst.evaluation.linear import _lasso as _lasso
from cvst.evaluation.linear import _logistic as _logistic
from cvst.evaluation.linear import _ridge as _ridge

__all__: list[str] = []
