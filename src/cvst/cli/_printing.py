"""Printing: to whatever reads, in whatever it can show, until it has seen enough."""

from __future__ import annotations

import os
import sys
import unicodedata
from typing import TextIO

__all__ = ["harmless", "say"]

# Control characters move the cursor, change colours or worse; the separators break
# lines, and lone surrogates cannot be encoded.
DANGEROUS = {"Cc", "Cs", "Zl", "Zp"}

# These turn the direction of what follows them.
DIRECTIONS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def harmless(text: str) -> str:
    r"""Escape characters that a terminal would obey instead of showing them.

    Line breaks and tabs stay. Names of columns and values come from files that others
    have written.

    Examples
    --------
    >>> print(harmless("red \x1b[31m, bell \x07"))
    red \x1b[31m, bell \x07
    """
    return "".join(_escaped(c) if _is_dangerous(c) else c for c in text)


def _is_dangerous(character: str) -> bool:
    if character in "\n\t":
        return False
    return character in DIRECTIONS or unicodedata.category(character) in DANGEROUS


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def say(text: str, stream: TextIO | None = None) -> None:
    """Write some lines, at once, to standard output or another stream.

    What the stream cannot encode is escaped; a reader that has gone is not an error.
    """
    stream = sys.stdout if stream is None else stream
    if stream is None:  # closed before the program began
        return
    encoding = stream.encoding or "utf-8"
    shown = harmless(text).encode(encoding, "backslashreplace").decode(encoding)
    try:
        stream.write(f"{shown}\n")
        stream.flush()
    except OSError as error:
        # Python would complain again when it flushes the stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise
