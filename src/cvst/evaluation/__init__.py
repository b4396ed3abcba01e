"""From configurations to pointwise losses: evaluators that share work, and losses."""

# A module imported under its own name is imported to register its evaluators.
from cvst.evaluation import _adaboost as _adaboost
from cvst.evaluation import _boosting as _boosting
from cvst.evaluation import _forests as _forests
from cvst.evaluation import _lasso_path as _lasso_path
from cvst.evaluation import _neighbours as _neighbours
from cvst.evaluation import _ridge_path as _ridge_path
from cvst.evaluation._data import RaceData, in_order, stack_rows, take
from cvst.evaluation._dispatch import batch_evaluator_for
from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Scratch, Task, Whole

__all__ = [
    "BatchEvaluator",
    "OneByOne",
    "Outcome",
    "RaceData",
    "Scratch",
    "Task",
    "Whole",
    "batch_evaluator_for",
    "in_order",
    "stack_rows",
    "take",
]
