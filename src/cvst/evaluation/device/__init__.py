"""Where arrays live: NumPy here, PyTorch there, and solvers that serve both.

One module imports torch, on first use. What is written against :class:`Arrays` runs on
either, in batches that fit into the memory of the device.
"""

from __future__ import annotations

from cvst.evaluation.device._arrays import Arrays, DeviceFullError, NumpyArrays
from cvst.evaluation.device._batches import in_batches, within_memory
from cvst.evaluation.device._cholesky import Factor, add_to_diagonal, factorised
from cvst.evaluation.device._names import arrays_on
from cvst.evaluation.device._pivoted import Pivoted
from cvst.evaluation.device._tensors import as_numpy, is_tensor

__all__ = [
    "Arrays",
    "DeviceFullError",
    "Factor",
    "NumpyArrays",
    "Pivoted",
    "add_to_diagonal",
    "arrays_on",
    "as_numpy",
    "factorised",
    "in_batches",
    "is_tensor",
    "within_memory",
]
