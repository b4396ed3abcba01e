"""How long a final fit takes, from fits like it, before a budget is refused for it.

What looks say of it is a product of guesses: how a mean fit grows, how much longer one
takes alone, and what others that use the machine did to both. On a busy machine, and
from fits of milliseconds, each may be far off, and so a budget that would do seemed to
be an hour too short. Fits made as the final one is, on more and more rows, have no such
factors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cvst.search._setup import Setup
from cvst.search.budget._growth import Growth
from cvst.search.budget._model import CostModel
from cvst.search.budget._probe_sizes import probe_sizes
from cvst.search.budget._watch import Seconds, Watch
from cvst.theory import PowerCurve

__all__ = ["FinalFit", "timed_final_fit"]

# By what share a few processor seconds differ when they are taken again.
NOISE = 0.3

# Others are not believed to slow a final fit down by more than that.
MOST_CROWDED = 5.0


class FinalFit(NamedTuple):
    """Seconds of such a fit: at least, if nothing is in its way; and probably."""

    least: PowerCurve
    likely: PowerCurve

    def corrected(self, model: CostModel) -> CostModel:
        """Return a model whose fits probably cost what these did.

        Examples
        --------
        >>> wild, line = PowerCurve(0.0, 1.0, 3.0), PowerCurve(0.0, 2.0, 1.0)
        >>> model = CostModel(wild, wild, wild.scaled(4.0), largest_probe=10)
        >>> model = FinalFit(line, line).corrected(model)
        >>> model.alone(100), model.fit(100)
        (200.0, 50.0)
        """
        n_rows = model.largest_probe
        # In a look it takes no longer than alone: there it may share its work.
        shared = model.fit(n_rows) / max(model.alone(n_rows), 1e-12)
        fit = self.likely.scaled(min(1.0, shared))
        return replace(model, fit=fit, alone=self.likely)


def timed_final_fit(
    setup: Setup,
    index: int,
    growth: Growth,
    seconds: float,
    clock: Callable[[], float],
) -> FinalFit | None:
    """Time fits of one configuration on more and more rows; None if they fail.

    Parameters
    ----------
    setup : Setup
        The race to come.
    index : int
        Which configuration is fitted.
    growth : Growth
        How steeply its cost can grow with the rows.
    seconds : float
        What this may take; one fit is made in any case.
    clock : callable
        Returns seconds.
    """
    watch = Watch(setup.source, clock)
    start = clock()
    seen: dict[int, Seconds] = {}
    for size in probe_sizes(setup.problem, growth.n_rows):
        if seen:
            last = max(seen)
            next_one = seen[last].wall * (size / last) ** growth.usual
            if clock() - start + next_one > seconds:
                break
        try:
            seen[size] = watch.fit_alone(index, size)
        except Exception:
            # The race has its own way with fits that fail.
            return None
    return _forecast(seen, setup.problem.refit_rows, growth)


def _forecast(seen: dict[int, Seconds], n_rows: int, growth: Growth) -> FinalFit:
    """Return what such fits say of others; the least of those on all rows.

    How they grow is told by the seconds of the processor, and how crowded it was by
    the sums: of one short fit it is chance.

    Examples
    --------
    >>> times = {n: Seconds(5e-6 * n**2, 1e-6 * n**2, True) for n in (200, 400, 800)}
    >>> least, likely = _forecast(times, 8000, Growth(1.0, 2.0, 3.0))
    >>> least(8000) <= 64 <= likely(8000) < 1000
    True
    """
    work = [one.undisturbed for one in seen.values()]
    curves = PowerCurve.plausible(
        list(seen),
        # More rows take no less: what took longer than a larger fit was disturbed.
        np.minimum.accumulate(work[::-1])[::-1],
        growth.steepest,
        growth.flattest,
        growth.usual,
        NOISE,
        growth.spread,
    )
    crowded = sum(one.wall for one in seen.values()) / max(sum(work), 1e-9)
    likely = curves[0].scaled(float(np.clip(crowded, 1.0, MOST_CROWDED)))
    return FinalFit(min(curves, key=lambda curve: curve(n_rows)), likely)
