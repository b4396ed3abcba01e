"""The library that an array belongs to: tests work on NumPy's and on those of others.

What the tests need is written with functions that NumPy, torch and the array API have
in common; here are the few in which they differ.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from cvst._typing import FloatArray

__all__ = ["fetched", "largest_of_rows", "namespace_of", "smallest_of_rows"]


def namespace_of(values: Any) -> Any:
    """Return the library of an array; NumPy for anything that is none.

    Examples
    --------
    >>> namespace_of([1, 2]) is np
    True
    """
    # Whoever has a tensor has imported torch, which has no namespace of this kind.
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor):
        return torch
    own = getattr(values, "__array_namespace__", None)
    return np if own is None or isinstance(values, np.ndarray) else own()


def fetched(*columns: Any) -> list[FloatArray]:
    """Return arrays of one length as arrays of NumPy, after one wait for a device."""
    xp = namespace_of(columns[0])
    if xp is np:
        return list(columns)
    together = xp.stack([xp.asarray(one, dtype=xp.float64) for one in columns])
    # To the host, where tensors and others differ.
    table = together.cpu() if hasattr(together, "cpu") else together
    return list(np.asarray(table))


def largest_of_rows(table: Any) -> Any:
    """Return the largest entry of each row, none of which is negative."""
    if isinstance(table, np.ndarray):
        return table.max(axis=1, initial=0.0)
    xp = namespace_of(table)
    return xp.amax(table, axis=1) if hasattr(xp, "amax") else xp.max(table, axis=1)


def smallest_of_rows(table: Any, count: int) -> tuple[Any, Any]:
    """Return the least of the smallest entries of each row, and the largest of them.

    Examples
    --------
    >>> smallest_of_rows(np.array([[3.0, 1.0, 2.0]]), 2)
    (array([1.]), array([2.]))
    """
    xp = namespace_of(table)
    if xp is np:
        tail = np.partition(table, count - 1, axis=1)[:, :count]
        return tail.min(axis=1), tail.max(axis=1)
    if hasattr(xp, "topk"):
        tail = xp.topk(table, count, dim=1, largest=False, sorted=True).values
    else:
        tail = xp.sort(table, axis=1)
    return tail[:, 0], tail[:, count - 1]
