"""From configurations to pointwise losses: evaluators that share work, and losses."""

# Importing a family's room registers its evaluators.
from cvst.evaluation import ensembles as ensembles
from cvst.evaluation import kernels as kernels
from cvst.evaluation import klr as klr
from cvst.evaluation import linear as linear
from cvst.evaluation import neighbours as neighbours
from cvst.evaluation import pipelines as pipelines
from cvst.evaluation import svm as svm
from cvst.evaluation._check import check_evaluator
from cvst.evaluation._dispatch import (
    batch_evaluator_for,
    covered_by_one_fit,
    serves_device,
    shares_exactly,
)
from cvst.evaluation._incremental import incremental_evaluator_for
from cvst.evaluation._on_dask import as_dask, check_client, trains_on_dask
from cvst.evaluation._one_by_one import OneByOne, configured
from cvst.evaluation._predictions import Predicted, predictions_of
from cvst.evaluation._protocol import (
    MODEL,
    BatchEvaluator,
    FittedModel,
    Outcome,
    RaceRows,
    Scratch,
    Task,
)
from cvst.evaluation._responses import SeveralResponses
from cvst.evaluation._rows import Metadata, RaceData, in_order, stack_rows, take
from cvst.evaluation._side_by_side import (
    SideBySide,
    n_side_by_side,
    workers_start,
)
from cvst.evaluation._source import DataSource, failure_warning
from cvst.evaluation._stand_ins import StandIns
from cvst.evaluation._stored import is_stored
from cvst.evaluation.device import arrays_on, as_numpy
from cvst.evaluation.losses import (
    PointwiseLoss,
    Scoring,
    constant_loss,
    named_scores,
    raced_name,
    resolve_loss,
    resolve_scoring,
)
from cvst.evaluation.rescaling import (
    register_rescaling,
    rescaling_table,
    resolve_rescaling,
)

__all__ = [
    "MODEL",
    "BatchEvaluator",
    "DataSource",
    "FittedModel",
    "Metadata",
    "OneByOne",
    "Outcome",
    "PointwiseLoss",
    "Predicted",
    "RaceData",
    "RaceRows",
    "Scoring",
    "Scratch",
    "SeveralResponses",
    "SideBySide",
    "StandIns",
    "Task",
    "arrays_on",
    "as_dask",
    "as_numpy",
    "batch_evaluator_for",
    "check_client",
    "check_evaluator",
    "configured",
    "constant_loss",
    "covered_by_one_fit",
    "failure_warning",
    "in_order",
    "incremental_evaluator_for",
    "is_stored",
    "n_side_by_side",
    "named_scores",
    "predictions_of",
    "raced_name",
    "register_rescaling",
    "rescaling_table",
    "resolve_loss",
    "resolve_rescaling",
    "resolve_scoring",
    "serves_device",
    "shares_exactly",
    "stack_rows",
    "take",
    "trains_on_dask",
    "workers_start",
]
