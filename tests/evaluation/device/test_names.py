"""Names of devices, and what is said of those that are not there."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from cvst.evaluation.device import arrays_on, as_numpy, is_tensor
from cvst.exceptions import InvalidInputError


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "torch:", "", None, 3])
def test_unknown_names_are_refused(name):
    with pytest.raises(InvalidInputError, match=r"is not known\. Use 'cpu', 'cuda'"):
        arrays_on(name)


def test_without_torch_the_way_out_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "cvst.evaluation.device._torch", raising=False)

    with pytest.raises(InvalidInputError, match=r"needs PyTorch.*cvst\[gpu\]"):
        arrays_on("cuda")


def test_a_device_that_torch_lacks_is_refused():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if torch.cuda.is_available():
        pytest.skip("there is a card")
    with pytest.raises(InvalidInputError, match="device='cuda' cannot be used"):
        arrays_on("cuda")


def test_arrays_come_back_as_they_went(arrays):
    values = np.arange(6.0).reshape(2, 3)
    values.flags.writeable = False

    np.testing.assert_array_equal(arrays.fetch(arrays.put(values)), values)
    assert arrays.fetch(arrays.put(np.arange(3))).dtype.kind == "i"


def test_tensors_become_arrays():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    values = as_numpy(torch.ones(2, requires_grad=True))

    assert isinstance(values, np.ndarray)
    assert values.tolist() == [1.0, 1.0]
    assert not is_tensor(values)
