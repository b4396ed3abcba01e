"""From names to proposers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cvst.exceptions import InvalidInputError
from cvst.proposals._auto import AutoProposer
from cvst.proposals._forest import ForestProposer
from cvst.proposals._gaussian import GaussianProposer
from cvst.proposals._local import LocalProposer
from cvst.proposals._parzen import ParzenProposer
from cvst.proposals._protocol import Proposer
from cvst.proposals._random import RandomProposer

__all__ = ["resolve_proposer"]

PROPOSERS: dict[str, Callable[[], Proposer]] = {
    "auto": AutoProposer,
    "forest": ForestProposer,
    "gaussian": GaussianProposer,
    "local": LocalProposer,
    "parzen": ParzenProposer,
    "random": RandomProposer,
}


def resolve_proposer(proposer: Any) -> Proposer:
    """Return the proposer of a name, or the object itself if it can propose.

    Examples
    --------
    >>> resolve_proposer("random")
    RandomProposer()
    """
    if isinstance(proposer, str) and proposer in PROPOSERS:
        return PROPOSERS[proposer]()
    # A class has the method too, but nothing to call it on.
    if isinstance(proposer, Proposer) and not isinstance(proposer, type):
        return proposer
    names = ", ".join(repr(name) for name in PROPOSERS)
    raise InvalidInputError(
        f"proposer={proposer!r} is not known. Pass one of {names}, or an object with a "
        "method propose."
    )
