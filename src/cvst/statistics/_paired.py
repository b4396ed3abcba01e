"""Paired test of an excess in mean loss, safe when few rows carry the difference.

The mean loss decides a race, so the natural contrast with the leader is Student's
paired t. But the gain of a configuration may sit in one row of a hundred: slightly
worse almost everywhere, much better at a few peaks. If the sample holds too few peaks
by chance, its mean *and* its variance are off, and at the level 0.05 / 609 the plain t
rejects a configuration as good as the leader a hundred times too often.

Three things are done about it, each a closed formula on the differences, loss minus the
leader's loss:

- *Skewness.* Hall's monotone cubic takes the skewness out of t, as far as it favours
  rejection, and the degrees of freedom are the number of rows that carry the variance.
- *Rows not seen.* Let g be the largest gain to be reckoned with: the largest one in the
  sample, times its ratio to the tenth largest or to the usual difference. If there were
  no excess in truth, (total excess) / g such rows should have come beyond those seen;
  that none came is as likely as a Poisson count of zero.
- *Handfuls.* The p-value never falls below that of as many heads in a row as there are
  rows that matter.

The p-value is the largest of the three. Simulated sizes at 0.05 / 609, where one row in
a hundred gains, noise is 0.3 to 10 times the usual loss of the others, and the true
excess is zero, in multiples of that level:

=========================  =========  ===========  ===========
gains                      plain t    1000 rows    2000 rows
=========================  =========  ===========  ===========
all equal                  4 to 120   0.1 to 0.5   0.0
log-normal, sigma 0.5      7 to 220   0.4 to 0.5   0.0
log-normal, sigma 1        25 to 700  1 to 4       0 to 1.4
log-normal, sigma 1.5      over 100   7 to 50      1 to 20
=========================  =========  ===========  ===========

What no test can guard against is the sample without any trace of the gains: a share q
of the rows is missing from n rows with probability (1 - q)^n, which for one row in a
hundred is half that level with 1000 rows and four times that level with 800.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from cvst._typing import BoolArray, FloatArray
from cvst.statistics._namespace import (
    fetched,
    largest_of_rows,
    namespace_of,
    smallest_of_rows,
)
from cvst.statistics._tables import as_losses

__all__ = ["paired_excess_test"]

# The tail of gains is judged by this many rows (at most a quarter of all). More would
# call ordinary tails dangerous, fewer would take a handful of peaks for an ordinary
# tail: measured on two-point and log-normal gains against squared normal errors.
N_TAIL_ROWS = 10

# Less than this share of the largest difference is nothing but rounding.
SAME = 1e-13


def paired_excess_test(differences: Any, *, guard: bool = True) -> FloatArray:
    """Test for each configuration whether its mean loss exceeds the leader's.

    Parameters
    ----------
    differences : array-like of shape (n_configurations, n_points)
        Loss minus the leader's loss on the same point. Their unit does not matter. An
        infinite difference counts as much as the largest finite one of its row; NaN is
        refused. A tensor of torch, or an array of another library with the array API,
        is summed up where it is.
    guard : bool, default=True
        False gives Student's one-sided paired t.

    Returns
    -------
    ndarray of shape (n_configurations,)
        One-sided p-values; 1 if there is no excess, as for the leader itself.

    Examples
    --------
    A clear excess is found with and without the guard:

    >>> rng = np.random.default_rng(0)
    >>> excess = rng.normal(0.3, 1.0, (1, 800))
    >>> paired_excess_test(excess) < 0.001
    array([ True])
    >>> paired_excess_test(excess, guard=False) < 0.001
    array([ True])

    One that depends on how many of the peaks were seen is not trusted:

    >>> peaks = np.ones((1, 800))
    >>> peaks[0, :2] = -99
    >>> paired_excess_test(peaks) < 0.05
    array([False])
    >>> paired_excess_test(peaks, guard=False) < 0.001
    array([ True])
    """
    table = in_units_of_the_largest(as_losses(differences))
    if 0 in table.shape:
        return np.ones(int(table.shape[0]))
    rows = _summed_up(table)
    has_excess = rows.total > 0
    p_values = np.ones(len(rows.total))
    excess = rows.at(has_excess)
    if not guard:
        p_values[has_excess] = _student(excess)
    elif has_excess.any():
        p_values[has_excess] = np.maximum.reduce(
            [_skewed_student(excess), _missed_gains(excess), _handful(excess)]
        )
    return p_values


def in_units_of_the_largest(differences: Any) -> Any:
    """Scale each row to at most 1, so that no power of it over- or underflows."""
    xp = namespace_of(differences)
    sizes = xp.abs(differences)
    finite = xp.where(xp.isfinite(sizes), sizes, 0.0)
    largest = largest_of_rows(finite)
    largest = xp.where(largest == 0, 1.0, largest)
    return xp.clip(differences / largest[:, None], -1.0, 1.0)


class _Rows(NamedTuple):
    """What the tests need of the rows: their length, and an array of NumPy each.

    Attributes
    ----------
    n_points : int
        Number of points.
    total, mean : ndarray of shape (n_rows,)
        Sum and mean of the differences.
    second, third, fourth : ndarray of shape (n_rows,)
        Sums of powers of their distances to the mean.
    size, square : ndarray of shape (n_rows,)
        Sums of their absolute values and of their squares.
    least, tail : ndarray of shape (n_rows,)
        The smallest difference, and the last of the smallest few.
    """

    n_points: int
    total: FloatArray
    mean: FloatArray
    second: FloatArray
    third: FloatArray
    fourth: FloatArray
    size: FloatArray
    square: FloatArray
    least: FloatArray
    tail: FloatArray

    def at(self, chosen: BoolArray) -> _Rows:
        """Return some of the rows."""
        if chosen.all():
            return self
        return _Rows(self.n_points, *(values[chosen] for values in self[1:]))


def _summed_up(table: Any) -> _Rows:
    """Go through the table where it is, and return sums of its rows on the host."""
    xp, n_points = namespace_of(table), int(table.shape[1])
    mean = xp.mean(table, axis=1)
    centred = table - mean[:, None]
    squares = centred**2
    sizes = xp.abs(table)
    n_tail = min(N_TAIL_ROWS, max(1, n_points // 4))
    columns = fetched(
        xp.sum(table, axis=1),
        mean,
        xp.sum(squares, axis=1),
        xp.sum(squares * centred, axis=1),
        xp.sum(squares**2, axis=1),
        xp.sum(sizes, axis=1),
        xp.sum(sizes**2, axis=1),
        *smallest_of_rows(table, n_tail),
    )
    return _Rows(n_points, *columns)


def _student(excess: _Rows) -> FloatArray:
    n_points = excess.n_points
    if n_points < 2:
        return np.ones(len(excess.total))
    with np.errstate(divide="ignore"):  # no spread at all: t is infinite and p is 0
        spread = np.sqrt(excess.second / (n_points - 1))
        t = np.sqrt(n_points) * excess.mean / spread
    p_values: FloatArray = stdtr(n_points - 1, -t)
    return p_values


def _skewed_student(excess: _Rows) -> FloatArray:
    """Return the p-value of Hall's transformed t with effective degrees of freedom."""
    n_points = excess.n_points
    p_values = np.zeros(len(excess.total))
    # Differences that are all equal have no spread; `_handful` says what that is worth.
    spread = excess.second > n_points * SAME**2
    _, _, mean, second, third, fourth = excess.at(spread)[:6]
    t = mean * np.sqrt(n_points * max(n_points - 1, 1) / second)
    # Skewness over sqrt(n). Gains make it negative and t too large; losses err on the
    # safe side and are left alone.
    skew = np.minimum(third / second**1.5, 0.0)
    corrected = t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6
    # Far out the cube overshoots; a correction for gains must not add evidence.
    t = np.minimum(t, corrected)
    # As many rows of equal size would give the same variance and fourth moment: n / 3
    # for normal differences, k if k of them stand out.
    p_values[spread] = stdtr(second**2 / fourth, -t)
    return p_values


def _missed_gains(excess: _Rows) -> FloatArray:
    """Return the chance that rows with gains which even out the excess were missed."""
    largest_gain = np.maximum(-excess.least, 0.0)
    # What a gain is held against: the last gain of the tail or the typical difference,
    # weighted by itself so that rows without any difference do not count.
    usual_size = excess.square / excess.size
    usual_gain = np.maximum(-excess.tail, usual_size)
    possible_gain = largest_gain * np.maximum(largest_gain / usual_gain, 1.0)
    n_missed = np.full(len(largest_gain), np.inf)
    np.divide(excess.total, possible_gain, out=n_missed, where=possible_gain > SAME)
    chances: FloatArray = np.exp(-n_missed)
    return chances


def _handful(excess: _Rows) -> FloatArray:
    """Return the chance that all rows that matter agree in sign.

    Differences of equal size count one each, and negligible ones nothing.
    """
    n_rows = excess.size**2 / excess.square
    chances: FloatArray = 0.5**n_rows
    return chances
