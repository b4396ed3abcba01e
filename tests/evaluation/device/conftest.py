from __future__ import annotations

import pytest

from cvst.evaluation.device import arrays_on

NO_TORCH = "PyTorch is not installed (extra 'gpu')"


@pytest.fixture(params=["numpy", "torch:cpu"])
def arrays(request):
    """Arrays of each library that the solvers serve."""
    if request.param.startswith("torch"):
        pytest.importorskip("torch", reason=NO_TORCH)
    return arrays_on(request.param)
