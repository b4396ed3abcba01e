"""The bound on memory that a user sets, in bytes, and whether a race can keep it."""

from __future__ import annotations

import re
from typing import Any

from cvst.exceptions import InvalidInputError
from cvst.race import PlannedLook, Problem, Strategy
from cvst.race.machinery import LOSS_BYTES

__all__ = ["bytes_of", "check_memory", "shared_room"]

UNITS = {"": 1, "b": 1} | {
    f"{prefix}{kind}": base**power
    for power, prefix in enumerate("kmgt", start=1)
    for kind, base in (("b", 1000), ("ib", 1024))
}

# Longer texts and larger numbers are not amounts of memory.
AMOUNT = re.compile(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*([a-z]{0,3})\s*", re.ASCII)

# Of the memory of a race, each kind of shared work may take this part: there are up to
# two at a time, and half is for the losses of a look.
SHARED_PART = 4


def bytes_of(max_memory: Any) -> int | None:
    """Return a number of bytes for one, or for a text such as ``"500MB"``.

    Examples
    --------
    >>> bytes_of("500MB"), bytes_of("1.5 GiB"), bytes_of(4096), bytes_of(None)
    (500000000, 1610612736, 4096, None)
    """
    if max_memory is None:
        return None
    if not isinstance(max_memory, str):
        return int(max_memory)
    amount = AMOUNT.fullmatch(max_memory.lower())
    n_bytes = 0
    if amount is not None and amount[2] in UNITS:
        n_bytes = int(float(amount[1]) * UNITS[amount[2]])
    if n_bytes < 1:
        raise InvalidInputError(
            f"max_memory={max_memory!r} is not an amount of memory. Give a number of "
            "bytes, or a text such as '500MB' or '2GiB'."
        )
    return n_bytes


def shared_room(max_memory: Any) -> int | None:
    """Return the bytes that each kind of shared work may keep; None for no bound."""
    n_bytes = bytes_of(max_memory)
    return None if n_bytes is None else n_bytes // SHARED_PART


def check_memory(max_memory: Any, strategy: Strategy, problem: Problem) -> None:
    """Refuse a bound that a look of the race cannot keep.

    Raises
    ------
    InvalidInputError
        With the least that would do.
    """
    if max_memory is None:
        return
    looks = strategy.planned_looks(problem)
    largest = max(looks, key=_n_losses, default=None)
    if largest is None or _n_losses(largest) <= problem.largest_look:
        return
    least = -(-2 * LOSS_BYTES * _n_losses(largest) // 1_000_000)
    raise InvalidInputError(
        f"max_memory={max_memory!r} is too little for a look ({largest.stage}) of "
        f"{largest.max_configurations:,} configurations at {largest.n_test:,} rows. "
        f"Set max_memory='{least}MB' or more, or race fewer configurations."
    )


def _n_losses(look: PlannedLook) -> int:
    return look.n_test * look.max_configurations
