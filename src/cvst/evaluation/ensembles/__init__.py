"""Ensembles: one fit of the largest serves all sizes.

Importing the room registers its evaluators; it exports nothing.
"""

from __future__ import annotations

from cvst.evaluation.ensembles import _adaboost as _adaboost
from cvst.evaluation.ensembles import _boosting as _boosting
from cvst.evaluation.ensembles import _catboost as _catboost
from cvst.evaluation.ensembles import _forests as _forests
from cvst.evaluation.ensembles import _lightgbm as _lightgbm
from cvst.evaluation.ensembles import _xgboost as _xgboost

__all__: list[str] = []
