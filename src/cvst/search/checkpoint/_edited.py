"""Which modules people edit while they search: those that are no installed packages."""

from __future__ import annotations

import os
import sys
from pathlib import PurePath
from types import ModuleType
from typing import Any

__all__ = ["COUNTED", "is_edited"]

# Their versions count always; those of the estimator's own packages besides.
COUNTED = ("cvst", "numpy", "scipy", "sklearn")

# Folders that installers write to; the second is that of Debian.
INSTALLED = tuple(
    f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages")
)

STANDARD = f"{PurePath(os.__file__).parent}{os.sep}"


def is_edited(name: Any) -> bool:
    """Return whether a module belongs to the script: no version tells of its changes.

    An installed package has a version and lies where installers put it; the standard
    library has that of Python. Nothing is imported or run to find out.

    Examples
    --------
    >>> [is_edited(name) for name in ("__main__", "sklearn.svm", "pathlib", "mine")]
    [True, False, False, True]
    """
    if not isinstance(name, str):
        return True
    top = name.partition(".")[0]
    if top == "__main__":
        return True
    if top in COUNTED or top in sys.builtin_module_names:
        return False
    module = sys.modules.get(top)
    if not isinstance(module, ModuleType):
        return True
    known = vars(module)
    file = known.get("__file__")
    if not isinstance(file, str):
        return True
    if any(folder in file for folder in INSTALLED):
        return known.get("__version__") is None
    return not file.startswith(STANDARD)
