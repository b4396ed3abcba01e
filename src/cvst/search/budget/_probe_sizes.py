"""On how many rows fits are timed before a race."""

from __future__ import annotations

import numpy as np

from cvst.race import Look, Problem

__all__ = ["probe_look", "probe_sizes"]

# Rows of the first look timed: those that the family needs, or a share of all, but not
# too many.
FIRST_SHARE, LARGEST_FIRST = 0.05, 1000

# Share of the rows that the last may have.
LARGEST_PROBE = 0.8


def probe_sizes(problem: Problem, smallest: int) -> list[int]:
    """Return sizes that double, from about the smallest up to most of the rows."""
    largest = max(2, int(LARGEST_PROBE * problem.n_samples))
    share = max(smallest, min(int(FIRST_SHARE * largest), LARGEST_FIRST))
    sizes = [min(share, max(2, largest // 2))]
    while 2 * sizes[-1] <= largest:
        sizes.append(2 * sizes[-1])
    cuts = [problem.cut(size) for size in sizes]
    # Groups may move several cuts to the same place, or to the very end.
    inside = {cut for cut in cuts if 0 < cut < problem.n_samples}
    if not inside:
        # Two rows, or a few large groups: wherever they can be cut at all.
        cuts = [problem.cut(size) for size in (1, problem.n_samples - 1)]
        inside = {cut for cut in cuts if 0 < cut < problem.n_samples}
    return sorted(inside)


def probe_look(problem: Problem, n_train: int, members: list[int], n_test: int) -> Look:
    """Return a look with about this many test rows, no fewer than are trained on."""
    train, test = problem.prefix(n_train)
    assert isinstance(test, slice)
    n_test = min(test.stop - test.start, max(n_test, n_train))
    rows = slice(test.start, test.start + n_test)
    configurations = np.array(sorted(members), dtype=np.intp)
    # That fits fail is the business of the race.
    return Look(train, rows, n_train, configurations, stage="probe", may_fail=True)
