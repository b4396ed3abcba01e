"""A race as a run of Weights & Biases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cvst._searched import FittedSearch
from cvst._values import plain_value
from cvst.integrations._events import RaceListener, best_of, need, numbers_of

__all__ = ["WandbLogger"]


class WandbLogger(RaceListener):
    """Logs every look of a race to Weights & Biases, and the winner at the end.

    The active run is used; without one a run is begun, and finished on leaving. Needs
    ``pip install 'cvst[wandb]'``. Nothing is sent with ``mode="offline"``.

    Parameters
    ----------
    **settings : dict
        Handed to ``wandb.init`` where a run is begun here: ``project``, ``name``, …

    Examples
    --------
    ::

        with WandbLogger(project="digits", mode="offline") as logger:
            search.fit(X, y)
            logger.log_search(search)
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.settings = settings
        self._wandb: Any = need("wandb", "cvst[wandb]")
        self._run: Any = None
        self._own = False

    def begin(self) -> None:
        """Begin a run if there is none."""
        # A run that the user has begun is also the user's to finish.
        self._own = self._wandb.run is None
        self._run = self._wandb.init(**self.settings) if self._own else self._wandb.run

    def on_look(self, event: Mapping[str, Any], params: Mapping[str, Any]) -> None:
        """Log the numbers and the stage of a look."""
        del params
        # Not as the step: a run that others use too has steps of its own.
        numbers = {**numbers_of(event), "look": event["look"]}
        self._run.log({f"race/{name}": value for name, value in numbers.items()})

    def on_end(self, event: Mapping[str, Any]) -> None:
        """Keep the reason of the end in the summary."""
        self._run.summary["race/stop_reason"] = event["reason"]

    def log_search(self, search: FittedSearch) -> None:
        """Put what a fitted search found into the summary of the run."""
        found = best_of(search)
        params = found.pop("best_params")
        for name, value in found.items():
            self._run.summary[f"race/{name}"] = value
        for name, value in params.items():
            self._run.summary[f"race/best/{name}"] = _storable(value)

    def finish(self, failed: bool) -> None:
        """Finish the run that was begun here."""
        if self._own:
            self._run.finish(exit_code=int(failed))


def _storable(value: Any) -> Any:
    """Return a value that can be stored: numbers and words as they are."""
    value = plain_value(value)
    return value if isinstance(value, (bool, int, float, str)) else str(value)
