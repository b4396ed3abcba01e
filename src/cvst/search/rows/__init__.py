"""From what the user passes to rows in race order: checks, orders, folds."""

from cvst.search.rows._fallback import (
    FoldMaker,
    LaterFolds,
    enough_to_start,
    known_classes,
    raceable,
    rows_for_classes,
)
from cvst.search.rows._inputs import Inputs, read_inputs
from cvst.search.rows._ordering import order_rows
from cvst.search.rows._sampling import (
    RacedRows,
    is_collection,
    raced_rows,
    rows_to_refit,
)

__all__ = [
    "FoldMaker",
    "Inputs",
    "LaterFolds",
    "RacedRows",
    "enough_to_start",
    "is_collection",
    "known_classes",
    "order_rows",
    "raceable",
    "raced_rows",
    "read_inputs",
    "rows_for_classes",
    "rows_to_refit",
]
