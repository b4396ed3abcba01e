"""A race as it goes, in a terminal: looks, survivors, leader, loss and time left.

The view listens to the events of the logger ``"cvst"`` and draws them with rich.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from cvst._text import counted, score_text, seconds_text
from cvst.cli._printing import harmless
from cvst.cli.terminal._forecast import Forecast
from cvst.cli.terminal._text import shown_parameters

__all__ = ["RaceView", "Row"]

# Lines that the view needs besides the table of looks and the heading.
OTHER_LINES = 8

# Races that end so have no final fit.
BROKEN_OFF = "interrupted", "failed"

# Less than this would be written as 0 s.
LEAST_SHOWN = 0.005


@dataclass(frozen=True, slots=True)
class Row:
    """A look that is over, as the table shows it."""

    look: int
    stage: str
    n_train: int
    n_configurations: int
    n_top: int
    n_dropped: int
    n_active: int
    leader_score: float
    scoring: str
    leader: str
    seconds: float


class RaceView(logging.Handler):
    """Collects events and draws what is known.

    Parameters
    ----------
    heading : sequence of str
        What was recognised before the race.
    prefix : str
        Path of the model's parameters, not to be shown.
    n_configurations : int
        Configurations at the start.
    afterwards : str, optional
        What happens once the race is over, if it is not just the final fit.
    measuring : str, optional
        What happens before the race begins, if fits are timed for a budget.
    """

    def __init__(
        self,
        heading: Sequence[str],
        prefix: str,
        n_configurations: int,
        *,
        afterwards: str = "",
        measuring: str = "",
    ) -> None:
        super().__init__(logging.DEBUG)
        self.heading = [harmless(line) for line in heading]
        self.prefix = prefix
        self.forecast = Forecast()
        self.n_active = n_configurations
        self.rows: list[Row] = []
        self.done = 0
        self.total = n_configurations
        self.began = self.look_began = monotonic()
        self.final = self.broken_off = False
        self.is_interrupted: Callable[[], bool] = lambda: False
        self._current_look: tuple[int, int] | None = None
        self.afterwards = afterwards
        self.measuring = measuring

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of an event of the race."""
        event: Mapping[str, Any] | None = getattr(record, "cvst", None)
        if event is None:
            return
        name = event["event"]
        if name == "start":
            self.forecast.plan(event)
            self._race_begins()
        elif name == "begin":
            self._current_look = (event["n_train"], event["n_configurations"])
        elif name == "progress":
            self.done, self.total = event["done"], event["total"]
        elif name == "look":
            self._saw(event, record)
        elif name == "end":
            self.final = True
            self.broken_off = event.get("reason") in BROKEN_OFF
            self.look_began = monotonic()

    def _race_begins(self) -> None:
        # What was timed for a budget is over, and must not count for the first look.
        self.measuring = ""
        self.look_began = monotonic()

    def _saw(self, event: Mapping[str, Any], record: logging.LogRecord) -> None:
        now = monotonic()
        seconds, self.look_began = now - self.look_began, now
        race: Any = getattr(record, "cvst_race", None)
        if race is not None:
            self.forecast.saw(
                race[0], seconds, event["leader"], event.get("refit_seconds")
            )
        # The event holds the leader's number; the message was given its parameters.
        args: Any = record.args if isinstance(record.args, Mapping) else {}
        names = set(Row.__slots__) - {"leader", "seconds"}
        self.rows.append(
            Row(
                **{name: event[name] for name in names},
                leader=harmless(shown_parameters(args.get("params", {}), self.prefix)),
                seconds=seconds,
            )
        )
        # Those that wait may be in the next look too.
        self.n_active = event["n_active"] + event.get("n_waiting", 0)
        self.done, self.total = 0, self.n_active
        self._current_look = None

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Draw; called by rich some times a second."""
        from rich.text import Text

        for line in self.heading:
            yield Text(line, style="dim")
        if self.rows:
            room = options.max_height - OTHER_LINES - len(self.heading)
            yield Text()
            yield self._table(max(1, room))
        yield Text()
        if self.broken_off or self.is_interrupted():
            # No forecast: what would come next does not come.
            yield Text(self._stopping(), style="bold")
            yield Text(f"{seconds_text(monotonic() - self.began)} so far.")
            return
        yield self._current()
        yield self._progress(min(60, options.max_width - 6))
        yield Text(self._times())
        if not self.afterwards:
            yield Text("Ctrl-C stops the race and keeps the leader.", style="dim")

    def _stopping(self) -> str:
        """Say that it stops, and what it still waits for."""
        if self.broken_off:
            return "The race was broken off: the leader is kept ..."
        kept = " The leader is kept." if self.rows and not self.afterwards else ""
        return f"Stopping as soon as the fit that is running is over ...{kept}"

    def _table(self, room: int) -> Any:
        from rich.table import Table

        table = Table(box=None, pad_edge=False, expand=True)
        score = score_text(self.rows[-1].scoring, 0.0)[0]
        numbers = ("look", "rows", "tested", "top", "dropped", "left", score, "time")
        for name in numbers:
            table.add_column(name, justify="right", no_wrap=True)
        # As in the table of the results, stages are named if there are several.
        staged = len({row.stage for row in self.rows}) > 1
        if staged:
            table.add_column("stage", no_wrap=True)
        # What does not fit is cut from the leader, never from the numbers.
        table.add_column("leader", ratio=1, no_wrap=True, overflow="ellipsis")
        for row in self.rows[-room:]:
            table.add_row(
                str(row.look),
                f"{row.n_train:,}",
                f"{row.n_configurations:,}",
                f"{row.n_top:,}",
                f"{row.n_dropped:,}",
                f"{row.n_active:,}",
                score_text(row.scoring, row.leader_score, ".4g")[1],
                seconds_text(row.seconds),
                *([row.stage] if staged else []),
                row.leader,
            )
        return table

    @property
    def current_look(self) -> tuple[int | None, int]:
        """Rows and configurations of the look under way; None and 0 if not known."""
        if self._current_look is not None:
            return self._current_look
        coming = self.forecast.planned[len(self.rows) :]
        if not self.forecast.proposes:
            return (coming[0].n_train if coming else None), self.n_active
        # Of those that are left, a few take part in the next look.
        return (
            (coming[0].n_train, coming[0].max_configurations) if coming else (None, 0)
        )

    def _current(self) -> Any:
        from rich.text import Text

        if self.final:
            words = self.afterwards or "The winner is fitted on all rows"
            return Text(f"{words} ...", style="bold")
        if self.measuring:
            return Text(f"{self.measuring} ...", style="bold")
        n_train, count = self.current_look
        rows = "" if n_train is None else f" on {n_train:,} rows"
        look = self.forecast.numbered(len(self.rows) + 1)
        who = counted(count, "configuration") if count else "proposing configurations"
        return Text(f"Look {look}: {who}{rows} ...", style="bold")

    def _progress(self, width: int) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        share = self._share_done()
        line = Table.grid(padding=(0, 1))
        bar = ProgressBar(
            total=1.0, completed=share or 0.0, width=width, pulse=share is None
        )
        line.add_row(bar, "" if share is None else f"{share:.0%}")
        return line

    def _share_done(self) -> float | None:
        # What is counted is better than any forecast.
        if not self.final and self.done:
            return self.done / max(1, self.total)
        seconds = self._expected_seconds()
        if seconds is None or seconds <= 0:
            return None
        # At 100 % a look that takes longer than expected would seem to hang.
        return min(0.99, (monotonic() - self.look_began) / seconds)

    def _expected_seconds(self) -> float | None:
        """Return the time of the look (or final fit) that is under way."""
        if self.final:
            return None if self.afterwards else self.forecast.final_fit()
        elapsed = monotonic() - self.look_began
        if self.done:
            return elapsed * self.total / self.done
        n_train, count = self.current_look
        return None if n_train is None else self.forecast.seconds_of(n_train, count)

    def _times(self) -> str:
        now = monotonic()
        text = f"{seconds_text(now - self.began)} so far"
        seconds = self._expected_seconds()
        left = 0.0
        if seconds is not None:
            left = max(0.0, seconds - (now - self.look_began))
        # What takes longer than expected is not about to end.
        if left >= LEAST_SHOWN:
            what = "the final fit" if self.final else "this look"
            text += f", about {seconds_text(round(left, 2))} to the end of {what}"
        return f"{text}." if self.final else f"{text}{self._until_the_end(now, left)}."

    def _until_the_end(self, now: float, least: float) -> str:
        """Say how long the race takes, once that is known."""
        elapsed = now - self.look_began
        budget = self.forecast.budget_left(elapsed)
        if budget is not None and self.forecast.proposes:
            return f", {seconds_text(round(budget, 2))} of the budget left"
        about, at_most = self.forecast.about(), self.forecast.at_most()
        if about is None or at_most is None:
            return ""
        left, most = max(least, about - elapsed), max(least, at_most - elapsed)
        if budget is not None:
            left, most = min(left, budget), min(most, budget)
        # Where this look is about to take more than is left, nobody knows the end.
        if most <= 0 or most < least:
            return ""
        # Two numbers that say nearly the same are one too many.
        if most - left < 0.1 * most or left <= 0:
            return f", at most {seconds_text(most)} to the end"
        return f", {seconds_text(left)} (at most {seconds_text(most)}) to the end"
