"""What pictures, pages, loggers and the command line read from a search.

They are below the searches and cannot import them, and a search of the user's own may
be drawn just as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from cvst._typing import Configuration
from cvst.race import RaceState, Strategy

__all__ = ["FittedSearch", "Search"]


class Search(Protocol):
    """Settings that any search has, fitted or not, under scikit-learn's names."""

    @property
    def estimator(self) -> Any:
        """The template of all models."""

    @property
    def scoring(self) -> Any:
        """The score, as the user gave it."""

    @property
    def refit(self) -> Any:
        """Whether, by which score or by whose choice the winner is fitted."""

    @property
    def random_state(self) -> Any:
        """The seed."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all settings by name."""


class FittedSearch(Search, Protocol):
    """What a search knows after its race."""

    @property
    def race_(self) -> RaceState:
        """All looks."""

    @property
    def strategy_(self) -> Strategy:
        """What decided."""

    @property
    def cv_results_(self) -> Mapping[str, Any]:
        """The table of scikit-learn, a row for each configuration."""

    @property
    def best_index_(self) -> int:
        """The winner's row in it."""

    @property
    def best_params_(self) -> Configuration:
        """The winner."""

    @property
    def best_score_(self) -> float:
        """Its score in the looks that decided."""

    @property
    def best_score_n_train_(self) -> int:
        """How many rows it was trained on there."""

    @property
    def best_score_estimate_(self) -> Any:
        """What it is worth on new rows; None if that is unknown."""

    @property
    def tie_(self) -> Any:
        """Which others cannot be told from the leader of the race; None if none."""

    @property
    def stop_reason_(self) -> str:
        """Why the race ended."""

    @property
    def n_looks_(self) -> int:
        """How many looks it had."""
