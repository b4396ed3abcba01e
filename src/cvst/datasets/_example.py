"""Two small fixed data sets for the documentation and for trying things out."""

from __future__ import annotations

from typing import Literal

from cvst._typing import FloatArray, IntArray
from cvst.datasets._noisy_waves import make_noisy_sinc, make_noisy_sine
from cvst.exceptions import InvalidInputError

__all__ = ["load_example"]

# Few enough for a documentation that runs all of its examples.
N_SAMPLES = 300


def load_example(
    task: Literal["classification", "regression"] = "classification",
) -> tuple[FloatArray, FloatArray | IntArray]:
    """Return a small data set that is the same on every call.

    Parameters
    ----------
    task : {"classification", "regression"}, default="classification"
        A noisy sine (classes 0 and 1) or a noisy sinc.

    Returns
    -------
    X : ndarray of shape (300, 1)
    y : ndarray of shape (300,)

    Examples
    --------
    >>> X, y = load_example()
    >>> X.shape, y[:5]
    ((300, 1), array([1, 1, 1, 0, 1]))
    """
    if task == "classification":
        return make_noisy_sine(N_SAMPLES, random_state=0)
    if task == "regression":
        return make_noisy_sinc(N_SAMPLES, random_state=0)
    raise InvalidInputError(f"task={task!r} must be 'classification' or 'regression'.")
