"""Subset sizes of the steps."""

from __future__ import annotations

from dataclasses import dataclass

from cvst.race._problem import Problem

__all__ = ["LinearSchedule"]


@dataclass(frozen=True, slots=True)
class LinearSchedule:
    """Equal steps up to the whole data.

    Examples
    --------
    >>> schedule = LinearSchedule(max_steps=10)
    >>> [schedule.n_train(step, Problem(1, 1000)) for step in (1, 2, 3)]
    [90, 181, 272]
    >>> schedule.n_train(10, Problem(1, 1000, n_validation=500))
    1000
    """

    max_steps: int

    def n_train(self, step: int, problem: Problem) -> int:
        """Return floor(s N / (S + 1)), or floor(s N / S) with a separate test set."""
        return step * problem.n_samples // self._n_parts(problem)

    def sizes(self, problem: Problem) -> list[int]:
        """Return :meth:`n_train` of all steps; a race asks for them at every look."""
        n_samples, n_parts = problem.n_samples, self._n_parts(problem)
        return [step * n_samples // n_parts for step in range(1, self.max_steps + 1)]

    def _n_parts(self, problem: Problem) -> int:
        # The paper divides by S, which would leave the last step without test
        # points; the authors' R package divides by S + 1, and so do we.
        return self.max_steps + (0 if problem.n_validation else 1)
