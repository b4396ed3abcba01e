"""Printing: to whatever reads, in whatever it can show, until it has seen enough."""

from __future__ import annotations

import ctypes
import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

from cvst._text import shortened

__all__ = ["harmless", "listed", "one_line", "others_aside", "quoted", "say"]

# Control characters move the cursor, change colours or worse; the separators break
# lines, and lone surrogates cannot be encoded.
DANGEROUS = {"Cc", "Cs", "Zl", "Zp"}

# These turn the direction of what follows them.
DIRECTIONS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

# Names in a file may be of any length. A sentence names one of them or two, a list the
# first of thousands.
LONGEST_QUOTED, LONGEST_LISTED, MOST_LISTED = 120, 40, 12


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


def quoted(name: Any) -> str:
    r"""Return a name of a file in quotes, cut if it is long.

    Examples
    --------
    >>> print(quoted("new\nline"), len(quoted("w" * 5000)))
    'new\nline' 122
    """
    return repr(shortened(str(name), LONGEST_QUOTED))


def listed(names: Sequence[Any]) -> str:
    """Return the first few names, cut if they are long, and how many more there are.

    Examples
    --------
    >>> listed(["age", "w" * 5000])
    'age, wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww…'
    >>> listed([f"x{i}" for i in range(1000)])
    'x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 and 988 more'
    """
    more = len(names) - MOST_LISTED
    shown = ", ".join(
        one_line(shortened(str(name), LONGEST_LISTED)) for name in names[:MOST_LISTED]
    )
    return f"{shown} and {more:,} more" if more > 0 else shown


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
