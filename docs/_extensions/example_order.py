"""The order of the examples within a folder: what a newcomer asks first comes first."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ORDER", "place"]

ORDER = (
    "plot_first_race",
    "plot_against_grid_search",
    "plot_random_race",
    "plot_time_budget",
    "plot_plan",
    "plot_learning_curves",
    "plot_loss_surface",
    "plot_importance",
    "plot_drifting_optimum",
    "plot_concepts",
    "plot_safety_zone",
    "plot_groups",
    "plot_time",
    "plot_own_strategy",
)


def place(filename: str) -> int:
    """Return how many examples come before this one.

    Examples
    --------
    >>> place("plot_random_race.py")
    2
    """
    return ORDER.index(Path(filename).stem)
