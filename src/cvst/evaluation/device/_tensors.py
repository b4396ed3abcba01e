"""Tensors of torch among the user's data, recognised without importing torch."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["as_numpy", "is_tensor"]


def is_tensor(values: Any) -> bool:
    """Return whether values are a tensor of torch.

    Examples
    --------
    >>> is_tensor([1.0, 2.0])
    False
    """
    # Whoever has a tensor has imported torch.
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def as_numpy(values: Any) -> Any:
    """Return a tensor as an array of NumPy, wherever it lives; others as they are."""
    return values.detach().cpu().numpy() if is_tensor(values) else values
