"""How many of those that track and confirm may look at probably take part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cvst.race._planned import PlannedLook, Prospect

__all__ = ["CLIMB", "CONFIRM", "FINAL", "FIRST", "LATE", "with_prospects"]

# Names of the stages; a climb has a number besides.
FIRST, LATE, CONFIRM, FINAL = "first look", "late look", "confirm", "final"
CLIMB = "climb"

# Shares of the most that can take part, look by look. Counted in races of 4 to 100
# configurations of trees, kernel machines, linear models and boosting: most fall in the
# first folds, and few races climb.
SHARES = {
    FIRST: (1.0,),
    LATE: (0.55,),
    CONFIRM: (0.65, 0.5, 0.35),
    CLIMB: (0.15,),
    FINAL: (1.0, 0.9, 0.85),
}


def with_prospects(kind: str, looks: Sequence[PlannedLook]) -> tuple[PlannedLook, ...]:
    """Return the looks of a stage with what was counted; as they are if nothing was.

    Parameters
    ----------
    kind : str
        Name of the stage without a number.
    looks : sequence of PlannedLook
        All looks of the stage.

    Examples
    --------
    >>> looks = [PlannedLook("final", 90, 10, 2)] * 4
    >>> [look.prospect.share for look in with_prospects("final", looks)]
    [1.0, 0.9, 0.85, 0.85]
    """
    shares = SHARES.get(kind)
    if shares is None:
        return tuple(looks)
    places = (min(place, len(shares) - 1) for place in range(len(looks)))
    return tuple(
        replace(
            look,
            prospect=Prospect(
                shares[place],
                by_tests=kind == CONFIRM,
                rare=kind == CLIMB,
                several=kind == FINAL,
            ),
        )
        for look, place in zip(looks, places, strict=True)
    )
