"""What the records of a checkpoint tell: the looks, and the one that was under way.

Everything is told under the names of the fields of the library's own dataclasses, so a
field that is added there is kept without a change here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from cvst._typing import Configuration, FloatArray, IntArray, Rows
from cvst.exceptions import CheckpointError
from cvst.race import Look, Observation
from cvst.race.machinery import BitTable, compact
from cvst.search.checkpoint._checks import (
    check_begin,
    check_group,
    check_look,
    check_observation,
    check_pointwise,
    check_rows,
)
from cvst.search.checkpoint._digest import digest
from cvst.search.checkpoint._records import Record
from cvst.search.checkpoint._values import unpacked

__all__ = ["ESTIMATED", "WRONG", "Group", "RowBook", "Story", "told", "told_look"]

# What is kept of the estimate of the winner's score.
ESTIMATED = (
    "value",
    "low",
    "high",
    "level",
    "optimism",
    "growth",
    "n_configurations",
    "method",
)

# What values that cvst has not written may lead to.
WRONG = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


def told(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that say anything; errors are told as text."""
    values = {name: getattr(value, name) for name in _names(type(value))}
    return {
        name: one if type(one) in SAYING else _unpacked(one)
        for name, one in values.items()
        if type(one) in SAYING or _says_something(one)
    }


# Names of the fields of each type, since to ask for them takes longer than the rest.
NAMES: dict[type, tuple[str, ...]] = {}


def _names(kind: Any) -> tuple[str, ...]:
    if kind not in NAMES:
        NAMES[kind] = tuple(one.name for one in fields(kind))
    return NAMES[kind]


# Most values, of which nothing has to be asked.
SAYING = frozenset({float, int, bool, np.ndarray, slice})


def _says_something(value: Any) -> bool:
    if value is None or isinstance(value, Exception):
        return False
    return not isinstance(value, str | Mapping) or bool(value)


def _unpacked(value: Any) -> Any:
    """Return losses that are kept as bits as an array, a byte for each where it can."""
    if not isinstance(value, BitTable):
        return value
    losses = np.asarray(value)
    return losses if np.isnan(losses).any() else losses == 1


class RowBook:
    """Numbers sets of rows, so that each is told once however many looks use it."""

    def __init__(self, numbers: Mapping[str, int] | None = None) -> None:
        self._numbers = dict(numbers or {})

    def copy(self) -> RowBook:
        """Return a book that can be written to on trial."""
        return RowBook(self._numbers)

    def told(self, rows: Rows) -> Any:
        """Return a slice as it is; an array with its number, or the number alone."""
        if isinstance(rows, slice):
            return rows
        key = digest(rows)
        if key in self._numbers:
            return {"number": self._numbers[key]}
        self._numbers[key] = len(self._numbers)
        return {"number": self._numbers[key], "rows": rows}


def told_look(look: Look, book: RowBook) -> dict[str, Any]:
    """Return the fields of a look, its rows by number."""
    rows = {"train": book.told(look.train), "test": book.told(look.test)}
    return told(look) | rows


@dataclass(frozen=True, slots=True)
class Group:
    """A group of configurations that was worked on in a look beside others.

    Attributes
    ----------
    ticket : int
        Tells that look from others.
    n_configurations : int
        How many that look has.
    outcomes : list of dict
        What is known, one for each configuration.
    """

    ticket: int
    n_configurations: int
    outcomes: list[dict[str, Any]]


@dataclass
class Story:
    """All that a checkpoint tells.

    Attributes
    ----------
    header : dict
        What it belongs to.
    begin : dict or None
        How the race began, None if it did not.
    looks : list of Observation
        The finished looks.
    facts : list of dict
        What else is known of each: configurations that joined, ranking, scores.
    outcomes : list of dict
        What is known of the look under way, one for each configuration that is done.
    under_way : dict or None
        That look.
    beside : dict
        What is known of looks under way that overlap, by place and members of a group.
    joined : list of dict
        Configurations that joined since the last finished look.
    spent : float
        Seconds from the beginning of the fit to the last record.
    end : str or None
        Why the race ended.
    rows : list of ndarray
        The sets of rows that were told.
    last_ticket : int
        The largest ticket of a look that others were beside.
    """

    header: dict[str, Any] = field(default_factory=dict)
    begin: dict[str, Any] | None = None
    looks: list[Observation] = field(default_factory=list)
    facts: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[dict[str, Any]] = field(default_factory=list)
    under_way: dict[str, Any] | None = None
    beside: dict[tuple[str, tuple[int, ...]], Group] = field(default_factory=dict)
    joined: list[Configuration] = field(default_factory=list)
    spent: float = 0.0
    end: str | None = None
    rows: list[IntArray] = field(default_factory=list)
    last_ticket: int = 0

    @classmethod
    def of(
        cls, path: Path, records: Iterable[Record], known: Mapping[str, Any]
    ) -> Story:
        """Read the records of a file.

        Raises
        ------
        CheckpointError
            If a record does not tell what it should.
        """
        story = cls()
        for number, record in enumerate(records, start=1):
            try:
                values = unpacked(record.fields, record.arrays, known)
                story._hear(record.kind, values)
            except WRONG as error:
                raise CheckpointError(
                    f"'{path}' is damaged: its record {number} ({record.kind}) cannot "
                    f"be understood ({type(error).__name__}: {error}). Name another "
                    "file to begin anew."
                ) from error
        return story

    @property
    def book(self) -> RowBook:
        """The rows that were told, by number."""
        return RowBook({digest(rows): n for n, rows in enumerate(self.rows)})

    @property
    def batches(self) -> list[list[Configuration]]:
        """Configurations that joined the race, in that order."""
        joined = [list(facts["joined"]) for facts in self.facts if facts["joined"]]
        return [*joined, self.joined] if self.joined else joined

    @property
    def kept(self) -> list[tuple[IntArray, FloatArray]]:
        """Pointwise losses of all looks, where they are to be returned."""
        return [
            (seen.look.configurations, facts["pointwise"])
            for seen, facts in zip(self.looks, self.facts, strict=True)
            if "pointwise" in facts
        ]

    def _hear(self, kind: str, values: dict[str, Any]) -> None:
        self.spent = float(values.get("spent", self.spent))
        match kind:
            case "header":
                self.header = values
            case "begin":
                check_begin(values)
                # A race that began anew with fewer forgets the first attempt.
                self.begin = values
                self.beside = {}
                self._turn_to_next()
            case "groups" if "ticket" in values:
                check_group(values)
                self._hear_beside(**values)
            case "groups":
                check_group(values)
                self._hear_groups(**values)
            case "looks":
                for one in values["looks"][self._n_heard(**values) :]:
                    self._hear_look(**one)
            case "end":
                self.end = str(values.pop("reason"))
                # A slice, since a race may have ended before its first look.
                self.facts[-1:] = [facts | values for facts in self.facts[-1:]]
            case _:
                raise ValueError(f"records of kind {kind!r} are not known")

    def _n_heard(self, number: int | None = None, **_: Any) -> int:
        """Return how many looks of a record are known, by the number of the first.

        Ctrl-C may come when a record is written and does not count yet: then the next
        one tells the same looks again.
        """
        n_heard = 0 if number is None else len(self.looks) + 1 - int(number)
        if n_heard < 0:
            raise ValueError(f"look {number} comes after look {len(self.looks)}")
        return n_heard

    def _hear_groups(
        self,
        number: int,
        outcomes: list[dict[str, Any]],
        look: dict[str, Any] | None = None,
        joined: list[Configuration] | None = None,
        **_: Any,
    ) -> None:
        # Groups of a look that is finished are of no use: its record came later.
        if number == len(self.looks) + 1:
            # The first record tells of the look; if one does so again, the look was
            # begun anew.
            if look is not None:
                self._turn_to_next()
                self.under_way, self.joined = look, joined or []
            known = {one["configuration"] for one in self.outcomes}
            self.outcomes += [
                one for one in outcomes if one["configuration"] not in known
            ]

    def _hear_beside(
        self,
        ticket: int,
        place: str,
        groups: list[list[int]],
        n_configurations: int,
        outcomes: list[dict[str, Any]],
        joined: list[Configuration] | None = None,
        **_: Any,
    ) -> None:
        by_number = {int(one["configuration"]): one for one in outcomes}
        for group in groups:
            members = tuple(int(number) for number in group)
            done = [by_number[number] for number in members]
            own = Group(int(ticket), int(n_configurations), done)
            self.beside[str(place), members] = own
        self.last_ticket = max(self.last_ticket, int(ticket))
        if joined is not None:
            self.joined = joined

    @property
    def n_under_way(self) -> tuple[int, int]:
        """Configurations that are done, and all, of the looks under way."""
        if self.under_way is not None:
            return len(self.outcomes), len(self.under_way["configurations"])
        looks = {one.ticket: one.n_configurations for one in self.beside.values()}
        done = sum(len(one.outcomes) for one in self.beside.values())
        return done, sum(looks.values())

    def _forget_groups(self, place: str, look: Look) -> None:
        """Forget groups of a look that is finished."""
        over = set(look.configurations.tolist())
        self.beside = {
            key: one
            for key, one in self.beside.items()
            if key[0] != place or not over.issuperset(key[1])
        }

    def _turn_to_next(self) -> None:
        self.outcomes, self.under_way, self.joined = [], None, []

    def _hear_look(
        self, look: dict[str, Any], seen: dict[str, Any], **facts: Any
    ) -> None:
        train, test = (self._read_rows(look.pop(name)) for name in ("train", "test"))
        check_look(look)
        check_observation(seen, look)
        check_pointwise(facts, look)
        whole = Look(train, test, **look)
        empty: dict[str, Any] = {"drops": {}, "failures": {}}
        if "losses" in seen:
            seen = seen | {"losses": compact(np.asarray(seen["losses"], dtype=float))}
        self.looks.append(Observation(look=whole, **empty | seen))
        if "place" in facts:
            self._forget_groups(str(facts.pop("place")), whole)
        self.facts.append({"joined": [], **facts})
        self._turn_to_next()

    def _read_rows(self, value: Any) -> Rows:
        if isinstance(value, slice):
            check_rows(value)
            return value
        if "rows" in value:
            check_rows(value["rows"])
            self.rows.append(value["rows"])
        rows: IntArray = self.rows[value["number"]]
        return rows
