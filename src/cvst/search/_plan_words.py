"""The sentences of a plan that depend on whether a time budget is used to its end."""

from __future__ import annotations

from typing import Protocol

from cvst._text import seconds_text

__all__ = ["budget_sentence", "compared", "ratio_text", "time_sentence"]


class Planned(Protocol):
    """What the sentences are made of: see ``RacePlan``."""

    @property
    def n_folds(self) -> int: ...
    @property
    def n_configurations(self) -> int: ...
    @property
    def n_compared(self) -> int: ...
    @property
    def budget_seconds(self) -> float | None: ...
    @property
    def budget_configurations(self) -> tuple[int, int] | None: ...
    @property
    def first_drop(self) -> int | None: ...
    @property
    def may_stop_early(self) -> bool: ...
    @property
    def race_seconds(self) -> float: ...
    @property
    def other_seconds(self) -> float: ...
    @property
    def refit_seconds(self) -> float: ...
    @property
    def refit_range(self) -> tuple[float, float]: ...
    @property
    def total_seconds(self) -> float: ...
    @property
    def total_range(self) -> tuple[float, float]: ...
    @property
    def speedup_ceiling(self) -> float: ...


def range_text(seconds: tuple[float, float]) -> str:
    return " to ".join(map(seconds_text, seconds))


def budget_sentence(plan: Planned) -> str:
    """Say that a search which proposes spends its budget, and on how many."""
    assert plan.budget_seconds is not None
    assert plan.budget_configurations is not None
    least, most = plan.budget_configurations
    about = f"{least:,} to {most:,}" if least < most else f"{least:,}"
    return (
        "Configurations are proposed until the time budget of "
        f"{seconds_text(plan.budget_seconds)} is used up, the final fit included: "
        f"about {about} of them. The look above is the first of many."
    )


def time_sentence(plan: Planned) -> str:
    """Say how long all takes, and what of it is for what."""
    refit = f"{seconds_text(plan.refit_seconds)} ({range_text(plan.refit_range)})"
    total = seconds_text(plan.total_seconds)
    if plan.budget_seconds is not None:
        return f"Expected: {total}, of which {refit} are for the final fit."
    may_stop = " (a race may stop early)" * plan.may_stop_early
    return (
        f"Expected: {total} ({range_text(plan.total_range)}), of which "
        f"{seconds_text(plan.race_seconds)} are for all looks{may_stop}, {refit} for "
        f"the final fit and {seconds_text(plan.other_seconds)} for the rest."
    )


def compared(plan: Planned) -> str:
    """Say what the search is compared with."""
    same = (
        "" if plan.n_compared == plan.n_configurations else f" of {plan.n_compared:,}"
    )
    return f"{plan.n_folds}-fold cross-validation{same}"


def ratio_text(plan: Planned) -> str:
    """Say how many times longer the cross-validation takes."""
    factor = f"{plan.speedup_ceiling:.3g} times as long as"
    if plan.budget_seconds is not None:
        return f"{factor} the time budget"
    return (
        f"at most {factor} the race"
        if plan.first_drop is not None
        else f"{factor} all looks"
    )
