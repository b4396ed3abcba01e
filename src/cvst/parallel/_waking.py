"""Worker processes that are asked to start before there is anything to do."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, BrokenExecutor, Future, wait
from typing import Any, Literal

from cvst.parallel._engines import effective_n_jobs, whereabouts
from cvst.parallel._pickling import Packed
from cvst.parallel._processes import leased
from cvst.parallel._single import below_processes

__all__ = ["wake_workers"]


def wake_workers(
    function: Callable[[], Any],
    n_jobs: int | None,
    prefer: Literal["threads", "processes"],
    seconds: float,
) -> bool:
    """Let processes start and import what a function needs.

    Parameters
    ----------
    function : callable
        What each of them calls; it should do nothing.
    n_jobs : int or None
        Number of workers.
    prefer : {"threads", "processes"}
        A hint for joblib.
    seconds : float
        How long to wait for them.

    Returns
    -------
    bool
        Whether they can work now. Those that did not start in time are ended. Workers
        of other kinds are there at once, or not known here.
    """
    if whereabouts(n_jobs, prefer) != "files":
        return True
    packed = Packed(function)
    with leased(effective_n_jobs(n_jobs)) as pool:
        executor = pool.started()
        asked: list[Future[Any]]
        try:
            asked = [
                executor.submit(below_processes, packed) for _ in range(pool.n_workers)
            ]
            waiting = wait(asked, seconds, FIRST_EXCEPTION).not_done
        except BrokenExecutor:
            # Who cannot start tells so at the first chunk.
            return True
        except BaseException:
            pool.end(executor)
            raise
        failed = [one for one in asked if one.done() and one.exception() is not None]
        if waiting or failed:
            pool.end(executor)
        return not waiting or bool(failed)
