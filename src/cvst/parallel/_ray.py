"""Ray as an engine: rows in the object store, one task per chunk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from cvst.parallel._cluster import KILLED, SharedLostError, WorkerLostError

__all__ = ["RayEngine"]

# Ray runs a task again elsewhere that often if its worker dies.
RETRIES = 3


class RayEngine:
    """The cluster that this process is connected to.

    Parameters
    ----------
    options : mapping
        ``ray_remote_args`` of joblib's backend, such as ``num_cpus`` or ``resources``.
    """

    name = "Ray"

    def __init__(self, options: dict[str, Any] | None = None) -> None:
        import ray

        if not ray.is_initialized():
            ray.init()
        self._ray = ray
        self._options = {"max_retries": RETRIES, **(options or {})}
        self._remote: dict[Any, Any] = {}

    def n_workers(self) -> int:
        """Return how many chunks the processors of all nodes can take."""
        processors = self._ray.cluster_resources().get("CPU", 1)
        return max(1, int(processors / max(self._options.get("num_cpus", 1), 1)))

    def share(self, value: Any) -> Any:
        """Put a value into the object store, from which each node gets it once."""
        return self._ray.put(value)

    def forget(self, shared: Any) -> None:
        """Do nothing: Ray drops what no reference stands for."""

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Have a function called; references among the arguments arrive as values."""
        if function not in self._remote:
            remote = self._ray.remote(function)
            self._remote[function] = remote.options(**self._options)
        return self._remote[function].remote(*args)

    def finished(self, waiting: Collection[Any]) -> Iterable[Any]:
        """Wait for at least one call."""
        first, others = self._ray.wait(list(waiting), num_returns=1)
        if not others:
            return list(first)
        # What is done by now as well, without waiting for more.
        more, _ = self._ray.wait(others, num_returns=len(others), timeout=0)
        return [*first, *more]

    def result(self, call: Any) -> Any:
        """Return what the function returned."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(call)
        except errors.RayTaskError as error:
            raise (error.cause or error) from error
        except (errors.WorkerCrashedError, errors.OutOfMemoryError) as error:
            raise WorkerLostError(KILLED) from error
        except errors.ObjectLostError as error:
            raise SharedLostError from error

    def cancel(self, waiting: Collection[Any]) -> None:
        """Give up calls."""
        for call in waiting:
            self._ray.cancel(call)

    def close(self) -> None:
        """Leave Ray as it is."""
