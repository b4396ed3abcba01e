"""Work in batches that fit into the memory of a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cvst.evaluation.device._arrays import Arrays, DeviceFullError

__all__ = ["in_batches", "within_memory"]

# The rest is for what the library itself allocates on the way.
LARGEST_SHARE = 0.7


def in_batches(
    arrays: Arrays,
    n_items: int,
    bytes_per_item: float,
    work: Callable[[slice], None],
) -> None:
    """Do work in as few batches as the free memory allows.

    A batch for which the device is too small all the same is cut into halves.

    Parameters
    ----------
    arrays : Arrays
        The device.
    n_items : int
        How much there is to do.
    bytes_per_item : float
        What each takes.
    work : callable
        Called with the slice of the items that it shall do; again with a part of it
        where memory ran out.

    Raises
    ------
    DeviceFullError
        If a single item does not fit.

    Examples
    --------
    >>> from cvst.evaluation.device import NumpyArrays
    >>> in_batches(NumpyArrays(), 3, 2**29, print)
    slice(0, 1, None)
    slice(1, 2, None)
    slice(2, 3, None)
    """
    room = LARGEST_SHARE * arrays.free_bytes()
    size = max(1, min(n_items, int(room / max(1.0, bytes_per_item))))
    start = 0
    while start < n_items:
        batch = slice(start, min(start + size, n_items))
        full: str | None = None
        try:
            work(batch)
        except arrays.out_of_memory as error:
            # Only behind this block nothing refers to the arrays any more.
            full = str(error).strip().split("\n", 1)[0]
        if full is None:
            start = batch.stop
            continue
        arrays.release()
        if size == 1:
            raise DeviceFullError(
                f"{bytes_per_item / 2**30:.2f} GiB do not fit on device="
                f"{arrays.name!r}, which has {room / 2**30:.2f} GiB for it: {full}"
            )
        size = max(1, size // 2)


@contextmanager
def within_memory(arrays: Arrays) -> Iterator[None]:
    """Say of anything that does not fit that the device is full.

    Raises
    ------
    DeviceFullError
        In place of the library's own error.
    """
    try:
        yield
    except arrays.out_of_memory as error:
        text = str(error).strip().split("\n", 1)[0]
        arrays.release()
        raise DeviceFullError(
            f"The rows do not fit on device={arrays.name!r}: {text}"
        ) from None
