"""PyTorch's arrays: the only module that imports torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from cvst.exceptions import InvalidInputError

__all__ = ["TorchArrays"]

# What batches on the host may take; the host is not asked how much is free.
HOST_BYTES = 2**30

# Newton steps wait for a card, however little there is to do. The host is faster with
# fewer fits than this, and fewer operations.
FEWEST_FITS = 8
FEWEST_OPERATIONS = 2e9

# Smaller arrays are not worth memory of their own kind.
SMALLEST_PINNED_BYTES = 2**18


class TorchArrays:
    """Arrays of torch on a device.

    Parameters
    ----------
    device : str
        As torch names it: ``"cuda"``, ``"cuda:1"``, ``"cpu"``.
    """

    xp = torch
    out_of_memory: tuple[type[BaseException], ...] = (
        torch.cuda.OutOfMemoryError,
        MemoryError,
    )

    def __init__(self, device: str) -> None:
        try:
            self._device = torch.device(device)
            torch.empty(1, dtype=torch.float64, device=self._device)
        except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
            reason = str(error).strip().split("\n", 1)[0]
            raise InvalidInputError(
                f"device={device!r} cannot be used: {reason} Use a device that "
                "computes in double precision and that torch sees, or device='cpu'."
            ) from error
        self.name = str(self._device) if self._is_cuda else f"torch:{self._device}"

    @property
    def _is_cuda(self) -> bool:
        return bool(self._device.type == "cuda")

    def pays(self, n_fits: int, operations: float) -> bool:
        """Return whether there is enough to do for a card, step by step."""
        enough = n_fits >= FEWEST_FITS or operations >= FEWEST_OPERATIONS
        return enough or not self._is_cuda

    def put(self, values: Any) -> Any:
        """Copy numbers to the device."""
        array = np.ascontiguousarray(values)
        if array.dtype.kind == "f":
            array = array.astype(np.float64, copy=False)
        if not array.flags.writeable:
            # torch warns of arrays that it must not write to, though it copies.
            array = array.copy()
        return torch.as_tensor(array).to(self._device)

    def fetch(self, values: Any) -> Any:
        """Copy an array to the host."""
        values = values.detach()
        if not self._is_cuda or values.nbytes < SMALLEST_PINNED_BYTES:
            return values.cpu().numpy()
        # Into memory that the card writes to itself, twenty times as fast. torch
        # keeps it for the next array once this one is gone.
        pinned = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
        pinned.copy_(values)
        return pinned.numpy()

    def empty(self, *shape: int) -> Any:
        """Return an array of doubles whose values are arbitrary."""
        return torch.empty(shape, dtype=torch.float64, device=self._device)

    def zeros(self, *shape: int) -> Any:
        """Return an array of zeros."""
        return torch.zeros(shape, dtype=torch.float64, device=self._device)

    def free_bytes(self) -> int:
        """Return what the card has left, and what torch holds of it unused."""
        if not self._is_cuda:
            return HOST_BYTES
        free, _ = torch.cuda.mem_get_info(self._device)
        # The flat form of the same numbers takes a millisecond.
        stats = torch.cuda.memory_stats_as_nested_dict(self._device)
        if not stats:
            return int(free)
        held = stats["reserved_bytes"]["all"]["current"]
        return int(free + held - stats["allocated_bytes"]["all"]["current"])

    def release(self) -> None:
        """Give memory back that torch holds for later."""
        if self._is_cuda:
            torch.cuda.empty_cache()

    def subtract_product(self, target: Any, a: Any, b: Any) -> None:
        """Subtract the products of two stacks of matrices from a third, in place."""
        target.baddbmm_(a, b, alpha=-1.0)

    def cholesky(self, matrices: Any) -> tuple[Any, Any]:
        """Return lower factors of a stack of matrices, and which of them failed."""
        factors, failures = torch.linalg.cholesky_ex(matrices)
        return factors, failures != 0

    def solve_factorised(self, factors: Any, right: Any) -> Any:
        """Solve systems whose lower factors are given."""
        return torch.cholesky_solve(right, factors)

    def inverse_of_lower(self, factors: Any) -> Any:
        """Solve for the columns of the identity."""
        size = factors.shape[-1]
        identity = torch.eye(size, dtype=torch.float64, device=self._device)
        return torch.linalg.solve_triangular(
            factors, identity.expand_as(factors), upper=False
        )

    def smallest(self, values: Any, k: int) -> tuple[Any, Any]:
        """Return the k smallest values of each row, in any order, and their places."""
        found = torch.topk(values, k, dim=1, largest=False, sorted=False)
        return found.values, found.indices

    def together(self, *columns: Any) -> Any:
        """Return arrays of one length as columns of one, after one wait."""
        return self.fetch(torch.stack([one.double() for one in columns], dim=1))

    def wait(self) -> None:
        """Return once the device has done what it was asked for."""
        if self._is_cuda:
            torch.cuda.synchronize(self._device)

    def __reduce__(self) -> tuple[type[TorchArrays], tuple[str]]:
        return TorchArrays, (str(self._device),)
