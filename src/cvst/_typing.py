"""Names for the arrays that pass between the layers."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["BoolArray", "Configuration", "FloatArray", "IntArray", "Rows"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]

# A contiguous block of rows (a view, never a copy) or any other set of them.
Rows: TypeAlias = "slice | IntArray"

# Values of hyper-parameters by name, as scikit-learn's ``set_params`` takes them.
Configuration: TypeAlias = "dict[str, Any]"
