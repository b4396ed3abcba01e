"""A search space: from configurations to points and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, inf, log2, prod
from typing import Any

import numpy as np
from scipy.stats import qmc

from cvst._typing import Configuration, FloatArray
from cvst.exceptions import InvalidInputError
from cvst.spaces._branches import Branch, Entry, branches_of
from cvst.spaces._dimensions import Dimension
from cvst.spaces._lists import choices
from cvst.spaces._marginals import Marginal

__all__ = ["Space"]

LARGEST_GRID = 100_000


@dataclass(frozen=True, repr=False)
class Space:
    """All configurations that a search may try, as points.

    Made by :meth:`Space.of`. Numbers are mapped to [0, 1] by the probability of smaller
    ones, so that a uniform point is a draw from the distributions; whole numbers and
    lists of numbers sit in the middle of their share. Categories are codes 0, 1, ….
    A parameter with one possible value has no coordinate.

    Attributes
    ----------
    dimensions : tuple of Dimension
        The coordinates. With several branches the first is the branch.
    branches : tuple of Branch
        The parameters of each dictionary the space was made of.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> space = Space.of({"C": uniform(0, 4), "kernel": ["rbf", "linear"]})
    >>> space.encode({"C": 2.0, "kernel": "linear"})
    array([0.5, 1. ])
    >>> space.decode(np.array([0.75, 0.0]))
    {'C': 3.0, 'kernel': 'rbf'}
    """

    dimensions: tuple[Dimension, ...]
    branches: tuple[Branch, ...]

    @classmethod
    def of(cls, param_distributions: Any) -> Space:
        """Make a space from what a search takes.

        Parameters
        ----------
        param_distributions : dict, list of dict, ConfigurationSpace or Space
            For each parameter a list of values, a distribution of scipy, Optuna or
            ConfigSpace, or one of :func:`floats`, :func:`integers` and
            :func:`choices`. Numbers in a list are ordered, all else is not. Each
            dictionary of a list is a branch, as likely as the others. A distribution
            that has ``rvs`` alone is replaced by a list of draws.

        Examples
        --------
        >>> from cvst.spaces import floats
        >>> svm = {"kernel": ["rbf"], "gamma": floats(0.001, 1, log=True)}
        >>> Space.of([svm, {"kernel": ["linear"]}]).n_choices
        (2, 0)
        """
        if isinstance(param_distributions, Space):
            return param_distributions
        return _assemble(branches_of(param_distributions))

    @property
    def n_dimensions(self) -> int:
        """Number of coordinates."""
        return len(self.dimensions)

    @property
    def n_choices(self) -> tuple[int, ...]:
        """Number of categories of each dimension, 0 for numbers."""
        return tuple(dimension.n_choices for dimension in self.dimensions)

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters of all branches, in the order of their first appearance."""
        names = (entry.name for branch in self.branches for entry in branch.entries)
        return tuple(dict.fromkeys(names))

    @property
    def size(self) -> float:
        """Number of different configurations, infinite if a range is continuous."""
        sizes = (
            # A branch without parameters is one configuration.
            prod((entry.marginal.n_values for entry in branch.entries), start=1)
            for branch in self.branches
        )
        return sum(sizes)

    def __repr__(self) -> str:
        return f"Space({', '.join(str(dimension) for dimension in self.dimensions)})"

    def encode(
        self, configuration: Mapping[str, Any], *, clip: bool = False
    ) -> FloatArray:
        """Return the point of a configuration.

        Parameters
        ----------
        configuration : dict
            Values of all parameters of one branch.
        clip : bool
            Whether numbers outside go to the nearest end instead of being refused.
            Other values outside and missing ones become NaN, and parameters that the
            space does not know are ignored: for an estimator's own parameters, which
            need not lie in the space.

        Returns
        -------
        ndarray of shape (n_dimensions,)
            NaN where the configuration has no such parameter.

        Raises
        ------
        InvalidInputError
            If the configuration is not in the space and ``clip`` is False.
        """
        index = self._branch_of(configuration, clip)
        point = np.full(len(self.dimensions), np.nan)
        if len(self.branches) > 1:
            point[0] = index
        for entry in self.branches[index].entries:
            if entry.column is not None and entry.name in configuration:
                value = configuration[entry.name]
                point[entry.column] = entry.marginal.encode(value, clip)
        return point

    def decode(self, point: FloatArray) -> Configuration:
        """Return the configuration of a point.

        Coordinates of other branches are ignored, codes rounded and numbers clipped.
        """
        return self.decode_all(np.asarray(point, dtype=float)[None, :])[0]

    def decode_all(self, points: FloatArray) -> list[Configuration]:
        """Return the configurations of several points, of shape (n, n_dimensions)."""
        if points.shape[1:] != (len(self.dimensions),):
            raise InvalidInputError(
                f"A point with {points.shape[-1]} coordinates does not belong to this "
                f"space, which has {len(self.dimensions)}: "
                f"{', '.join(dimension.name for dimension in self.dimensions)}."
            )
        taken = np.zeros(len(points), dtype=np.intp)
        if len(self.branches) > 1:
            _refuse_nan(points[:, 0], "branch")
            taken[:] = self.dimensions[0].marginal.decode(points[:, 0])
        configurations: list[Configuration] = [{} for _ in points]
        # By branch and column: decoding all rows of a column at once is what makes
        # thousands of draws cheap.
        for index, branch in enumerate(self.branches):
            rows = np.flatnonzero(taken == index)
            for name, values in _columns(branch, points[rows]):
                for row, value in zip(rows, values, strict=True):
                    configurations[row][name] = value
        return configurations

    def sample(
        self, n: int, rng: np.random.Generator | int | None = None
    ) -> list[Configuration]:
        """Draw configurations from the distributions, independently of each other.

        Parameters
        ----------
        n : int
            Number of configurations.
        rng : Generator, int or None
            Source of randomness.
        """
        uniforms = np.random.default_rng(rng).random((n, len(self.dimensions)))
        return self._at(uniforms)

    def spread(
        self, n: int, rng: np.random.Generator | int | None = None
    ) -> list[Configuration]:
        """Return configurations that fill the space evenly: a scrambled Sobol sequence.

        Each is distributed as a draw, but they keep away from each other. In a small
        finite space some still repeat.

        Parameters
        ----------
        n : int
            Number of configurations; powers of 2 are most even.
        rng : Generator, int or None
            Source of the scrambling.
        """
        n_dimensions = len(self.dimensions)
        # There is no Sobol sequence of no dimensions, and no power of 2 that is 0.
        if n == 0 or n_dimensions == 0:
            return self._at(np.empty((n, n_dimensions)))
        sequence = qmc.Sobol(n_dimensions, seed=np.random.default_rng(rng))
        # More than asked for and cut: other sizes than powers of 2 bring a warning.
        return self._at(sequence.random_base2(ceil(log2(n)))[:n])

    def grid(self, largest: int = LARGEST_GRID) -> list[Configuration]:
        """Return all configurations.

        Parameters
        ----------
        largest : int
            The most configurations to list.

        Raises
        ------
        InvalidInputError
            If there are more, or infinitely many.
        """
        if self.size > largest:
            raise InvalidInputError(
                f"The space has {_count(self.size)} configurations, more than "
                f"{largest:,}. Draw from it with sample or spread, or give lists."
            )
        return [
            dict(zip(names, values, strict=True))
            for branch in self.branches
            for names in [[entry.name for entry in branch.entries]]
            for values in product(
                *(entry.marginal.all_values() for entry in branch.entries)
            )
        ]

    def _at(self, uniforms: FloatArray) -> list[Configuration]:
        """Return configurations from the unit cube, each as likely as it should be."""
        columns = [
            dimension.marginal.place(uniforms[:, column])
            for column, dimension in enumerate(self.dimensions)
        ]
        return self.decode_all(np.stack(columns, axis=1) if columns else uniforms)

    def _branch_of(self, configuration: Mapping[str, Any], clip: bool) -> int:
        # Nothing to choose, and with clip nothing to refuse.
        if clip and len(self.branches) == 1:
            return 0
        problems = [branch.problems(configuration) for branch in self.branches]
        # The branch that fits best gives the message, too: the user meant this one.
        fewest = min(range(len(problems)), key=lambda index: len(problems[index]))
        if problems[fewest] and not clip:
            raise InvalidInputError(
                f"The configuration is not in the space: {problems[fewest][0]}. Change "
                "the space or the configuration."
            )
        return fewest


def _assemble(parts: Sequence[tuple[Mapping[str, Marginal], float]]) -> Space:
    """Give every parameter a column, a common one where branches agree on it."""
    found: list[tuple[str, Marginal, list[int]]] = []
    first = 1 if len(parts) > 1 else 0
    branches = []
    for index, (marginals, weight) in enumerate(parts):
        entries = []
        for name, marginal in marginals.items():
            column = None
            # A constant has no coordinate: a model would fit a length to nothing.
            if marginal.n_values > 1:
                column = first + _column(found, name, marginal)
                found[column - first][2].append(index)
            entries.append(Entry(name, column, marginal))
        branches.append(Branch(tuple(entries), weight))
    dimensions = [Dimension(name, one, tuple(where)) for name, one, where in found]
    if first:
        numbers = range(len(parts))
        which = choices(numbers, [branch.weight for branch in branches])
        # The branch comes first, which the columns above allow for.
        dimensions.insert(0, Dimension("branch", which, tuple(numbers)))
    return Space(tuple(dimensions), tuple(branches))


def _column(
    found: list[tuple[str, Marginal, list[int]]], name: str, marginal: Marginal
) -> int:
    for column, (known, other, _) in enumerate(found):
        # A common column lets a model carry what it learns from one branch to another.
        if known == name and other == marginal:
            return column
    found.append((name, marginal, []))
    return len(found) - 1


def _columns(branch: Branch, points: FloatArray) -> Iterator[tuple[str, list[Any]]]:
    for entry in branch.entries:
        if entry.column is None:
            # With one value every place is that value.
            yield entry.name, entry.marginal.decode(np.zeros(len(points)))
        else:
            _refuse_nan(points[:, entry.column], entry.name)
            yield entry.name, entry.marginal.decode(points[:, entry.column])


def _refuse_nan(coordinates: FloatArray, name: str) -> None:
    if np.isnan(coordinates).any():
        raise InvalidInputError(
            f"The coordinate of {name} is NaN, but its branch needs a value. Give a "
            "number in [0, 1], or a code."
        )


def _count(size: float) -> str:
    return "infinitely many" if size == inf else f"{size:,}"
