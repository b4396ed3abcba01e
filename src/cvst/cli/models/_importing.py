"""Importing the model that an import path names, and nothing else from that folder.

A folder of data may hold files that others have put there. Were it on ``sys.path``, a
``plotly.py`` beside the data would be run as soon as somebody imports plotly.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from cvst.exceptions import InvalidInputError

__all__ = ["load_attribute", "load_own_attribute"]

# Folders with links to the user's own modules; they live as long as the process.
_LINKS: list[tempfile.TemporaryDirectory[str]] = []


def load_attribute(path: str) -> Any:
    """Import what a path such as ``package.module:Class`` names."""
    module_name, _, attribute = path.partition(":")
    if not _is_import_path(module_name, attribute):
        raise InvalidInputError(
            f"--model {path!r} is not an import path. Write package.module:Class."
        )
    try:
        module = import_module(module_name)
    except Exception as error:  # whatever the code of that module raises
        why = str(error) or "no reason given"
        raise InvalidInputError(
            f"--model {path} cannot be imported: {type(error).__name__}: {why}."
        ) from error
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        where = getattr(module, "__file__", None)
        raise InvalidInputError(
            f"--model {path} names {attribute!r}, which the module {module_name!r}"
            + (f" ('{where}')" if where else "")
            + " does not have."
        ) from error


def load_own_attribute(path: str) -> Any:
    """Import what a path names, if need be from the current folder.

    The folder can be searched during this import only, and after all that is
    installed. Modules that come from there can be imported again later, by the
    workers of a race for example, but no others.
    """
    here = Path.cwd()
    with _searched(str(here)):
        found = load_attribute(path)
    _keep_importable(here)
    return found


def _is_import_path(module_name: str, attribute: str) -> bool:
    return all(word.isidentifier() for word in [*module_name.split("."), attribute])


@contextmanager
def _searched(folder: str) -> Iterator[None]:
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _keep_importable(folder: Path) -> None:
    """Put a folder on ``sys.path`` that holds links to the modules just imported."""
    own = {
        place
        for name, module in list(sys.modules.items())
        # Modules of a package are found through the package.
        if "." not in name and (place := _place(module)) and place.parent == folder
    }
    own = {place for place in own if not _is_found(place)}
    if not own:
        return
    links = tempfile.TemporaryDirectory(prefix="cvst-models-")
    for place in own:
        (Path(links.name) / place.name).symlink_to(place)
    _LINKS.append(links)
    sys.path.append(links.name)


def _place(module: ModuleType) -> Path | None:
    """Return the file of a module, or the folder of a package."""
    file = getattr(module, "__file__", None)
    if file is None:
        return None
    return Path(file).parent if hasattr(module, "__path__") else Path(file)


def _is_found(place: Path) -> bool:
    """Return whether a module can be imported without the current folder."""
    folders = [Path(folder) for folder in sys.path]
    return any((folder / place.name).exists() for folder in folders)
