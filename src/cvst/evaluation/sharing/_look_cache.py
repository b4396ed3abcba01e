"""What is kept while a look lasts, and forgotten when the next one begins."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np

from cvst._typing import FloatArray, Rows

__all__ = ["InUse", "PerLook", "Recent", "same_rows"]

T = TypeVar("T")


class PerLook(Generic[T]):
    """Arrays that belong to one look; those of the look before are forgotten."""

    def __init__(self) -> None:
        self._rows: tuple[Rows, Rows] | None = None
        self._values: dict[Any, T] = {}
        self._lock = threading.Lock()

    def get(self, train: Rows, test: Rows, key: Any, fill: Callable[[], T]) -> T:
        """Return what is kept under the key for this look, filled in on first use."""
        with self._lock:
            if self._rows is None or not same_rows(self._rows, (train, test)):
                self._rows = (train, test)
                self._values = {}
            if key not in self._values:
                self._values[key] = fill()
            return self._values[key]


class _Slot(Generic[T]):
    """A value made by the first thread that asks for it, while the others wait."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value: T | None = None
        self.weight = 0


class Recent(Generic[T]):
    """Keeps the values last asked for, up to a total weight."""

    def __init__(self, limit: int, weigh: Callable[[T], int]) -> None:
        self._limit = limit
        self._weigh = weigh
        self._slots: OrderedDict[Hashable, _Slot[T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value kept under a key, made on first use."""
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
        # Not under the lock of all: other keys need not wait for this one.
        with slot.lock:
            if slot.value is None:
                slot.value = make()
                slot.weight = self._weigh(slot.value)
                self._shrink()
            return slot.value

    def _shrink(self) -> None:
        with self._lock:
            total = sum(slot.weight for slot in self._slots.values())
            # The newest one stays, however large: it is about to be used.
            while total > self._limit and len(self._slots) > 1:
                total -= self._slots.popitem(last=False)[1].weight

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._slots.clear()


class InUse:
    """Arrays that are made once for all threads that use them at the same time.

    When the last one is done the memory is free again.
    """

    def __init__(self) -> None:
        self._slots: dict[Hashable, _WeakSlot] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], FloatArray]) -> FloatArray:
        """Return the array under a key, made unless somebody uses it now."""
        with self._lock:
            slot = self._slots.setdefault(key, _WeakSlot())
        with slot.lock:
            value = None if slot.value is None else slot.value()
            if value is None:
                value = make()
                slot.value = weakref.ref(value)
            return value


class _WeakSlot:
    """A place for an array that lasts as long as somebody uses it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value: weakref.ref[FloatArray] | None = None


def same_rows(one: tuple[Rows, Rows], other: tuple[Rows, Rows]) -> bool:
    """Return whether two looks train and test on the same rows."""
    return all(
        a is b
        or (isinstance(a, slice) and isinstance(b, slice) and a == b)
        or (type(a) is type(b) is np.ndarray and np.array_equal(a, b))
        for a, b in zip(one, other, strict=True)
    )
