"""Other programs that keep a machine busy while something is measured."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["beside"]


def _spin() -> None:
    while True:
        sum(range(10_000))


@contextmanager
def beside(n_others: int) -> Iterator[None]:
    """Keep this many other processes busy meanwhile."""
    others = [
        multiprocessing.Process(target=_spin, daemon=True) for _ in range(n_others)
    ]
    for other in others:
        other.start()
    try:
        yield
    finally:
        for other in others:
            other.terminate()
