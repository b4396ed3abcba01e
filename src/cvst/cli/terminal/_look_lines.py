"""A race as it goes, where nothing can be drawn: one line per look."""

from __future__ import annotations

import logging
import sys

from cvst._text import counted, score_text, seconds_text
from cvst.cli._printing import say
from cvst.cli.terminal._live_table import RaceView, Row

__all__ = ["LookLines"]


class LookLines(logging.Handler):
    """Writes a line to standard error as soon as a look is over.

    Parameters
    ----------
    view : RaceView
        Collects what the lines are made of.
    """

    def __init__(self, view: RaceView) -> None:
        super().__init__(logging.DEBUG)
        self._view = view
        if view.measuring:
            say(f"{view.measuring} ...", sys.stderr)

    def emit(self, record: logging.LogRecord) -> None:
        """Hand the event to the view, and write what is new in it."""
        # Most events are not looks and add no row.
        n_before = len(self._view.rows)
        self._view.emit(record)
        for row in self._view.rows[n_before:]:
            say(self._line(row), sys.stderr)

    def _line(self, row: Row) -> str:
        number = self._view.forecast.numbered(row.look)
        score = " ".join(score_text(row.scoring, row.leader_score, ".4g"))
        return (
            f"Look {number} ({row.stage}, {counted(row.n_train, 'row')}): "
            f"{counted(row.n_configurations, 'configuration')}, {row.n_dropped:,} "
            f"dropped, {row.n_active:,} left, leader {row.leader} with {score}, "
            f"{seconds_text(row.seconds)}"
        )
