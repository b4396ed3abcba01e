"""Keeps a race on disk while it runs, and answers from there when it runs again."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

from cvst._text import shortened
from cvst._typing import Configuration
from cvst._users_line import users_line
from cvst.exceptions import CheckpointError, CheckpointWarning
from cvst.race import Decider, Look, Problem, RaceState
from cvst.race.machinery import Limit
from cvst.search._log import LOGGER
from cvst.search._setup import Setup
from cvst.search.checkpoint._checks import check_known, check_lengths, check_state
from cvst.search.checkpoint._digest import digest
from cvst.search.checkpoint._doubt import Doubtful, doubted
from cvst.search.checkpoint._finished import Finished, ranked_now
from cvst.search.checkpoint._journal import Journal
from cvst.search.checkpoint._later import Later
from cvst.search.checkpoint._pace import syncing, writing
from cvst.search.checkpoint._records import PASSING
from cvst.search.checkpoint._story import ESTIMATED, Story
from cvst.search.checkpoint._under_way import EarlierGroups, UnderWay, short
from cvst.search.checkpoint._values import Shown
from cvst.search.estimate import ScoreEstimate

__all__ = ["Recorder"]

# Ctrl-C, too little memory, an exit or an error do not end a race: it goes on there.
BROKEN_OFF = ("interrupted", "failed")

# What a result has for each row.
ARRAYS = ("losses", "residuals")

# What has to wait is saved together with the next group, or after this time: then the
# next group is a long one.
LATE_SECONDS = 0.1


class Recorder:
    """Stands between a race and its checkpoint; without one it does nothing.

    Parameters
    ----------
    journal : Journal or None
        Where records go.
    story : Story
        What was there before.
    now : callable
        Returns the seconds since the fit began.
    numbers : mapping of int to int
        Number of each configuration of the search, by its ``id``.
    opening : float
        Seconds that it took to open the checkpoint.
    """

    def __init__(
        self,
        journal: Journal | None,
        story: Story,
        now: Callable[[], float],
        numbers: Mapping[int, int],
        opening: float = 0.0,
    ) -> None:
        self._journal = journal
        self._path = None if journal is None else journal.path
        self._seconds = now
        self._book = story.book
        self._n_looks = len(story.looks)
        self._begin: dict[str, Any] | None = None
        self._waiting: list[Finished] = []
        # The look that is alone, and those that overlap, by the address of the look.
        self._alone: UnderWay | None = None
        self._beside: dict[int, UnderWay] = {}
        self._tickets = count(story.last_ticket + 1)
        self._known = list(story.outcomes)
        self._earlier = EarlierGroups(story.beside)
        self._joined: list[Configuration] = list(story.joined)
        self._writes, self._syncs = writing(opening), syncing()
        self._not_before = 0.0
        self._warned = False
        self._ended: str | None = None
        self._n_points: Callable[[Look], int] | None = None
        self._lock = threading.RLock()
        self._later = Later(self._save_late)
        self.story = story
        self.numbers = numbers

    @property
    def spent(self) -> float:
        """Seconds of the fits that were broken off."""
        return self.story.spent

    @property
    def race_spent(self) -> float:
        """Seconds of the race, of those."""
        begin = self.story.begin
        return 0.0 if begin is None else self.spent - float(begin["spent"])

    @property
    def batch_sizes(self) -> list[int]:
        """How many configurations joined each time."""
        return [len(batch) for batch in self.story.batches]

    # Before the race ----------------------------------------------------------------

    def begin(self, setup: Setup, budget: dict[str, Any] | None = None) -> None:
        """Keep how a race begins, unless it goes on."""
        if self._journal is None or self.story.begin is not None:
            return
        problem, strategy = setup.problem, setup.strategy
        test = strategy.sequential_test
        fields = {
            "problem": {
                "n_configurations": problem.n_configurations,
                "n_samples": problem.n_samples,
                "n_validation": problem.n_validation,
                "seed": problem.seed,
                "constant_loss": problem.constant_loss,
                "min_rows": problem.min_rows,
                "seconds": problem.seconds,
                "configurations": problem.configurations,
                "covered": dict(problem.covered),
                "scoring": problem.scoring,
            },
            "strategy": {
                "text": shortened(repr(strategy), 300),
                "level": strategy.level,
                "confirming_reason": strategy.confirming_reason,
                "proposes": strategy.proposes,
                "window": strategy.window,
                "sentences": dict(strategy.sentences),
                "test": None
                if test is None
                else {
                    "kind": type(test).__name__,
                    "max_steps": test.max_steps,
                    "loser_level": test.loser_level,
                    "winner_level": test.winner_level,
                },
            },
            "budget": budget,
        }
        self._alone, self._joined = None, []
        self._beside.clear()
        self._begin = fields
        self._save_in_time()

    def again(self) -> None:
        """Forget a race that has to begin anew, with fewer configurations."""
        self.story = Story(self.story.header, spent=self.story.spent)
        self._known = []
        self._earlier.forget()

    def state(
        self, problem: Problem, waiting: Sequence[Configuration]
    ) -> RaceState | None:
        """Return the race as far as it is known, None if it has not begun.

        Parameters
        ----------
        problem : Problem
            What is known before.
        waiting : sequence of dict
            Configurations that were to join, where that was known beforehand.
        """
        if self.story.begin is None:
            return None
        joined = [one for batch in self.story.batches for one in batch]
        if waiting:
            joined = list(waiting[: len(joined)])
        for value in (value for one in joined for value in one.values()):
            if isinstance(value, Shown):
                raise CheckpointError(
                    f"The checkpoint holds the value {value} of a configuration that "
                    "joined, which the space of this search does not have. Name "
                    "another file to begin anew."
                )
        looks, n_configurations = self.story.looks, problem.n_configurations
        with doubted(self._path):
            check_state(looks, problem, n_configurations + len(joined))
        return RaceState(problem, tuple(looks), tuple(joined))

    def attached(self, setup: Setup) -> Setup:
        """Return a race whose results are kept, and continued from what is known."""
        if self._journal is None:
            return setup
        source, story = setup.source, self.story
        self._n_points = source.n_points
        with doubted(self._path):
            for seen, facts in zip(story.looks, story.facts, strict=True):
                returned = facts["pointwise"] if source.keep_losses else None
                check_lengths((seen.losses, returned), source.n_points(seen.look))
        if source.relive([seen.look for seen in story.looks]):
            # Models that go on learning need the look under way from its beginning.
            self._known = []
            self._earlier.forget()
        source.kept.extend(story.kept)
        return replace(setup, source=replace(source, keeper=self))

    def recall(self, state: RaceState, tell: Callable[[RaceState], None]) -> None:
        """Tell again of the looks that are known, one after the other."""
        for n_looks in range(1, len(self.story.looks) + 1):
            with doubted(self._path):
                tell(state.until(n_looks))

    def ended(self, decider: Decider) -> Decider:
        """Return the decider, or one that ends a race as it has ended before."""
        if self.story.end is not None:
            return Ended(decider, self.story.end)
        n_looks = len(self.story.looks)
        return Doubtful(decider, self._path, n_looks) if n_looks else decider

    # During the race ----------------------------------------------------------------

    def admit(self, configurations: Sequence[Configuration]) -> None:
        """Hear of configurations that join."""
        self._joined.extend(configurations)

    def known(
        self, look: Look, groups: Sequence[list[int]], *, beside: bool = False
    ) -> list[dict[str, Any]]:
        """Return what is known of a look that was under way, as a ``Keeper`` does."""
        with self._lock:
            before, self._known = self._known, []
            one = UnderWay(look, next(self._tickets) if beside else None)
            if beside:
                self._beside[id(look)] = one
                before = []
            else:
                self._alone = one
                before = self._of_this_look(before, one)
            self._add_earlier(one, groups)
            known = [*before, *one.outcomes]
            if known:
                self._check(known, look)
                LOGGER.info(
                    "%d of %d configurations of look %d are known already",
                    len(known),
                    len(look.configurations),
                    self._n_looks + 1,
                )
            return known

    def _check(self, known: list[dict[str, Any]], look: Look) -> None:
        with doubted(self._path):
            check_known(known, look)
            if self._n_points is not None:
                tables = (one.get(name) for one in known for name in ARRAYS)
                check_lengths(tables, self._n_points(look))

    def _of_this_look(
        self, outcomes: list[dict[str, Any]], one: UnderWay
    ) -> list[dict[str, Any]]:
        """Return what was done of the look that was alone, if it is the same one."""
        if not outcomes or self._n_looks != len(self.story.looks):
            return []
        before = self.story.under_way
        if before is None or digest(before) != digest(short(one.look)):
            LOGGER.info("the look that was under way is another one now: it is redone")
            return []
        one.go_on(outcomes)
        return outcomes

    def _add_earlier(self, one: UnderWay, groups: Sequence[list[int]]) -> None:
        """Add what was done in looks that overlapped; it is told of this look now."""
        if not self._earlier:
            return
        for group in self._earlier.take(one.place, groups):
            one.add_earlier(group)

    def keep(self, outcomes: Sequence[Any], look: Look | None = None) -> None:
        """Keep what is known of some configurations of a look under way."""
        with self._lock:
            one = self._alone if look is None else self._beside.get(id(look))
            if one is None:
                return
            # Often none: a worker tells of each group, and of its chunk at the end.
            fresh = [done for done in outcomes if done.configuration not in one.done]
            if not fresh:
                return
            start = self._writes.now()
            one.add(fresh)
            if self._writes.counted(start) >= self._not_before:
                # Where looks overlap, the race may be asking the strategy right now.
                self._save_in_time(ranked=look is None)

    def look(self, setup: Setup, state: RaceState) -> None:
        """Keep a look that is finished."""
        if self._journal is None:
            return
        with self._lock:
            self._n_looks = state.n_looks
            over = state.observations[-1].look
            one = self._beside.pop(id(over), None)
            if one is None:
                one, self._alone = self._alone, None
            # The groups that the file has of it are of no use any more.
            place = one.place if one is not None and one.in_file else None
            self._waiting.append(Finished(setup, state, self._joined, place))
            self._joined = []
            self._save_in_time()

    def end(self, reason: str, setup: Setup, state: RaceState) -> None:
        """Keep why the race ended; one that was interrupted or failed can go on."""
        if self._journal is None:
            return
        with self._lock:
            is_over = reason not in BROKEN_OFF and self.story.end is None
            # Ranked once: the record of the end tells it too.
            if self._save(ranked=not is_over) and is_over:
                # The last record says of all others that they were there.
                self._sync()
                fields = {"reason": reason, **ranked_now(setup, state)}
                if self._append("end", fields, lasts=True):
                    self._ended = reason

    def estimated(self, winner: int, estimate: ScoreEstimate | None) -> None:
        """Keep what the winner of a race whose end was kept should score."""
        if self._journal is None or estimate is None or self._ended is None:
            return
        # Another record of the end: readers put them together.
        values = {name: getattr(estimate, name) for name in ESTIMATED}
        fields = {"reason": self._ended, "estimate": values | {"winner": winner}}
        with self._lock:
            self._append("end", fields, lasts=True)

    def close(self) -> None:
        """Save what is left and close the file; a second time does no harm."""
        # First, and outside the lock: the thread may be waiting for it or for the disk.
        self._later.stop()
        with self._lock:
            if self._journal is not None:
                self._save()
                self._sync()
                # Given up first: its number may be another file's when it is closed.
                journal, self._journal = self._journal, None
                # Some disks tell only now that they are full.
                self._try(journal.close)

    # Saving -------------------------------------------------------------------------

    @property
    def _under_way(self) -> list[UnderWay]:
        """Looks under way of which something is not saved."""
        alone = [] if self._alone is None else [self._alone]
        return [one for one in (*alone, *self._beside.values()) if one.outcomes]

    @property
    def _has_unsaved(self) -> bool:
        return bool(self._waiting or self._begin is not None or self._under_way)

    @property
    def _n_bytes(self) -> int:
        return sum(one.n_bytes for one in self._under_way)

    def _now(self) -> float:
        return self.spent + self._seconds()

    def _save_in_time(self, ranked: bool = True) -> None:
        """Save now, or as soon as the share of the time allows."""
        unsaved = self._under_way
        wait = self._writes.wait(sum(one.n_bytes for one in unsaved))
        others = self._waiting or self._begin is not None
        # What is done is about to be a finished look, of which less is kept.
        is_done = not others and all(one.is_complete for one in unsaved)
        if wait <= 0 and not is_done:
            self._save(ranked)
            self._sync_later()
        else:
            # Until then groups need not ask. The next one may take hours.
            self._not_before = self._writes.now() + wait
            self._later.within(max(wait, LATE_SECONDS))

    def _sync_later(self) -> None:
        """Have a thread wait for the disk as soon as the share of the time allows."""
        if self._journal is not None and not self._journal.is_synced:
            self._later.within(max(self._syncs.wait(), LATE_SECONDS))

    def _save_late(self) -> None:
        with self._lock:
            # It may have been woken for the disk, or others have saved meanwhile.
            if (wait := self._writes.wait(self._n_bytes)) <= 0:
                # The race alone asks a strategy: it may remember what it is asked.
                self._save(ranked=False)
            elif self._has_unsaved:
                self._later.within(wait)
            journal = self._journal
            if journal is None or journal.is_synced:
                return
            if self._syncs.wait() > 0:
                self._sync_later()
                return
        # Without the lock, so that the race does not wait for the disk.
        with self._syncs.saving():
            self._try(partial(journal.sync, self._lock))

    def _save(self, ranked: bool = True) -> bool:
        """Write what is not on disk yet, in order; what fails waits for the next time.

        Records without those before them would tell nothing.
        """
        if self._journal is None:
            return False
        self._not_before = 0.0
        with self._writes.saving(self._n_bytes):
            return (
                self._save_begin() and self._save_looks(ranked) and self._save_groups()
            )

    def _save_begin(self) -> bool:
        if self._begin is not None and self._append("begin", self._begin, lasts=True):
            self._begin = None
        return self._begin is None

    def _save_looks(self, ranked: bool) -> bool:
        if not self._waiting:
            return True
        # A copy, since rows count as told only once the record is written.
        book, last = self._book.copy(), self._waiting[-1]
        looks = [one.told(book, ranked and one is last) for one in self._waiting]
        fields = {"looks": looks, "number": self._waiting[0].state.n_looks}
        if not self._append("looks", fields, lasts=True):
            return False
        self._book, self._waiting = book, []
        if self._journal is not None:
            tickets = {one.ticket for one in self._beside.values()}
            self._journal.tidy(tickets | self._earlier.tickets)
        return True

    def _save_groups(self) -> bool:
        for one in self._under_way:
            fields = one.record(self._n_looks + 1, self._joined)
            if not self._append(PASSING, fields, lasts=False):
                return False
            one.saved()
        return True

    def _sync(self) -> None:
        if self._journal is not None and not self._journal.is_synced:
            with self._syncs.saving():
                self._try(self._journal.sync)

    def _append(self, kind: str, fields: dict[str, Any], lasts: bool) -> bool:
        assert self._journal is not None
        fields = {"spent": self._now(), **fields}
        return self._try(partial(self._journal.append, kind, fields, lasts=lasts))

    def _try(self, what: Callable[[], None]) -> bool:
        """Do something with the file; if that fails, say so once."""
        try:
            what()
        except OSError as error:
            with self._lock:
                warned, self._warned = self._warned, True
            if not warned:
                warnings.warn(
                    f"checkpoint='{self._path}' cannot be written any more: "
                    f"{error.strerror or error}. The race goes on without it, and "
                    "tries again later.",
                    CheckpointWarning,
                    stacklevel=users_line(),
                )
            return False
        return True


@dataclass(frozen=True)
class Ended(Limit):
    """A race that is over, for the reason it had.

    Parameters
    ----------
    decider : Decider
        What decided.
    reason : str
        Why it is over.
    """

    reason: str

    def stop_reason(self, state: RaceState) -> str | None:
        """Return the reason."""
        del state
        return self.reason
