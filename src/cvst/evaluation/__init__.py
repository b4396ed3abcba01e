"""From configurations to pointwise losses: evaluators that share work, and losses."""

# A module imported under its own name is imported to register its evaluators.
from cvst.evaluation import _adaboost as _adaboost
from cvst.evaluation import _boosting as _boosting
from cvst.evaluation import _forests as _forests
from cvst.evaluation import _kernel_logistic as _kernel_logistic
from cvst.evaluation import _kernel_ridge as _kernel_ridge
from cvst.evaluation import _kernel_svm as _kernel_svm
from cvst.evaluation import _lasso_path as _lasso_path
from cvst.evaluation import _lightgbm as _lightgbm
from cvst.evaluation import _neighbours as _neighbours
from cvst.evaluation import _pipelines as _pipelines
from cvst.evaluation import _ridge_path as _ridge_path
from cvst.evaluation import _transformed_targets as _transformed_targets
from cvst.evaluation import _xgboost as _xgboost
from cvst.evaluation._constant import constant_loss
from cvst.evaluation._covered import covered_by_one_fit
from cvst.evaluation._data import RaceData, in_order, stack_rows, take
from cvst.evaluation._dispatch import batch_evaluator_for
from cvst.evaluation._incremental import (
    IncrementalEvaluator,
    incremental_evaluator_for,
)
from cvst.evaluation._losses import PointwiseLoss
from cvst.evaluation._one_by_one import OneByOne, configured
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Scratch, Task, Whole
from cvst.evaluation._rescaling import Rescaling, resolve_rescaling
from cvst.evaluation._rescaling_table import (
    RescalingRow,
    register_rescaling,
    rescaling_table,
)
from cvst.evaluation._scores import resolve_loss
from cvst.evaluation._source import DataSource, failure_warning

__all__ = [
    "BatchEvaluator",
    "DataSource",
    "IncrementalEvaluator",
    "OneByOne",
    "Outcome",
    "PointwiseLoss",
    "RaceData",
    "Rescaling",
    "RescalingRow",
    "Scratch",
    "Task",
    "Whole",
    "batch_evaluator_for",
    "configured",
    "constant_loss",
    "covered_by_one_fit",
    "failure_warning",
    "in_order",
    "incremental_evaluator_for",
    "register_rescaling",
    "rescaling_table",
    "resolve_loss",
    "resolve_rescaling",
    "stack_rows",
    "take",
]
