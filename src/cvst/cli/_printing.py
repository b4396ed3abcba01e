"""Printing: to whatever reads, in whatever it can show, until it has seen enough."""

from __future__ import annotations

import ctypes
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

__all__ = ["harmless", "one_line", "others_aside", "say"]

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


def one_line(value: Any) -> str:
    r"""Return a value of a file as text that stands within a sentence.

    A line break in it could forge a line that looks like one of ours.

    Examples
    --------
    >>> print(one_line("a\nWinner: b"))
    a\nWinner: b
    """
    return str(value).replace("\n", r"\n")


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


@contextmanager
def others_aside() -> Iterator[None]:
    """Send to standard error what others print: standard output is for one document.

    Models that are asked to be verbose print while they are fitted, compiled ones and
    those in worker processes by the file descriptor.
    """
    if sys.__stdout__ is None:  # closed before the program began
        yield
        return
    closed = sys.__stderr__ is None
    aside = os.open(os.devnull, os.O_WRONLY) if closed else os.dup(2)
    kept = os.dup(1)
    os.dup2(aside, 1)
    os.close(aside)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _flush_compiled()
        os.dup2(kept, 1)
        os.close(kept)


def _flush_compiled() -> None:
    """Write what compiled code has printed and C still holds back."""
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    library.fflush(None)
