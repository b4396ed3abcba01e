"""From what the user passes to rows in race order: checks, orders, folds."""

from cvst.search.rows._fallback import (
    FoldMaker,
    enough_to_start,
    known_classes,
    raceable,
    rows_for_classes,
)
from cvst.search.rows._inputs import Inputs, read_inputs
from cvst.search.rows._ordering import order_rows

__all__ = [
    "FoldMaker",
    "Inputs",
    "enough_to_start",
    "known_classes",
    "order_rows",
    "raceable",
    "read_inputs",
    "rows_for_classes",
]
