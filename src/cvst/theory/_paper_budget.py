"""The paper's own formula for the steps of a time budget, as printed (Appendix E).

It is printed twice, with different signs. With :math:`-tKr` (appendix) it belongs to
subsets of :math:`sN/S` rows, the last of which is the whole data. With :math:`+tKr`
(Section 5.2) it belongs to the same subsets *without* that last one: then the sum lacks
:math:`tKr`, and what it calls :math:`S` is one more than the steps that are run. That
is the schedule :math:`sN/(S+1)` of the authors' R package and of this library.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, pi, sqrt
from typing import Literal

from cvst.exceptions import BudgetTooSmallError, InvalidInputError
from cvst.theory._validation import check_positive, check_share

__all__ = ["BudgetCondition", "PaperTimeBudget"]


@dataclass(frozen=True, slots=True)
class BudgetCondition:
    """One of the three conditions under which the paper's formula holds.

    Attributes
    ----------
    number : int
        Its number in Appendix E.
    holds : bool
        Whether it is fulfilled.
    explanation : str
        What it says with the numbers at hand, and the way out where it fails.
    """

    number: int
    holds: bool
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTimeBudget:
    """The quadratic that the paper solves for the number of steps.

    Use :func:`steps_for_time_budget`, which sums exactly and counts predictions; this
    one is kept to compare with.

    Parameters
    ----------
    time_budget, full_fit_time : float
        Time :math:`T` for the race, and :math:`t` for one fit on the whole data.
    n_configurations : int
        Configurations at the start, the paper's :math:`K`.
    survival_rate, safety_rate : float
        Share :math:`r` of the configurations that outlives the safety zone, and share
        :math:`s_r` of the steps that belongs to the zone.
    complexity : float
        Exponent :math:`m` of the training time.
    printed : {"section", "appendix"}
        The formula of Section 5.2, for subsets of :math:`sN/(S+1)` rows, or that of
        Appendix E, for :math:`sN/S`.

    Examples
    --------
    >>> budget = PaperTimeBudget(
    ...     time_budget=300, full_fit_time=1.0, n_configurations=610,
    ...     survival_rate=0.1, safety_rate=0.3, complexity=3, printed="appendix")
    >>> budget.steps
    15
    >>> from dataclasses import replace
    >>> from textwrap import fill
    >>> print(fill(replace(budget, time_budget=5).conditions[0].explanation))
    Condition 1: 2T = 10 must not be below tK((1-r)s_r^m + r) = 75.82.
    Raise time_budget to 80.41 or more.
    """

    time_budget: float
    full_fit_time: float
    n_configurations: int
    survival_rate: float
    safety_rate: float
    complexity: float
    printed: Literal["section", "appendix"] = "section"

    def __post_init__(self) -> None:
        for name in ("time_budget", "full_fit_time", "n_configurations", "complexity"):
            check_positive(name, getattr(self, name))
        check_share("survival_rate", self.survival_rate)
        check_share("safety_rate", self.safety_rate)
        if self.printed not in ("section", "appendix"):
            raise InvalidInputError(
                f"printed={self.printed!r} is unknown: the formula is printed in the "
                "'section' and in the 'appendix'."
            )

    @property
    def steps(self) -> int:
        """Number of steps to run; an error if one of the conditions fails."""
        for condition in self.conditions:
            if not condition.holds:
                # More time mends the first two; the third is about the zone.
                small = condition.number < 3
                raise (BudgetTooSmallError if small else InvalidInputError)(
                    condition.explanation
                )
        # The subset that Section 5.2 leaves out of its sum is not run.
        steps = self._printed_steps - (1 if self.printed == "section" else 0)
        if steps < 1:
            raise BudgetTooSmallError(
                f"time_budget={self.time_budget:g} does not suffice for a single step "
                "by the paper's formula. Raise it."
            )
        return steps

    @property
    def conditions(self) -> tuple[BudgetCondition, ...]:
        """Conditions 1 to 3 of Appendix E, up to the first that fails.

        Each of them is needed to write down the next.
        """
        a, b = self._coefficients
        more_time = f"Raise time_budget to {self.smallest_budget:.4g} or more"
        sign = "-" if self.printed == "section" else "+"
        found = [
            _condition(
                1,
                ("2T", 2 * self.time_budget),
                (f"tK((1-r)s_r^m {sign} r)", self._linear_cost),
                more_time,
            )
        ]
        if found[-1].holds:
            found.append(_condition(2, ("a^2", a**2), ("b", b), more_time))
        if found[-1].holds and len(found) == 2:
            zone = self.safety_rate * self._printed_steps
            bound = self.complexity / (2 * pi)
            way_out = "Raise time_budget or safety_rate"
            found.append(_condition(3, ("s_r S", zone), ("m/(2 pi)", bound), way_out))
        return tuple(found)

    @property
    def smallest_budget(self) -> float:
        """Time below which conditions 1 and 2 fail."""
        _, b = self._coefficients
        # Where a = -sqrt(b), so that the quadratic has one root.
        root = 2 * self._share(1) * sqrt(b) / (self.complexity + 1)
        return self._linear_cost / 2 + self._cost * root

    @property
    def _cost(self) -> float:
        return self.full_fit_time * self.n_configurations

    def _share(self, shift: int) -> float:
        """Return (1 - r) s_r^(m + shift) + r, the coefficients of the quadratic."""
        r = self.survival_rate
        power: float = self.safety_rate ** (self.complexity + shift)
        return (1 - r) * power + r

    @property
    def _linear_cost(self) -> float:
        r = self.survival_rate
        # The two printings differ by the sign of tKr, hence by 2r here.
        last_step = 2 * r if self.printed == "section" else 0.0
        return self._cost * (self._share(0) - last_step)

    @property
    def _coefficients(self) -> tuple[float, float]:
        """The a and b of S^2 + 2aS + b <= 0."""
        m = self.complexity
        leading = self._share(1)
        excess = (self._linear_cost - 2 * self.time_budget) / self._cost
        a = (m + 1) / 4 * excess / leading
        b = m * (m + 1) / 12 * self._share(-1) / leading
        return a, b

    @property
    def _printed_steps(self) -> int:
        a, b = self._coefficients
        # The larger root: the most steps that still fit.
        return floor(-a + sqrt(a**2 - b))


def _condition(
    number: int, left: tuple[str, float], right: tuple[str, float], way_out: str
) -> BudgetCondition:
    """Compare two named numbers and say how it went."""
    holds = left[1] >= right[1]
    explanation = (
        f"Condition {number}: {left[0]} = {left[1]:.4g} must not be below "
        f"{right[0]} = {right[1]:.4g}."
    )
    return BudgetCondition(
        number, holds, explanation if holds else f"{explanation} {way_out}."
    )
