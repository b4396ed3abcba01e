"""A race in a file, from which its page can be made again.

The file is compressed JSON: what :func:`~cvst.report.summary` returns, with the title
of the page, a name that says what it is and a version. Reading it runs no code.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from cvst.exceptions import InvalidInputError
from cvst.report._html import TITLE, page_html
from cvst.report._summary import FORMAT
from cvst.report._words import as_text

__all__ = ["StoredRace", "race_bytes", "read_race"]

KIND = "cvst race"

# A race of 2,000 configurations has some 2 MB. Beyond this a small compressed file
# would fill the memory.
MOST_BYTES = 300_000_000

# Size is counted in blocks of this many bytes before any of them is kept.
BLOCK = 2**20

# What the page takes for granted, by name and type.
PAGE = {
    "finished": bool,
    "stop_sentence": str,
    "strategy": str,
    "path": str,
    "n_samples": int,
    "n_validation": int,
    "n_configurations": int,
    "n_active": int,
    "n_looks": int,
    "parameters": list,
    "looks": list,
    "configurations": list,
    "winner": dict,
}
LOOK = {
    "look": int,
    "stage": str,
    "n_train": int,
    "n_tested": int,
    "n_top": int,
    "n_dropped": int,
    "n_active": int,
    "leader_parameters": dict,
    "leader_loss": float | int | None,
    "seconds": float | int,
}
CONFIGURATION = {"index": int, "rank": int, "parameters": dict, "looks": list}


@dataclass(frozen=True, slots=True)
class StoredRace:
    """A race that was read from a file.

    Attributes
    ----------
    title : str
        Heading of its page.
    page : dict
        What :func:`~cvst.report.summary` returned.
    """

    title: str
    page: dict[str, Any]

    def html(self) -> str:
        """Return the page, the same as when the race was run."""
        return page_html(self.page, title=self.title)


def race_bytes(page: dict[str, Any], *, title: str = TITLE) -> bytes:
    """Return the content of a file that holds a race.

    Parameters
    ----------
    page : dict
        What :func:`~cvst.report.summary` returned.
    title : str
        Heading of the page.

    Returns
    -------
    bytes
        Compressed; the same race gives the same bytes.

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from cvst.report import summary
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> search = RaceGridSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": [1, 5]}, random_state=0)
    >>> page = summary(search.fit(*load_iris(return_X_y=True)))
    >>> content = race_bytes(page, title="Iris")
    >>> content[:2].hex()
    '1f8b'
    """
    title = as_text("title", title)
    document = {"kind": KIND, "format": FORMAT, "title": title, "race": page}
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    return gzip.compress(text.encode(), mtime=0)


def read_race(path: str | os.PathLike[str]) -> StoredRace:
    """Read a file that :func:`race_bytes` made.

    Parameters
    ----------
    path : str or path
        The file, compressed or not.

    Returns
    -------
    StoredRace
        Title and facts; its ``html()`` is the page.

    Raises
    ------
    InvalidInputError
        If the file is not a stored race, is damaged, or was written by a newer version.
    """
    document = _document(path)
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise InvalidInputError(
            f"'{path}' holds no race of cvst. Name a file that cvst has written."
        )
    version = document.get("format")
    if not isinstance(version, int) or version > FORMAT:
        raise InvalidInputError(
            f"'{path}' has format {version!r}, but this version of cvst reads formats "
            f"up to {FORMAT}. Install a newer version of cvst."
        )
    title, page = document.get("title"), document.get("race")
    if not isinstance(title, str) or not _is_page(page):
        raise _damaged(path, "parts are missing")
    return StoredRace(title, page)


def _document(path: str | os.PathLike[str]) -> Any:
    with Path(path).open("rb") as file:
        try:
            # The mark of gzip. A file that was unpacked by hand is read as well.
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            source = gzip.GzipFile(fileobj=file) if packed else file
            size = 0
            while block := source.read(BLOCK):
                size += len(block)
                if size > MOST_BYTES:
                    raise _damaged(path, f"it has more than {MOST_BYTES:,} bytes")
            source.seek(0)
            return json.loads(source.read(size))
        # Lists in lists, thousands deep, are valid JSON that Python gives up on.
        except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
            if isinstance(error, InvalidInputError):
                raise
            raise _damaged(path, str(error) or "it ends too soon") from error


def _damaged(path: str | os.PathLike[str], why: str) -> InvalidInputError:
    return InvalidInputError(
        f"'{path}' is damaged: {why.rstrip('.')}. Run the search again, or copy the "
        "file again."
    )


def _is_page(page: Any) -> TypeGuard[dict[str, Any]]:
    return (
        _has(page, PAGE)
        and _has(page["winner"], {"index": int, "parameters": dict, "why": list})
        and all(_has(look, LOOK) for look in page["looks"])
        and all(_has(one, CONFIGURATION) for one in page["configurations"])
    )


def _has(value: Any, types: dict[str, Any]) -> bool:
    return isinstance(value, dict) and all(
        name in value and isinstance(value[name], kind) for name, kind in types.items()
    )
