"""What people see while a race runs: live table, page, text, warnings as notes."""

from cvst.cli.terminal._live_page import live_page
from cvst.cli.terminal._live_table import RaceView
from cvst.cli.terminal._live_view import live_view
from cvst.cli.terminal._notes import warnings_as_notes
from cvst.cli.terminal._text import shown_parameters, table

__all__ = [
    "RaceView",
    "live_page",
    "live_view",
    "shown_parameters",
    "table",
    "warnings_as_notes",
]
