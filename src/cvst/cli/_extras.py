"""Optional packages: imported when needed, and missed in one sentence."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cvst.exceptions import CVSTError

__all__ = ["MissingExtraError", "need"]


class MissingExtraError(CVSTError):
    """A package is not installed that this command needs."""


def need(module: str, purpose: str, install: str = "cvst[cli]") -> Any:
    """Import a module, or say what to install for it.

    Parameters
    ----------
    module : str
        Full name of the module.
    purpose : str
        What it is needed for, as the start of a sentence.
    install : str
        What to hand to pip.

    Examples
    --------
    >>> need("math", "Counting").floor(1.5)
    1
    >>> need("no_such_module", "Magic")
    Traceback (most recent call last):
        ...
    cvst.cli._extras.MissingExtraError: Magic needs the package 'no_such_module', \
which is not installed. Run: pip install 'cvst[cli]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".", 1)[0]
        # The package is there, but something it imports is not: its own error says
        # more.
        if error.name is None or error.name.split(".", 1)[0] != package:
            raise
        raise MissingExtraError(
            f"{purpose} needs the package {package!r}, which is not installed. "
            f"Run: pip install '{install}'"
        ) from error
