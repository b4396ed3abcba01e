"""Tables of outcomes on a device, and the way back to the host."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

from cvst.evaluation._protocol import Outcome, OutcomeTable, Task
from cvst.evaluation.device import DeviceFullError
from cvst.exceptions import FallbackWarning

__all__ = ["in_outcomes", "warn_device_full"]


def in_outcomes(results: Iterable[Outcome | OutcomeTable]) -> Iterator[Outcome]:
    """Yield outcomes one by one, with predictions on the host."""
    for result in results:
        if isinstance(result, OutcomeTable):
            yield from result.outcomes()
        else:
            yield result


def warn_device_full(task: Task, error: DeviceFullError) -> None:
    """Say once per race that the device is too small for the work."""
    if task.race_rows is not None:
        # Every group and look after this one would say the same.
        told: list[str] = task.race_rows.scratch.get("device is full, told", list)
        if told:
            return
        told.append(str(error))
    warnings.warn(
        f"{type(task.estimator).__name__}: {error} The host does the work instead. Use "
        "fewer rows, or device='cpu' to be spared this warning.",
        FallbackWarning,
        stacklevel=2,
    )
