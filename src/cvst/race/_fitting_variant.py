"""Which variant of a race a time budget buys: the one rule for searches and plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from cvst.race._strategy import Strategy

__all__ = ["fitting_variant"]

S = TypeVar("S", bound=Strategy)


def fitting_variant(
    groups: Iterable[Sequence[S]],
    seconds: float,
    *,
    cost: Callable[[S], float],
    n_looks: Callable[[S], int],
) -> S | None:
    """Return the variant with most looks that fits, of the first group with any.

    Parameters
    ----------
    groups : iterable of sequences of Strategy
        Variants in the order of :meth:`Strategy.variants`; a group is asked for only
        when none of those before it fits.
    seconds : float
        What the race may take.
    cost : callable
        Seconds of a variant until it can have dropped the losers and stopped early;
        should the survivors differ for longer, the clock ends the race.
    n_looks : callable
        Looks of a variant.

    Examples
    --------
    >>> from cvst.race import CVST
    >>> races = [CVST(max_steps=steps) for steps in (7, 8, 10)]
    >>> def steps(race):
    ...     return race.max_steps
    >>> fitting_variant([races], 9, cost=steps, n_looks=steps).max_steps
    8
    """
    for group in groups:
        fitting = [one for one in group if cost(one) <= seconds]
        if fitting:
            # More looks are safer: the bound on losing the winner falls with them.
            return max(fitting, key=n_looks)
    return None
