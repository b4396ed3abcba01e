"""What drives evaluators: the source, rows, workers. For the search, not for users.

Other packages of the library find here what is neither public nor in a room of its own;
losses and devices have rooms.
"""

from cvst.evaluation._dispatch import (
    covered_by_one_fit,
    serves_device,
    shares_exactly,
)
from cvst.evaluation._failed import failure_warning
from cvst.evaluation._incremental import incremental_evaluator_for
from cvst.evaluation._on_dask import as_dask, check_client, trains_on_dask
from cvst.evaluation._one_by_one import configured
from cvst.evaluation._predictions import Predicted, predictions_of
from cvst.evaluation._protocol import MODEL, FittedModel
from cvst.evaluation._responses import SeveralResponses
from cvst.evaluation._rows import Metadata, RaceData, in_order, stack_rows, take
from cvst.evaluation._side_by_side import SideBySide, n_side_by_side, workers_start
from cvst.evaluation._source import DataSource
from cvst.evaluation._stand_ins import StandIns
from cvst.evaluation._stored import is_stored

__all__ = [
    "MODEL",
    "DataSource",
    "FittedModel",
    "Metadata",
    "Predicted",
    "RaceData",
    "SeveralResponses",
    "SideBySide",
    "StandIns",
    "as_dask",
    "check_client",
    "configured",
    "covered_by_one_fit",
    "failure_warning",
    "in_order",
    "incremental_evaluator_for",
    "is_stored",
    "n_side_by_side",
    "predictions_of",
    "serves_device",
    "shares_exactly",
    "stack_rows",
    "take",
    "trains_on_dask",
    "workers_start",
]
