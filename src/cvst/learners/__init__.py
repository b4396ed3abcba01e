"""Learners that scikit-learn lacks: those of the paper, and weighted ensembles."""

from __future__ import annotations

from cvst.learners._kernel_logistic import KernelLogisticRegression
from cvst.learners._weighted_ensemble import (
    WeightedEnsembleClassifier,
    WeightedEnsembleRegressor,
)

__all__ = [
    "KernelLogisticRegression",
    "WeightedEnsembleClassifier",
    "WeightedEnsembleRegressor",
]
