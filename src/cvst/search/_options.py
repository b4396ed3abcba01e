"""The settings of a search, as a frozen value."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.pipeline import Pipeline

from cvst._searched import Search
from cvst._sklearn_compat import Hidden, Interval
from cvst._text import repr_text
from cvst._users_line import users_line
from cvst._values import is_endless, is_number
from cvst.exceptions import InvalidInputError, UnusedArgumentWarning
from cvst.parallel import spare_threads

__all__ = ["SECONDS", "SearchOptions", "warn_of_unused_arguments"]

# Arguments of scikit-learn's searches that a race has no use for, and their defaults.
UNUSED = {"pre_dispatch": "2*n_jobs", "return_train_score": False}
# What a time may be. ``check_seconds`` refuses texts, with an error that says what to
# do: here they are let through, but not offered.
SECONDS = [Interval(Real, 0, None, closed="neither"), Hidden(str), None]

SAME_BITS = HistGradientBoostingClassifier, HistGradientBoostingRegressor


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What the user set on a search, under the names of its parameters.

    ``clock`` returns the seconds that a time budget is measured in; with ``keeps_time``
    the strategy keeps the budget itself.
    """

    estimator: Any
    scoring: Any
    strategy: Any
    ordering: str
    rescale: Any
    cv: Any
    refit: Any
    race_by: str | None
    n_jobs: int | None
    error_score: Any
    return_pointwise: bool
    return_predictions: bool
    ensemble: bool
    random_state: Any
    incremental: bool
    time_budget: float | None
    max_looks: int | None
    fit_timeout: float | None
    device: str
    max_memory: int | str | None
    clock: Callable[[], float]
    keeps_time: bool = False

    def ends(self, started: float) -> float | None:
        """Return when a strategy that keeps the time has to be done, None for never."""
        if self.time_budget is None or not self.keeps_time:
            return None
        return started + self.time_budget

    def spare_threads(self) -> AbstractContextManager[None]:
        """Let fits have fewer threads while others use the machine, where that is well.

        The last bits of some learners depend on their threads. So it is done where the
        race depends on the clock anyway, and for the learner whose bits do not.
        """
        final = self.estimator
        if isinstance(final, Pipeline):
            final = final.steps[-1][1]
        has_budget = self.time_budget is not None
        wanted = has_budget or isinstance(final, SAME_BITS)
        return spare_threads(wanted, keeps_time=has_budget)

    @classmethod
    def of(
        cls, search: Search, clock: Callable[[], float], **given: Any
    ) -> SearchOptions:
        """Read the settings of a search, but those that are given."""
        own = {"clock", "keeps_time", *given}
        names = [field.name for field in fields(cls) if field.name not in own]
        settings = {name: getattr(search, name) for name in names}
        check_seconds(settings)
        check_error_score(settings["error_score"])
        return cls(**settings, **given, clock=clock)


def check_seconds(settings: dict[str, Any]) -> None:
    """Refuse times that are texts, which the command line alone takes, or endless.

    Raises
    ------
    InvalidInputError
        If a time is a text such as ``"2m"``, or no float is as large as it.
    """
    for name in ("time_budget", "fit_timeout"):
        value = settings[name]
        if isinstance(value, str):
            raise InvalidInputError(
                f"{name}={value!r} is a text, but must be a number of seconds. Give "
                f"{name}=120 for two minutes."
            )
        if isinstance(value, int) and not is_number(value):
            raise InvalidInputError(
                f"{name}={repr_text(value)} is more seconds than a clock can count. "
                "Leave it out for no limit."
            )


def check_error_score(value: Any) -> None:
    """Refuse a whole number beyond the range of floats, which scores are.

    Raises
    ------
    InvalidInputError
        If it is one.
    """
    if is_endless(value):
        raise InvalidInputError(
            f"error_score={repr_text(value)} is beyond the range of floats, which "
            "scores are. Give a number nearer to zero, numpy.nan or 'raise'."
        )


def warn_of_unused_arguments(search: Search) -> None:
    """Say which arguments of scikit-learn's searches have no effect."""
    unused = [name for name in UNUSED if getattr(search, name) != UNUSED[name]]
    if unused:
        warnings.warn(
            f"{' and '.join(unused)} {'has' if len(unused) == 1 else 'have'} no "
            "effect on a race and can be left out.",
            UnusedArgumentWarning,
            stacklevel=users_line(),
        )
