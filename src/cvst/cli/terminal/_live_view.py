"""Showing a race while it runs, in the way that standard error allows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from cvst.cli.terminal._interrupts import noticed_interrupts
from cvst.cli.terminal._listening import listening
from cvst.cli.terminal._live_table import RaceView
from cvst.cli.terminal._look_lines import LookLines

__all__ = ["live_view"]

REFRESHES_PER_SECOND = 8


@contextmanager
def live_view(view: RaceView | None) -> Iterator[None]:
    """Show a race on standard error: a table in a terminal, else a line per look.

    The table leaves no trace when the race is over; the lines stay.
    """
    if view is None:
        yield
        return
    console = _console()
    if console is None:
        with listening(LookLines(view)):
            yield
        return
    from rich.live import Live

    # It goes when the race is over: the results begin with the same table.
    live = Live(
        view, console=console, transient=True, refresh_per_second=REFRESHES_PER_SECOND
    )
    with noticed_interrupts() as view.is_interrupted, listening(view), live:
        yield


def _console() -> Any:
    """Return what to draw on, None if standard error shows plain lines only."""
    # The bare package comes without rich.
    if sys.stderr is None or not sys.stderr.isatty() or find_spec("rich") is None:
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return None if console.is_dumb_terminal or not console.is_terminal else console
