"""Looks under way: what is done of them, now and by a run that was broken off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from cvst._typing import Configuration
from cvst.race import Look
from cvst.search.checkpoint._digest import digest
from cvst.search.checkpoint._story import Group, told

__all__ = ["EarlierGroups", "UnderWay", "short"]

# One configuration on its way to the file: a dict of its fields.
Told: TypeAlias = dict[str, Any]


@dataclass
class UnderWay:
    """What is done of a look that is not over, as far as it is not saved yet.

    Parameters
    ----------
    look : Look
        The look.
    ticket : int or None
        Tells looks that overlap from each other in the file; None for one that is
        alone.
    """

    look: Look
    ticket: int | None = None

    def __post_init__(self) -> None:
        self.done: set[int] = set()
        # As they came: those of an earlier run are told already.
        self.outcomes: list[Any] = []
        self.groups: list[list[int]] = []
        self.n_bytes = 0
        self.is_told = False
        # Whether the file has groups of it that are of no use once it is over.
        self.in_file = False

    @cached_property
    def place(self) -> str:
        """What its results depend on, besides the groups: rows and rounds."""
        look = self.look
        return digest((look.train, look.test, look.n_train, look.rounds))

    @property
    def is_complete(self) -> bool:
        """Whether all its configurations are done."""
        return len(self.done) == len(self.look.configurations)

    def add(self, group: Sequence[Any]) -> None:
        """Take results of configurations that were worked on together."""
        # Told when they are saved: most looks are over before, and are told as such.
        self._take([one.configuration for one in group], group)
        for one in group:
            self.n_bytes += _bytes_of(one.losses) + _bytes_of(one.residuals)

    def add_earlier(self, group: Sequence[Told]) -> None:
        """Take a group that the file has as one of a look that was broken off."""
        self.in_file = True
        fresh = [one for one in group if one["configuration"] not in self.done]
        if fresh:
            self._take([int(one["configuration"]) for one in fresh], fresh)
            values = (value for one in fresh for value in one.values())
            self.n_bytes += sum(map(_bytes_of, values))

    def _take(self, numbers: list[int], outcomes: Sequence[Any]) -> None:
        self.done.update(numbers)
        self.groups.append(sorted(numbers))
        self.outcomes += outcomes

    def go_on(self, outcomes: Sequence[Told]) -> None:
        """Hear what the file has of this very look."""
        self.done.update(int(one["configuration"]) for one in outcomes)
        self.is_told = True

    def record(self, number: int, joined: Sequence[Configuration]) -> dict[str, Any]:
        """Return the fields of a record that tells what is not saved yet.

        Parameters
        ----------
        number : int
            Number of the look, if it is alone.
        joined : sequence of dict
            Configurations that have joined since the last look that is over.
        """
        outcomes = [
            one if type(one) is dict else _told_outcome(one) for one in self.outcomes
        ]
        fields: dict[str, Any] = {"outcomes": outcomes}
        if self.ticket is None:
            fields["number"] = number
        else:
            fields |= {
                "ticket": self.ticket,
                "place": self.place,
                "groups": self.groups,
                "n_configurations": len(self.look.configurations),
            }
        if self.is_told:
            return fields
        look = {"look": short(self.look)} if self.ticket is None else {}
        return fields | look | {"joined": list(joined)}

    def saved(self) -> None:
        """Hear that what was not saved is."""
        self.outcomes, self.groups, self.n_bytes, self.is_told = [], [], 0, True
        self.in_file = self.in_file or self.ticket is not None


class EarlierGroups:
    """Groups of looks that overlapped when a race was broken off.

    Which looks come next is decided anew, by the time that is left. A group that is
    asked for again on the same rows need not be done again: what it answers depends on
    nothing else.

    Parameters
    ----------
    groups : mapping
        The groups, by place and members.
    """

    def __init__(self, groups: Mapping[tuple[str, tuple[int, ...]], Group]) -> None:
        self._groups = dict(groups)

    def __bool__(self) -> bool:
        return bool(self._groups)

    @property
    def tickets(self) -> set[int]:
        """Tickets of the looks they are of."""
        return {one.ticket for one in self._groups.values()}

    def take(self, place: str, groups: Iterable[Sequence[int]]) -> list[list[Told]]:
        """Return what is known of some groups at a place, and forget it."""
        keys = [(place, tuple(sorted(group))) for group in groups]
        return [self._groups.pop(key).outcomes for key in keys if key in self._groups]

    def forget(self) -> None:
        """Forget all of them."""
        self._groups.clear()


def _told_outcome(outcome: Any) -> Told:
    """Return the fields of a result that are kept."""
    fields = told(outcome)
    # Errors of other scores cannot be kept, and they and the notes have been told.
    for name in ("other_errors", "notes"):
        fields.pop(name, None)
    return fields


def short(look: Look) -> dict[str, Any]:
    """Return what tells a look from others, without its rows."""
    rows = digest((look.train, look.test))
    return told(replace(look, train=slice(0), test=slice(0))) | {"rows": rows}


def _bytes_of(value: Any) -> int:
    """Return about how many bytes a value takes in the file."""
    return int(getattr(value, "nbytes", 0))
