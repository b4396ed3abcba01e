"""From configurations to pointwise losses: evaluators that share work, and losses.

Listed is what a user or an author of an evaluator needs. What drives evaluators in a
search is in ``cvst.evaluation.machinery``, which is not public.
"""

# Importing a family's room registers its evaluators.
from cvst.evaluation import ensembles as ensembles
from cvst.evaluation import kernels as kernels
from cvst.evaluation import klr as klr
from cvst.evaluation import linear as linear
from cvst.evaluation import neighbours as neighbours
from cvst.evaluation import pipelines as pipelines
from cvst.evaluation import svm as svm
from cvst.evaluation._check import check_evaluator
from cvst.evaluation._dispatch import batch_evaluator_for
from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import BatchEvaluator, Outcome, RaceRows, Scratch, Task
from cvst.evaluation.losses import PointwiseLoss, resolve_loss
from cvst.evaluation.rescaling import (
    register_rescaling,
    rescaling_table,
    resolve_rescaling,
)

__all__ = [
    "BatchEvaluator",
    "OneByOne",
    "Outcome",
    "PointwiseLoss",
    "RaceRows",
    "Scratch",
    "Task",
    "batch_evaluator_for",
    "check_evaluator",
    "register_rescaling",
    "rescaling_table",
    "resolve_loss",
    "resolve_rescaling",
]
