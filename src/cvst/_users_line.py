"""The line of the user's that a warning belongs to.

Calls come by ``fit``, ``resume`` or ``plan``, through decorators of scikit-learn or
not, so that no fixed number of frames leads there.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import sklearn.base

__all__ = ["users_line"]

# Frames of these files lie between the user and us: our own, and decorators.
OURS = f"{Path(__file__).parent}{os.sep}"
BETWEEN = {sklearn.base.__file__, contextlib.__file__}


def users_line() -> int:
    """Return the ``stacklevel`` of a warning that shows where we were called."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
        level += 1
    return level


def _is_ours(name: str) -> bool:
    return name.startswith(OURS) or name in BETWEEN
