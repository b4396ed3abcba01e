"""What is known before the first look: sizes, groups, folds, the search space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from cvst._text import counted, seconds_text
from cvst._typing import Configuration, IntArray, Rows
from cvst.race._space import SearchSpace

__all__ = ["LOSS_BYTES", "Folds", "Problem"]

# What a loss takes while its look is judged, with predictions and ranks.
LOSS_BYTES = 40

# Most losses of a look at a subset: about 400 MB. More rows than are left
# would tell hardly more, and the least are as many whatever the grid. Where the user
# has bounded the memory, fewer have to do.
LARGEST_LOOK, FEWEST_TESTED, FEWEST_BOUNDED = 10_000_000, 2_000, 200

# Most losses that a race keeps only to say at its end what the winner is worth.
MOST_KEPT = 5_000_000

Folds = tuple[tuple[IntArray, IntArray], ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is known before the first look.

    Attributes
    ----------
    n_configurations : int
        Number of configurations at the start; a strategy may propose more later.
    n_samples : int
        Rows that may be trained on, numbered in race order; the paper's :math:`N`.
    n_validation : int
        Rows of a separate test set, numbered after the training rows.
    boundaries : ndarray or None
        Subset sizes at which a cut splits no group; None if any cut will do.
    folds : mapping of int to tuple of (train, test)
        Folds over the training rows by their number, where a strategy asked for them.
    orders : tuple of ndarray of shape (n_samples,)
        Fresh permutations of the rows, as many as the strategy asked for.
    seed : int
        Seed of whatever a strategy draws at random.
    space : SearchSpace or None
        The configurations as points on axes, where that is known.
    constant_loss : float or None
        Mean loss of the best constant prediction, where that is known.
    min_rows : int
        Rows from which on a subset has a few of every class; 0 if there are none.
    seconds : float or None
        What the race may take on the clock, the final fit included; None for no limit.
    n_at_once : int
        Most looks that can be under way at a time.
    of_all_rows : bool
        Whether the score belongs to all test rows together, as an area under a curve
        does; then tests tell fewer configurations apart.
    scoring : str
        Name of the score that is raced on, for people; empty where it is not known.
    configurations : tuple of dict
        The configurations themselves, where a strategy may want to see them.
    covered : mapping of str to str
        Hyper-parameters of which one fit serves several values, as
        :class:`cvst.race.Axis` has them.
    n_refit : int or None
        Rows that the winner is fitted on, None if they are those of the race.
    max_bytes : int or None
        What the race may hold at a time besides rows and models, half of it losses;
        None for bounds of its own.
    """

    n_configurations: int
    n_samples: int
    n_validation: int = 0
    boundaries: IntArray | None = None
    folds: Mapping[int, Folds] = field(default_factory=dict)
    orders: tuple[IntArray, ...] = ()
    seed: int = 0
    space: SearchSpace | None = None
    constant_loss: float | None = None
    min_rows: int = 0
    seconds: float | None = None
    configurations: tuple[Configuration, ...] = ()
    covered: Mapping[str, str] = field(default_factory=dict)
    n_refit: int | None = None
    max_bytes: int | None = None
    n_at_once: int = 1
    of_all_rows: bool = False
    scoring: str = ""

    def __repr__(self) -> str:
        # Folds, orders and configurations would fill pages.
        members = counted(self.n_configurations, "configuration")
        more = f" and {self.n_validation:,} to test on" if self.n_validation else ""
        limit = "" if self.seconds is None else f", {seconds_text(self.seconds)}"
        rows = counted(self.n_samples, "row")
        return f"<Problem: {members}, {rows}{more}{limit}>"

    @property
    def largest_look(self) -> int:
        """Most losses of a look that can do with fewer."""
        if self.max_bytes is None:
            return LARGEST_LOOK
        return min(LARGEST_LOOK, self.max_bytes // (2 * LOSS_BYTES))

    @property
    def refit_rows(self) -> int:
        """Number of rows that the winner is fitted on."""
        return self.n_samples if self.n_refit is None else self.n_refit

    @property
    def n_groups(self) -> int | None:
        """Number of groups of rows, None if there are none."""
        return None if self.boundaries is None else len(self.boundaries) + 1

    @property
    def allowed_cuts(self) -> IntArray | None:
        """Subset sizes that split no group, all rows too if others test; or None."""
        if self.boundaries is None or not self.n_validation:
            return self.boundaries
        # Without a test set, all rows would leave none to test on.
        return np.append(self.boundaries, self.n_samples)

    def cut(self, n_train: int, at_least: int = 0) -> int:
        """Move a subset size to the nearest one that splits no group.

        Where a smaller one than ``at_least`` is nearest, the next larger one is taken;
        all rows if there is none.
        """
        allowed = self.allowed_cuts
        if allowed is not None and at_least:
            allowed = np.append(allowed[allowed >= at_least], self.n_samples)
        if allowed is None or not len(allowed):
            return n_train
        return int(allowed[np.argmin(np.abs(allowed - n_train))])

    def cuts(self, sizes: Sequence[int]) -> list[int]:
        """Move growing subset sizes to boundaries, so that they still grow.

        Each goes to its nearest one, unless a large group lies there: then they share
        the boundaries nearby with the least moving. Too few boundaries stay too few.

        Examples
        --------
        >>> Problem(1, 100, boundaries=np.array([5, 10, 90])).cuts([20, 40, 80])
        [5, 10, 90]
        """
        allowed = self.allowed_cuts
        if allowed is None:
            return list(sizes)
        nearest = [self.cut(size) for size in sizes]
        distinct = len(set(nearest)) == len(sizes)
        if distinct or len(allowed) < len(sizes):
            return nearest
        distances = np.abs(np.asarray(sizes)[:, None] - allowed)
        # An assignment gives each size a boundary of its own, moving the sum least.
        return sorted(allowed[linear_sum_assignment(distances)[1]].tolist())

    def most_tested(self, n_configurations: int, limit: int | None = None) -> int:
        """Return how many rows a look at a subset tests at most, for the memory.

        Fewer where a strategy has a limit of its own; a separate test set, in an order
        that was not shuffled, is then used as it is.

        Examples
        --------
        >>> Problem(1_000, 1_000_000).most_tested(1_000)
        10000
        >>> Problem(1_000, 1_000_000, max_bytes=100_000_000).most_tested(1_000)
        1250
        """
        fewest = FEWEST_TESTED if self.max_bytes is None else FEWEST_BOUNDED
        most = max(fewest, self.largest_look // max(1, n_configurations))
        return most if limit is None or self.n_validation else min(most, limit)

    def may_keep(self, n_losses: int) -> bool:
        """Return whether this many losses may be kept, though no strategy needs them.

        Examples
        --------
        >>> Problem(100, 1_000).may_keep(100_000)
        True
        """
        return n_losses <= min(MOST_KEPT, self.largest_look)

    def bounded_prefix(
        self,
        n_train: int,
        n_configurations: int,
        order: IntArray | None = None,
        limit: int | None = None,
    ) -> tuple[Rows, Rows]:
        """Return :meth:`prefix`, with as many test rows as :meth:`most_tested`."""
        train, test = self.prefix(n_train, order)
        most = self.most_tested(n_configurations, limit)
        if isinstance(test, slice):
            return train, slice(test.start, min(test.stop, test.start + most))
        return train, test[:most]

    def prefix(self, n_train: int, order: IntArray | None = None) -> tuple[Rows, Rows]:
        """Return the first rows for training and the others (or the test set)."""
        train, rest = slice(0, n_train), slice(n_train, self.n_samples)
        validation = slice(self.n_samples, self.n_samples + self.n_validation)
        if order is None:
            return train, validation if self.n_validation else rest
        # Rows of a test set are never shuffled: they come after all orders.
        return order[train], validation if self.n_validation else order[rest]
