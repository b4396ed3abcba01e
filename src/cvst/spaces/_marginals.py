"""What every kind of parameter can do: from values to points and back."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np

from cvst._typing import FloatArray

__all__ = ["Marginal", "RandomValues", "Randomness"]

# Whatever scikit-learn's samplers and NumPy's users pass as a source of randomness.
Randomness: TypeAlias = "np.random.Generator | np.random.RandomState | int | None"


class Marginal(Protocol):
    """The values of one parameter and how likely each is.

    Numbers live in [0, 1], their probability below; categories are codes from 0.
    """

    @property
    def n_choices(self) -> int:
        """Number of categories, 0 if the values are numbers."""

    @property
    def n_values(self) -> float:
        """Number of different values, infinite if there is no end to them."""

    def encode(self, value: Any, clip: bool) -> float:
        """Return the place of a value, NaN if it has none.

        With ``clip`` a number outside goes to the nearest that is inside.
        """

    def decode(self, places: FloatArray) -> list[Any]:
        """Return the values at some places; what lies outside is clipped."""

    def place(self, uniforms: FloatArray) -> FloatArray:
        """Return the places of uniform draws, so that the values have their odds."""

    def all_values(self) -> list[Any]:
        """Return the values if there is an end to them, in the order of the places."""


class RandomValues:
    """Lets scikit-learn's random searches draw from a marginal."""

    def rvs(self: Marginal, size: int | None = None, random_state: Any = None) -> Any:
        """Draw a value, or a list of ``size`` values.

        Parameters
        ----------
        size : int or None
            Number of values; None for a single one.
        random_state : Generator, RandomState, int or None
            The source of randomness.
        """
        uniforms = _uniforms(random_state, 1 if size is None else size)
        values = self.decode(self.place(uniforms))
        return values[0] if size is None else values


def _uniforms(random_state: Randomness, size: int) -> FloatArray:
    # scikit-learn passes a RandomState, which old versions of NumPy refuse here.
    if isinstance(random_state, np.random.RandomState):
        return random_state.uniform(size=size)
    return np.random.default_rng(random_state).random(size)
