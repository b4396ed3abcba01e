"""Batches fit into memory, or get smaller until they do."""

from __future__ import annotations

import pytest

from cvst.evaluation.device import DeviceFullError, NumpyArrays, in_batches


class Small(NumpyArrays):
    """A device with room for three items, which believes in more."""

    name = "small"

    def __init__(self, believed, real):
        self.believed, self.real = believed, real
        self.released = 0

    def free_bytes(self):
        return self.believed

    def release(self):
        self.released += 1


def test_sizes_follow_the_free_memory():
    seen = []

    in_batches(Small(believed=1_000, real=0), 10, 200.0, seen.append)

    assert [(part.start, part.stop) for part in seen] == [
        (0, 3),
        (3, 6),
        (6, 9),
        (9, 10),
    ]


def test_a_batch_that_does_not_fit_is_cut_into_halves():
    arrays = Small(believed=1_000, real=2)
    done = []

    def work(part):
        if part.stop - part.start > arrays.real:
            raise MemoryError
        done.extend(range(part.start, part.stop))

    in_batches(arrays, 7, 100.0, work)

    assert done == list(range(7))
    assert arrays.released == 2


def test_an_item_that_does_not_fit_is_said_with_the_numbers():
    def work(part):
        raise MemoryError("no room")

    with pytest.raises(
        DeviceFullError, match=r"0\.50 GiB do not fit on device='small'"
    ):
        in_batches(Small(believed=2**30, real=0), 5, 2**29, work)


def test_other_errors_are_not_caught():
    def work(part):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        in_batches(Small(believed=2**30, real=0), 5, 1.0, work)
