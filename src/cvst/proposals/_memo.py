"""Remember the model last fitted, so that equal histories are not learnt twice.

A remembered model must be a function of the key alone; then remembering changes how
long a proposal takes, never what is proposed.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any, Generic, TypeVar

import numpy as np

from cvst._typing import IntArray
from cvst.proposals._history import History

__all__ = ["Memo"]

T = TypeVar("T")


class Memo(Generic[T]):
    """One value and the history that it was made of."""

    def __init__(self) -> None:
        self._key: bytes | None = None
        self._value: T | None = None

    def recall(self, key: tuple[IntArray, History], make: Callable[[], T]) -> T:
        """Return the value of this key, made anew unless it was the last one."""
        digest = _digest(key)
        if digest != self._key or self._value is None:
            # If make raises, neither is assigned, and the old pair stays whole.
            self._key, self._value = digest, make()
        return self._value

    def __getstate__(self) -> dict[str, Any]:
        """Leave the memory behind when copied to another process."""
        return {"_key": None, "_value": None}


def _digest(key: tuple[IntArray, History]) -> bytes:
    choices, history = key
    text = blake2b(choices.tobytes(), digest_size=16)
    for array in (history.points, history.losses, history.fidelities, history.seconds):
        text.update(np.ascontiguousarray(array).tobytes())
    return text.digest()
