"""A look that is over, and what the strategy makes of the race by then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cvst._typing import Configuration
from cvst.race import RaceState
from cvst.search._setup import Setup
from cvst.search.checkpoint._story import RowBook, told, told_look

__all__ = ["Finished", "ranked_now"]


@dataclass(frozen=True, slots=True)
class Finished:
    """A look that waits to be saved: the last of a state."""

    setup: Setup
    state: RaceState
    joined: list[Configuration]
    # Where it looked, if others were under way beside it.
    place: str | None = None

    def told(self, book: RowBook, ranked: bool) -> dict[str, Any]:
        """Return the look, and what is to be read of it later."""
        setup, seen = self.setup, self.state.observations[-1]
        values = told(seen)
        look = told_look(values.pop("look"), book)
        facts: dict[str, Any] = {"joined": self.joined}
        if self.place is not None:
            facts["place"] = self.place
        if setup.source.keep_losses:
            facts["pointwise"] = setup.source.kept[self.state.n_looks - 1][1]
        if ranked:
            # Once for each save: a strategy may take longer for it than a disk.
            facts |= ranked_now(setup, self.state)
        return {"look": look, "seen": values, **facts}


def ranked_now(setup: Setup, state: RaceState) -> dict[str, Any]:
    """Return what the strategy makes of the race so far."""
    if not state.observations:
        return {}
    return {
        "ranking": np.asarray(setup.strategy.ranking(state)),
        "criterion": setup.strategy.criterion(state),
        "by_mean": setup.strategy.ranks_by_mean(state),
    }
