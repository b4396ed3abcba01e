"""The search space as a strategy sees it: axes, levels and neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray

__all__ = ["Axis", "SearchSpace"]

# One axis alone would make every configuration a representative of its own level.
FEWEST_BINS = 20

# Values drawn at random have no levels: their ranks are cut into this many bins.
RANDOM_BINS = 10


@dataclass(frozen=True, slots=True)
class Axis:
    """One hyper-parameter.

    Attributes
    ----------
    name : str
        Its name.
    codes : ndarray of shape (n_configurations,), int
        Level of each configuration, -1 where it does not have this hyper-parameter.
        Levels of an ordered axis ascend with the value.
    ordered : bool
        Whether neighbouring levels have neighbouring values.
    covered : {"", "smaller", "all"}
        Whether one fit at some level serves the smaller ones too, or all of them;
        empty if every level takes a fit of its own.
    """

    name: str
    codes: IntArray
    ordered: bool
    covered: str = ""

    @property
    def n_levels(self) -> int:
        """Number of different values."""
        return int(self.codes.max()) + 1 if len(self.codes) else 0


@dataclass(frozen=True)
class SearchSpace:
    """Configurations as points on axes.

    Attributes
    ----------
    axes : tuple of Axis
        The hyper-parameters that vary.
    is_grid : bool
        Whether neighbours are found one level away; otherwise, for configurations
        drawn at random, by distance in rank space.

    Examples
    --------
    >>> codes = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1])
    >>> axes = Axis("gamma", codes[0], True), Axis("alpha", codes[1], True)
    >>> SearchSpace(axes).neighbours(0, 1)
    array([1, 2])
    """

    axes: tuple[Axis, ...]
    is_grid: bool = True

    @cached_property
    def codes(self) -> IntArray:
        """Levels of the configurations, with a row per axis; read-only."""
        codes = np.stack([axis.codes for axis in self.axes])
        codes.flags.writeable = False
        return codes

    @cached_property
    def fits(self) -> IntArray:
        """Number of the fit that each configuration shares with its siblings.

        Siblings differ only on axes that one fit covers. The array is read-only.
        """
        apart = self.codes[[not axis.covered for axis in self.axes]]
        fits = np.zeros(apart.shape[1], dtype=np.intp)
        if len(apart):
            fits[:] = np.unique(apart, axis=1, return_inverse=True)[1].ravel()
        fits.flags.writeable = False
        return fits

    @cached_property
    def n_fits(self) -> int:
        """How many fits serve all configurations once."""
        return int(self.fits.max()) + 1

    def with_siblings(self, chosen: IntArray) -> IntArray:
        """Return the chosen and all others that their fits serve too, ascending.

        Examples
        --------
        >>> rate, trees = np.divmod(np.arange(6), 3)
        >>> axes = Axis("rate", rate, True), Axis("trees", trees, True, "smaller")
        >>> SearchSpace(axes).with_siblings(np.array([1, 3]))
        array([0, 1, 3])
        """
        fits = self.fits
        served = np.isin(fits, fits[chosen])
        for axis in self.axes:
            if axis.covered == "smaller":
                largest = np.full(int(fits.max()) + 1, -1, dtype=np.intp)
                np.maximum.at(largest, fits[chosen], axis.codes[chosen])
                served &= axis.codes <= largest[fits]
        return np.union1d(np.flatnonzero(served), chosen).astype(np.intp)

    def most_neighbours(self, distance: int) -> int:
        """Return how many neighbours a configuration can have at most."""
        if not self.is_grid:
            return 2 * distance * len(self.axes)
        reaches = [self._reach(axis, distance) for axis in self.axes]
        return sum(
            min(2 * reach, axis.n_levels - 1)
            for axis, reach in zip(self.axes, reaches, strict=True)
        )

    def neighbours(self, index: int, distance: int) -> IntArray:
        """Return what differs on one ordered axis only, by at most that many levels.

        An axis of at most :data:`FEWEST_BINS` levels is coarse: on it only the next
        level counts, whatever the distance.
        """
        if not self.is_grid:
            return self._nearest(index, 2 * distance * len(self.axes))
        own = self.codes[:, [index]]
        gaps = np.abs(self.codes - own)
        reach = [[self._reach(axis, distance)] for axis in self.axes]
        # -1 marks a missing hyper-parameter, which neighbours no value.
        close = (gaps <= reach) & ((self.codes >= 0) == (own >= 0))
        one_axis = np.count_nonzero(gaps, axis=0) == 1
        return np.flatnonzero(one_axis & close.all(axis=0))

    def representatives(
        self, losses: FloatArray, allowed: BoolArray, n_bins: int | None = None
    ) -> IntArray:
        """Return the best configuration of each level (or bin of levels) of each axis.

        Parameters
        ----------
        losses : ndarray of shape (n_configurations,)
            Mean losses, NaN where unknown.
        allowed : ndarray of shape (n_configurations,), bool
            Which configurations may represent a level.
        n_bins : int or None
            Most bins of an ordered axis; None for one per level, or about the square
            root of all levels where there is one long axis only.
        """
        chosen: set[int] = set()
        ranked = np.where(np.isnan(losses) | ~allowed, np.inf, losses)
        # Stable, so that equal losses are resolved by the order of the grid.
        order = np.argsort(ranked, kind="stable")
        for axis in self.axes:
            bins = self._bins(axis, n_bins)[order]
            first = np.unique(bins, return_index=True)[1]
            best = order[first[bins[first] >= 0]]
            chosen.update(best[np.isfinite(ranked[best])].tolist())
        return np.array(sorted(chosen), dtype=np.intp)

    def _bins(self, axis: Axis, n_bins: int | None) -> IntArray:
        """Return levels, merged where there are too many of them."""
        if n_bins is None:
            n_bins = axis.n_levels
            if not self.is_grid:
                n_bins = RANDOM_BINS
            elif len(self.axes) == 1:
                n_bins = max(FEWEST_BINS, round(sqrt(len(axis.codes))))
        if not axis.ordered or axis.n_levels <= n_bins:
            return axis.codes
        merged = axis.codes * n_bins // axis.n_levels
        return np.where(axis.codes < 0, -1, merged)

    @staticmethod
    def _reach(axis: Axis, distance: int) -> int:
        if not axis.ordered:
            return 0
        return distance if axis.n_levels > FEWEST_BINS else min(1, distance)

    def _nearest(self, index: int, count: int) -> IntArray:
        """Return the nearest configurations in rank space, of the same categories."""
        distances = np.zeros(len(self.axes[0].codes))
        for axis in self.axes:
            present = axis.codes >= 0
            if axis.ordered:
                gaps = (axis.codes - axis.codes[index]) / max(1, axis.n_levels)
                distances += np.where(present == present[index], gaps**2, np.inf)
            else:
                # Categories have no distance: another one is out of reach.
                distances += np.where(axis.codes == axis.codes[index], 0, np.inf)
        distances[index] = np.inf
        nearest = np.argsort(distances, kind="stable")[:count]
        return np.sort(nearest[np.isfinite(distances[nearest])])
