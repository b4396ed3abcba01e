"""``verbose``: a progress bar where one can be drawn, else a line per look.

A bar needs a terminal or a notebook, and tqdm or rich; neither is required. In a
notebook tqdm draws a widget where there are some.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from cvst._text import score_text
from cvst.search._log import LOGGER

__all__ = ["Bar", "RaceBar", "verbose_logging"]


# How a line begins, and the events whose sentences are said under the bar as well.
PREFIX = "[cvst] "
LASTING = "end", "ensemble"


class Bar(Protocol):
    """What draws: tqdm or rich."""

    def show(self, done: float, total: float, text: str) -> None:
        """Draw how far the race is."""
        ...

    def close(self) -> None:
        """Leave the bar as it is."""
        ...


class RaceBar(logging.Handler):
    """Follows the events of a race and moves a bar; its unit is one fit.

    Looks that lie ahead count with the configurations that are expected there, and
    never with more than are left.

    Parameters
    ----------
    bar : Bar
        Where to draw.

    Attributes
    ----------
    lasting : list of str
        What is to be read once the bar has closed: a bar has no room for sentences.
    """

    def __init__(self, bar: Bar) -> None:
        super().__init__(logging.DEBUG)
        self._bar = bar
        self._ahead: list[tuple[str, float]] = []
        self._before = 0.0
        self._text = ""
        self.lasting: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of an event of the race."""
        event: Mapping[str, Any] | None = getattr(record, "cvst", None)
        if event is None:
            return
        name = event["event"]
        if name in LASTING:
            self.lasting.append(record.getMessage())
        if name == "start":
            self._ahead = [
                (look["stage"], look["expected_configurations"])
                for look in event["looks"][: event["expected_looks"]]
            ]
        elif name == "begin":
            self._text = f"look {event['look']} ({event['stage']})"
            self._skip_to(event["stage"])
            # Now the number is known; before, it was what the plan expected.
            self._ahead[:1] = [(event["stage"], event["n_configurations"])]
        elif name == "look":
            self._saw(event)
        elif name == "end":
            self._ahead = []
            self._text = f"over: {event['reason']}"
        done = event["done"] if name == "progress" else 0
        left = sum(count for _, count in self._ahead)
        self._bar.show(self._before + done, self._before + left, self._text)

    def _skip_to(self, stage: str) -> None:
        """Forget looks of stages that were left out or cut short."""
        stages = [name for name, _ in self._ahead]
        if stage in stages:
            del self._ahead[: stages.index(stage)]

    def _saw(self, event: Mapping[str, Any]) -> None:
        self._before += event["n_configurations"]
        # No later look has more than those left and waiting, whatever the plan said.
        most = event["n_active"] + event["n_waiting"]
        self._ahead = [(stage, min(count, most)) for stage, count in self._ahead[1:]]
        score = " ".join(score_text(event["scoring"], event["leader_score"], ".4g"))
        self._text = f"{event['stage']}: {event['n_active']:,} left, {score}"


class _Levels:
    """The levels that searches want now, in whatever threads; the lowest counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted: list[int] = []
        self._before = logging.NOTSET

    def enter(self, level: int) -> None:
        with self._lock:
            if not self._wanted:
                self._before = LOGGER.level
            self._wanted.append(level)
            LOGGER.setLevel(min(self._wanted))

    def leave(self, level: int) -> None:
        # Restored afterwards: a library must not change the user's settings.
        with self._lock:
            self._wanted.remove(level)
            LOGGER.setLevel(min(self._wanted, default=self._before))


_LEVELS = _Levels()


@contextmanager
def verbose_logging(
    verbose: int, make_bar: Callable[[], Bar | None] | None = None
) -> Iterator[None]:
    """Show the events of this search on standard output while ``verbose`` is set.

    Parameters
    ----------
    verbose : int
        0 for silence, 1 for a bar or a line per look, 2 for every event.
    make_bar : callable, optional
        Returns where to draw, None if nothing can be drawn.
    """
    if not verbose:
        yield
        return
    # With more verbosity lines are wanted, and a bar would be torn apart by them.
    bar = (make_bar or new_bar)() if verbose == 1 else None
    # Looked up now: tests and notebooks put another stream in its place.
    handler: logging.Handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter(f"{PREFIX}%(message)s"))
    handler.addFilter(_tells_something)
    follower = None if bar is None else RaceBar(bar)
    if follower is not None:
        handler = follower
    level = logging.INFO if verbose == 1 and bar is None else logging.DEBUG
    LOGGER.addHandler(handler)
    _LEVELS.enter(level)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        _LEVELS.leave(level)
        if bar is not None and follower is not None:
            bar.close()
            for sentence in follower.lasting:
                sys.stdout.write(f"{PREFIX}{sentence}\n")


def _tells_something(record: logging.LogRecord) -> bool:
    """Leave out the first and last progress of a look, which has lines for both."""
    event: Mapping[str, Any] = getattr(record, "cvst", {"event": ""})
    return event["event"] != "progress" or bool(0 < event["done"] < event["total"])


def new_bar() -> Bar | None:
    """Return a bar for this terminal or notebook, None where there cannot be one."""
    if not (in_notebook() or sys.stdout.isatty()):
        return None
    # tqdm first: it draws in notebooks too. Neither is required.
    for kind in (_tqdm_bar, _rich_bar):
        try:
            return kind()
        except ImportError:
            continue
    return None


def in_notebook() -> bool:
    """Return whether output goes to the cell of a notebook."""
    # Not imported here: in a notebook it is there already, elsewhere it is slow.
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and hasattr(running, "kernel")


def _tqdm_bar() -> Bar:
    from tqdm.auto import tqdm

    class FitsBar(tqdm):
        """A bar whose total may change."""

        def show(self, done: float, total: float, text: str) -> None:
            self.total = round(total)
            self.n = round(done)
            self.set_postfix_str(text, refresh=False)
            self.refresh()

    bar: Bar = FitsBar(unit="fit", file=sys.stdout, leave=True)
    return bar


def _rich_bar() -> Bar:
    from rich.progress import Progress

    class FitsBar(Progress):
        """A bar of one task."""

        def show(self, done: float, total: float, text: str) -> None:
            if not self.tasks:
                self.add_task("race")
                self.start()
            self.update(self.task_ids[0], completed=done, total=total, description=text)

        def close(self) -> None:
            self.stop()

    return FitsBar()
