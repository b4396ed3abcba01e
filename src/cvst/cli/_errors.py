"""How a command ends other than well."""

from __future__ import annotations

from cvst._text import shortened
from cvst.exceptions import AllFitsFailedError

__all__ = ["Interrupted", "NotWritten", "one_sentence"]

# More than most errors of models take.
LONGEST_FAILURE = 500


class Interrupted(Exception):  # noqa: N818 # not an error: the user wanted it
    """The user pressed Ctrl-C; the text says what is known by then."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class NotWritten(Exception):  # noqa: N818 # a leader is known, only a disk is full
    """Results are known, but not all that was asked for could be done."""

    def __init__(self, text: str, sentence: str) -> None:
        super().__init__(sentence)
        self.text = text
        self.sentence = sentence


def one_sentence(error: BaseException) -> str:
    """Return an error's message without the traceback that some of them hold.

    Examples
    --------
    >>> one_sentence(ValueError("The grid is empty."))
    'The grid is empty.'
    """
    text = str(error).strip() or type(error).__name__
    if isinstance(error, AllFitsFailedError):
        # The message ends with the traceback of the first failure; its last line says
        # what went wrong.
        head, _, details = text.partition("\n")
        # It may repeat the value that was at fault, however long that is.
        last = shortened(details.strip().rsplit("\n", 1)[-1].strip(), LONGEST_FAILURE)
        return f"{head} {last}" if last else head
    if isinstance(error, OSError) and error.strerror:
        where = f"'{error.filename}': " if error.filename else ""
        return f"{where}{error.strerror}."
    return text
