"""What every worker does with a chunk, and how chunks are split into smaller ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import joblib

from cvst.parallel._lightgbm import with_one_lightgbm_thread
from cvst.parallel._pickling import Packed
from cvst.parallel._process_state import one_blas_thread, thread_pools
from cvst.parallel._spare import keeps_time

__all__ = [
    "Interrupted",
    "below_processes",
    "for_workers",
    "packed",
    "parts_of",
    "single_threaded",
]

T = TypeVar("T")


class Interrupted:
    """Stands for a chunk that Ctrl-C cut short."""


def for_workers(function: Callable[..., T]) -> Callable[..., T]:
    """Return a function as workers call it.

    Where the search keeps time each of them has one thread of LightGBM too: workers
    that fight for the processors take many times as long.
    """
    return partial(with_one_lightgbm_thread, function) if keeps_time() else function


def packed(function: Callable[..., T]) -> Packed[T]:
    """Return a function as workers get it; one that is packed goes with many chunks."""
    if isinstance(function, Packed):
        return function
    return Packed(for_workers(function))


def single_threaded(function: Callable[..., T], *args: Any) -> T | Interrupted:
    """Call a function with one thread for BLAS and OpenMP."""
    # OpenMP's limit belongs to the calling thread, and a worker process has its own
    # BLAS, so both are set where the work is done.
    try:
        with one_blas_thread(), thread_pools("openmp").limit(limits=1):
            return function(*args)
    except KeyboardInterrupt:
        # A terminal sends Ctrl-C to workers too. Raised there it would kill a thread
        # that somebody waits for, or fill the screen with tracebacks.
        return Interrupted()


def below_processes(function: Callable[..., T], *args: Any) -> T | Interrupted:
    """Call a function in a worker process, where others do not start more of them.

    An estimator with workers of its own gets threads, as joblib has it there.
    """
    threads = joblib.parallel.BACKENDS["threading"](nesting_level=1)
    with joblib.parallel_config(backend=threads):
        return single_threaded(function, *args)


def parts_of(chunk: list[list[int]]) -> list[list[list[int]]]:
    """Return smaller chunks: single groups, then single configurations, then none."""
    if len(chunk) > 1:
        return [[group] for group in chunk]
    return [[[number]] for number in chunk[0]] if len(chunk[0]) > 1 else []
