"""Step 3 of the race: stop once the survivors behave alike (Algorithm 4)."""

from __future__ import annotations

from dataclasses import dataclass

from cvst._typing import BoolArray
from cvst.statistics import cochran_q_test

__all__ = ["NeverStop", "SimilarTraces"]


@dataclass(frozen=True, slots=True)
class SimilarTraces:
    """Stop when Cochran's test sees no difference in the last columns of the traces.

    Parameters
    ----------
    window : int
        Number of last steps to compare; below 2 the rule never stops a race.
    level : float
        Significance level; 1 and above never stops a race.
    within_window : bool
        Test from step ``window`` on, as soon as a window is full, instead of from
        the step after.

    Examples
    --------
    >>> import numpy as np
    >>> rule = SimilarTraces(window=3, level=0.05)
    >>> rule.should_stop(np.ones((5, 3), dtype=bool))
    False
    >>> rule.should_stop(np.ones((5, 4), dtype=bool))
    True
    """

    window: int
    level: float
    within_window: bool = False

    @property
    def never_stops(self) -> bool:
        """Whether it is switched off."""
        return self.window < 2 or self.level >= 1

    def p_value(self, traces: BoolArray) -> float:
        """Return the p-value of the test on the last columns."""
        return cochran_q_test(traces[:, -self.window :]).p_value

    def should_stop(self, traces: BoolArray) -> bool:
        """Say whether the difference is gone."""
        # The paper leaves the steps before a full window open; the R package tests
        # from step window + 1 on, so that is the default.
        earliest = self.window if self.within_window else self.window + 1
        if self.never_stops or traces.shape[1] < earliest:
            return False
        # Algorithm 4 as printed stops on a significant difference. Section 4.3 and
        # the authors' R package stop once the difference is gone, and so do we.
        return self.p_value(traces) > self.level


@dataclass(frozen=True, slots=True)
class NeverStop:
    """Run all steps."""

    def should_stop(self, traces: BoolArray) -> bool:  # noqa: ARG002 - the protocol's
        """Return False."""
        return False
