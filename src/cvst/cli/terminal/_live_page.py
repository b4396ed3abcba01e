"""``--live``: the race in a browser, refreshed as looks finish."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cvst._typing import Configuration, IntArray
from cvst.cli._printing import say
from cvst.exceptions import InvalidInputError
from cvst.integrations import RaceListener
from cvst.race import RaceState
from cvst.report import LiveReport

__all__ = ["live_page"]


class PageUpdater(RaceListener):
    """Hands each state of the race to the page."""

    def __init__(self, page: LiveReport) -> None:
        super().__init__()
        self.page = page

    def on_state(
        self,
        state: RaceState,
        configurations: Sequence[Configuration],
        ranking: IntArray,
    ) -> None:
        """Show the look just made."""
        self.page.update(state, configurations, ranking)


@contextmanager
def live_page(
    port: int | None, title: str, scoring: str | None = None
) -> Iterator[LiveReport | None]:
    """Serve a page on this machine while the race runs, and say where.

    Parameters
    ----------
    port : int or None
        0 for any free port, None for no page.
    title : str
        Heading of the page.
    scoring : str, optional
        Name of the score.
    """
    if port is None:
        yield None
        return
    try:
        page = LiveReport(port, title=title, scoring=scoring)
    # Ports beyond 65535 overflow.
    except (OSError, OverflowError) as error:
        why = str(error).rstrip(".")
        raise InvalidInputError(
            f"--live cannot use port {port}: {why}. Choose another, or name none to "
            "take any that is free."
        ) from error
    # Standard output is for the results, which may be JSON.
    say(f"The race is shown at {page.url}", sys.stderr)
    with page, PageUpdater(page):
        yield page
