"""Learners of the paper that scikit-learn lacks."""

from __future__ import annotations

from cvst.learners._irls import IRLSResult, solve_irls
from cvst.learners._kernel_logistic import KernelLogisticRegression

__all__ = ["IRLSResult", "KernelLogisticRegression", "solve_irls"]
