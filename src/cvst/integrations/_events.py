"""Listening to the events of a race while it runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import TracebackType
from typing import Any, Self

from cvst._searched import FittedSearch
from cvst._typing import Configuration, IntArray
from cvst.race import RaceState

__all__ = ["RaceListener", "best_of", "need", "numbers_of"]

LOGGER = logging.getLogger("cvst")


class RaceListener(logging.Handler):
    """Hands on what a race tells, look by look: a base for loggers of your own.

    Use it as a context manager around ``fit``. Derive from it and write
    :meth:`on_look`, :meth:`on_state`, :meth:`on_end` or several of them. An error in
    them is reported on standard error, as logging does, and does not disturb the race.

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> class Counter(RaceListener):
    ...     looks = 0
    ...     def on_look(self, event, params):
    ...         self.looks += 1
    >>> search = RaceGridSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": [1, 5]}, random_state=0)
    >>> with Counter() as counter:
    ...     _ = search.fit(*load_iris(return_X_y=True))
    >>> counter.looks == search.n_looks_
    True
    """

    def __init__(self) -> None:
        # Looks and the end come as INFO; progress, as DEBUG, far more often.
        super().__init__(level=logging.INFO)
        self._before: tuple[int, bool] | None = None

    def on_look(self, event: Mapping[str, Any], params: Mapping[str, Any]) -> None:
        """Take notice of a look.

        Parameters
        ----------
        event : mapping
            ``look`` (from 1), ``stage``, ``n_train``, ``n_configurations``, ``n_top``,
            ``n_dropped``, ``n_active`` (looked at and not dropped), ``n_waiting`` (not
            looked at yet), ``leader`` (its number) and ``leader_loss``.
        params : mapping
            The configuration that leads.
        """

    def on_state(
        self,
        state: RaceState,
        configurations: Sequence[Configuration],
        ranking: IntArray,
    ) -> None:
        """Take notice of the race after a look, to draw or report it.

        These are the arguments of :meth:`cvst.report.LiveReport.update` and of
        :func:`cvst.report.race_summary`; every display has a ``from_state``.

        Parameters
        ----------
        state : RaceState
            The race so far.
        configurations : sequence of dict
            Its configurations.
        ranking : ndarray of int
            Survivors, the leader first.
        """

    def on_end(self, event: Mapping[str, Any]) -> None:
        """Take notice of the end.

        Parameters
        ----------
        event : mapping
            ``looks`` (how many there were) and ``reason``.
        """

    def begin(self) -> None:
        """Do what comes before the race; called on entering the context."""

    def finish(self, failed: bool) -> None:
        """Do what comes after it; called on leaving the context."""

    def emit(self, record: logging.LogRecord) -> None:
        """Pass an event on; anything else that is logged is left alone."""
        event: Mapping[str, Any] = getattr(record, "cvst", {})
        try:
            if event.get("event") == "look":
                race: Any = record.cvst_race  # type: ignore[attr-defined]
                state, ranking, configurations = race
                self.on_look(event, configurations[event["leader"]])
                self.on_state(state, configurations, ranking)
            elif event.get("event") == "end":
                self.on_end(event)
        # A logger that fails must not end a race of hours; logging's own way is to
        # print what went wrong and go on.
        except Exception:
            self.handleError(record)

    def __enter__(self) -> Self:
        # Both are put back on leaving: the logger belongs to the whole process.
        self._before = LOGGER.level, LOGGER.propagate
        self.begin()
        LOGGER.addHandler(self)
        if not LOGGER.isEnabledFor(logging.INFO):
            LOGGER.setLevel(logging.INFO)
            # A user who asked for silence keeps it: only this listener hears more.
            LOGGER.propagate = False
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # First, so that no later event reaches a run that is closed.
        LOGGER.removeHandler(self)
        if self._before is not None:
            level, LOGGER.propagate = self._before
            LOGGER.setLevel(level)
            self._before = None
        self.finish(kind is not None)


def need(module: str, install: str) -> Any:
    """Import a module, or say what to install for it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"The package {module!r} is not installed. Run: pip install '{install}'"
        ) from error


def numbers_of(event: Mapping[str, Any]) -> dict[str, float]:
    """Return what can be drawn of a look, by name."""
    return {
        name: float(event[name])
        for name in ("leader_loss", "n_train", "n_configurations", "n_active")
    } | {"n_dropped": float(event["n_dropped"])}


def best_of(search: FittedSearch) -> dict[str, Any]:
    """Return what a fitted search found, as plain values."""
    if not hasattr(search, "race_"):
        raise ValueError(
            f"{type(search).__name__} is not fitted: call fit before its result is "
            "logged."
        )
    return {
        "search": type(search).__name__,
        "strategy": str(search.strategy_),
        "stop_reason": search.stop_reason_,
        "n_looks": search.n_looks_,
        "n_configurations": search.race_.n_configurations,
        "best_score": search.best_score_,
        "best_params": dict(search.best_params_),
    }
