"""Dask distributed as an engine: scattered rows, and a scheduler that heals itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import CancelledError
from typing import Any
from uuid import uuid4

from cvst.parallel._cluster import KILLED, SharedLostError, WorkerLostError

__all__ = ["DaskEngine"]


class DaskEngine:
    """The cluster of a Dask client.

    Parameters
    ----------
    client : distributed.Client
        The client of joblib's backend.
    options : mapping
        Arguments for ``client.submit``, such as ``resources`` or ``priority``.
    """

    name = "Dask"

    def __init__(self, client: Any, options: dict[str, Any] | None = None) -> None:
        self._client = client
        self._options = options or {}
        self._results: dict[Any, Any] = {}
        self._completed: Any = None
        self._seceded = False

    def n_workers(self) -> int:
        """Return the number of threads of all workers."""
        return int(sum(self._client.nthreads().values()))

    def share(self, value: Any) -> Any:
        """Copy a value to every worker there is; others fetch it from one of these."""
        self._seceded = self._seceded or _secede()
        # In a list, since Dask would take a mapping apart. Named at random, since to
        # hash the rows takes time, and is not safe inside a worker.
        (future,) = self._client.scatter([value], broadcast=True, hash=False)
        return future

    def forget(self, shared: Any) -> None:
        """Release it: workers drop what no future stands for."""
        shared.release()

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Have a function called; futures among the arguments arrive as values."""
        from distributed import as_completed

        if self._completed is None:
            self._completed = as_completed(
                loop=self._client.loop, with_results=True, raise_errors=False
            )
        # A key of its own for each call: a chunk may be done a second time.
        key = f"cvst-{uuid4().hex}"
        options = {"pure": False, **self._options}
        call = self._client.submit(function, *args, key=key, **options)
        self._completed.add(call)
        return call

    def finished(self, waiting: Collection[Any]) -> Iterable[Any]:
        """Wait for at least one call."""
        del waiting
        batch = self._completed.next_batch(block=True)
        self._results.update(batch)
        return [call for call, _ in batch]

    def result(self, call: Any) -> Any:
        """Return what came with the call."""
        from distributed import KilledWorker

        found = self._results.pop(call)
        if call.status == "error":
            _, error, trace = found
            if isinstance(error, KilledWorker):
                raise WorkerLostError(KILLED)
            raise error.with_traceback(trace)
        if call.status in ("cancelled", "lost") or isinstance(found, CancelledError):
            raise SharedLostError
        return found

    def cancel(self, waiting: Collection[Any]) -> None:
        """Give up calls; what a thread is doing goes on to its end."""
        if waiting:
            self._client.cancel(list(waiting))
        self._completed = None
        self._results.clear()

    def close(self) -> None:
        """Take the worker's place again, where the search runs inside a worker."""
        if self._seceded:
            from distributed import rejoin

            rejoin()
            self._seceded = False


def _secede() -> bool:
    """Give the place of a worker's thread to others while the search waits."""
    from distributed import secede
    from distributed.worker import thread_state

    if not hasattr(thread_state, "execution_state"):
        return False
    secede()
    return True
