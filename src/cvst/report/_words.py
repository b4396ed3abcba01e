"""What a caller says about a page: its heading, a command, where it goes."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

from cvst._text import shortened
from cvst.exceptions import InvalidInputError

__all__ = ["as_file", "as_text", "encodable"]

# What the system says of names that no file there can have.
UNUSABLE = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP, errno.EINVAL)


def as_text(name: str, value: Any) -> str:
    """Return a text that can be written to a file.

    Raises
    ------
    InvalidInputError
        If it is not a text.
    """
    if not isinstance(value, str):
        raise InvalidInputError(
            f"{name}={shortened(repr(value), 80)} is not a text. Pass a string."
        )
    return encodable(value)


def encodable(text: str) -> str:
    r"""Return a text with halves of characters, which no file can hold, written out.

    Examples
    --------
    >>> encodable("half: \ud800")
    'half: \\ud800'
    """
    return text.encode(errors="backslashreplace").decode()


def as_file(path: str | os.PathLike[str]) -> Path:
    """Return where a page is to be written.

    Raises
    ------
    InvalidInputError
        If no file can have that name.
    """
    try:
        target = Path(path)
        os.fsencode(target)
    except (TypeError, ValueError):
        target = None
    if target is None or "\0" in str(target):
        raise InvalidInputError(
            f"path={shortened(ascii(path), 80)} cannot be the name of a file. Name one."
        )
    try:
        # Asks the system, which knows what is too long.
        is_folder = stat.S_ISDIR(target.stat().st_mode)
    except OSError as error:
        if error.errno in UNUSABLE:
            raise InvalidInputError(
                f"path={shortened(repr(str(target)), 80)} cannot be written: "
                f"{error.strerror}. Name another file."
            ) from error
        is_folder = False
    if is_folder:
        raise InvalidInputError(f"path='{target}' is a folder. Name a file in it.")
    if not target.parent.is_dir():
        raise InvalidInputError(
            f"path='{target}' is in a folder that does not exist. Make the folder, or "
            "name another file."
        )
    return target
