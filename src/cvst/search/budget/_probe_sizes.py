"""On how many rows fits are timed before a race."""

from __future__ import annotations

from cvst.race import Problem

__all__ = ["probe_sizes"]

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
