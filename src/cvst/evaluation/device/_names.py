"""From the name of a device to its arrays."""

from __future__ import annotations

from typing import Any

from cvst.evaluation.device._arrays import Arrays, NumpyArrays
from cvst.exceptions import InvalidInputError

__all__ = ["arrays_on"]

# Computed with NumPy and SciPy as ever.
HOST = "cpu"

# The batched solvers on NumPy, for tests.
BATCHED_NUMPY = "numpy"

# What follows is a device as torch names it.
TORCH = "torch:"


def _checked(device: Any) -> str:
    """Return the name of a device, or say which ones there are."""
    is_known = isinstance(device, str) and (
        device in (HOST, BATCHED_NUMPY, "cuda")
        or (device.startswith("cuda:") and device[5:].isdigit())
        or (device.startswith(TORCH) and len(device) > len(TORCH))
    )
    if not is_known:
        raise InvalidInputError(
            f"device={device!r} is not known. Use 'cpu', 'cuda', the number of a card "
            "as in 'cuda:1', or any device of torch as in 'torch:cpu'."
        )
    return str(device)


def arrays_on(device: Any) -> Arrays | None:
    """Return the arrays of a device; None for the host without batches.

    Parameters
    ----------
    device : str
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``, ``"torch:cpu"`` or ``"numpy"``.

    Examples
    --------
    >>> arrays_on("cpu") is None
    True
    >>> arrays_on("numpy").name
    'numpy'
    """
    name = _checked(device)
    if name == HOST:
        return None
    if name == BATCHED_NUMPY:
        return NumpyArrays()
    try:
        from cvst.evaluation.device._torch import TorchArrays
    except ImportError as error:
        raise InvalidInputError(
            f"device={device!r} needs PyTorch, which cannot be imported ({error}). "
            "Install it with pip install 'cvst[gpu]', or use device='cpu'."
        ) from error
    return TorchArrays(name.removeprefix(TORCH))
