"""From a file to a learning problem: reading, columns, target, default pipeline."""

from cvst.cli.table._columns import ColumnOptions, Learning, learning_problem
from cvst.cli.table._preparation import Prepared, prepared_model
from cvst.cli.table._reading import FORMATS, read_table
from cvst.cli.table._target import with_numbered_classes

__all__ = [
    "FORMATS",
    "ColumnOptions",
    "Learning",
    "Prepared",
    "learning_problem",
    "prepared_model",
    "read_table",
    "with_numbered_classes",
]
