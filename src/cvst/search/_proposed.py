"""What a search that proposes configurations will do with a time budget."""

from __future__ import annotations

from cvst.race import PlannedLook, Problem
from cvst.search.budget import CostModel

__all__ = ["proposed_within"]

# Most of the time new configurations are looked at; in the rest the best are confirmed.
SCREENING = 0.7

# The best third goes on to four times the rows, and so on.
PROMOTED, MORE_ROWS = 1 / 3, 4

# Proposals may be dearer or cheaper than those known before, and need not share as
# much work.
DOUBT = 2.0


def proposed_within(
    model: CostModel,
    problem: Problem,
    look: PlannedLook,
    seconds: float,
    refit_seconds: float,
) -> tuple[int, int]:
    """Return how many configurations a budget will be enough for: at least, at most.

    Parameters
    ----------
    model : CostModel
        What looks cost.
    problem : Problem
        The race to come.
    look : PlannedLook
        Its first look.
    seconds : float
        The budget, final fit included.
    refit_seconds : float
        Of the final fit.

    Examples
    --------
    >>> from cvst.theory import PowerCurve
    >>> fit, free = PowerCurve(0.0, 0.001, 1.0), PowerCurve(0.0, 0.0, 1.0)
    >>> look = PlannedLook("warm up", 100, 100, 1)
    >>> one = CostModel(fit, free, fit)
    >>> proposed_within(one, Problem(9, 400), look, seconds=24.0, refit_seconds=0.4)
    (41, 165)
    """
    each, share, n_train = 0.0, 1.0, look.n_train
    largest = max(n_train, problem.n_samples - look.n_test)
    count = look.max_configurations
    while True:
        each += share * model.look(n_train, look.n_test, count) / count
        if n_train >= largest:
            break
        share, n_train = PROMOTED * share, min(MORE_ROWS * n_train, largest)
    left = max(0.0, SCREENING * (seconds - refit_seconds))
    low, high = model.doubt(look.n_train)
    about = left / max(each, 1e-9)
    # The first look comes whatever it takes.
    fewest = max(count, round(about / max(high, DOUBT)))
    return fewest, max(fewest, round(about * max(1 / low, DOUBT)))
