"""The dimensions of a space, as a model of its losses sees them."""

from __future__ import annotations

from dataclasses import dataclass

from cvst.spaces._marginals import Marginal

__all__ = ["Dimension"]


@dataclass(frozen=True, slots=True)
class Dimension:
    """One coordinate of an encoded configuration.

    Attributes
    ----------
    name : str
        The parameter, or ``"branch"`` for the choice between several dictionaries. A
        parameter with different distributions in two of them has two dimensions.
    marginal : object
        Its values and how likely each is.
    branches : tuple of int
        Where it plays a role; its coordinate is NaN in all others.
    """

    name: str
    marginal: Marginal
    branches: tuple[int, ...]

    @property
    def n_choices(self) -> int:
        """Number of categories, with codes from 0; 0 for a number in [0, 1]."""
        return self.marginal.n_choices

    @property
    def n_values(self) -> float:
        """Number of different values, infinite for a continuous range."""
        return self.marginal.n_values

    def __str__(self) -> str:
        return f"{self.name}: {self.marginal!r}"
