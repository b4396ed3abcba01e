"""The little language of grids, read by recursive descent and never evaluated.

.. code-block:: text

    grid        = part ("|" part)*
    part        = assignment+                 separated by blanks, commas or semicolons
    assignment  = name "=" value
    value       = list | call | scalar        a scalar stands for a list of one
    list        = "[" [item ("," item)* [","]] "]"
    item        = call | scalar               a range within a list is spliced in
    call        = function "(" [argument ("," argument)*] ")"
    argument    = number | name "=" number
    scalar      = tuple | number | word | string
    tuple       = "(" [scalar ("," scalar)* [","]] ")"

The functions are those of :mod:`cvst.cli.grid._ranges`; the words ``true``, ``false``
and ``none`` (or ``null``) are the constants, every other word is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, NoReturn

from cvst._text import shortened
from cvst.cli.grid._ranges import FUNCTIONS, Draw
from cvst.exceptions import InvalidInputError

__all__ = [
    "Assignment",
    "GridSyntaxError",
    "is_finite",
    "parse_grid",
    "parse_value",
    "place",
]

# A number must not run on into letters, or 3d would be 3 and d. Words have dots and
# hyphens within, as in newton-cg.
TOKENS = re.compile(
    r"""
    (?P<blank>\s+)
  | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
  | (?P<word>[A-Za-z_](?:[\w.-]*\w)?)
  | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<mark>[=()\[\],;|])
    """,
    re.VERBOSE,
)
# Tokens that are a value by themselves.
VALUES = "number", "word", "string"

# In small letters, since true, True and TRUE mean the same to those who write grids.
CONSTANTS = {"true": True, "false": False, "none": None, "null": None}

# Deep nesting would exhaust the stack; no hyper-parameter needs this much.
DEEPEST = 20

# Of a number with hundreds of digits, these are enough for an error message.
LONGEST_SHOWN = 30

# Of a line with a mistake this many characters are shown on either side of it.
MOST_SHOWN = 100


class GridSyntaxError(InvalidInputError):
    """A grid breaks the grammar; the message points at the place."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A parameter and its values.

    Attributes
    ----------
    name : str
        As written.
    values : list or Draw
        What to try.
    position : int or None
        Where the name begins in the text of the grid, None if it came from a file.
    """

    name: str
    values: list[Any] | Draw
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: its kind (a mark is its own kind), its text, its place."""

    kind: str
    text: str
    start: int

    @property
    def shown(self) -> str:
        """The token as an error message names it."""
        return "the end" if self.kind == "end" else repr(self.text)


def parse_grid(text: str) -> list[list[Assignment]]:
    """Read assignments; parts separated by ``|`` are grids of their own.

    Examples
    --------
    >>> [[part]] = parse_grid("alpha=logspace(-1, 1, 3)")
    >>> part.name, part.values
    ('alpha', [0.1, 1.0, 10.0])
    >>> [values.values for values in parse_grid("kernel=[rbf, linear] C=1")[0]]
    [['rbf', 'linear'], [1]]
    """
    reader = _Reader(text)
    parts = [reader.part()]
    while reader.take("|"):
        parts.append(reader.part())
    reader.expect("end", "a parameter such as alpha=[1, 10]")
    return parts


def parse_value(text: str) -> list[Any] | Draw:
    """Read one value, as a file holds it.

    Examples
    --------
    >>> parse_value("range(1, 10, 4)")
    [1, 5, 9]
    """
    reader = _Reader(text)
    values = reader.value()
    reader.expect("end", "the end of the value")
    return values


def place(text: str, position: int) -> str:
    """Return the line of the text with a caret under the position, to be appended."""
    start = text.rfind("\n", 0, position) + 1
    line = text[start:].split("\n", 1)[0]
    # Of a long one what is near that place.
    first = max(0, position - start - MOST_SHOWN)
    before = "…" if first else ""
    after = "…" if len(line) > first + 2 * MOST_SHOWN else ""
    shown = f"{before}{line[first : first + 2 * MOST_SHOWN]}{after}"
    return f"\n  {shown}\n  {' ' * (len(before) + position - start - first)}^"


def _tokens(text: str) -> Iterator[Token]:
    position = 0
    while position < len(text):
        match = TOKENS.match(text, position)
        if match is None:
            _refuse_character(text, position)
        if match.lastgroup != "blank":
            kind = match.group() if match.lastgroup == "mark" else str(match.lastgroup)
            yield Token(kind, match.group(), position)
        position = match.end()
    # With it no rule need ask whether there is a next token.
    yield Token("end", "", len(text))


def _refuse_character(text: str, position: int) -> NoReturn:
    character = text[position]
    if character in "\"'":
        message = f"the quote {character} is never closed"
    elif re.match(r"[+-]?\.?\d", text[position:]):
        word = re.split(r"[\s,;|)\]]", text[position:], maxsplit=1)[0]
        message = f"{word!r} is neither a number nor, without quotes, text"
    else:
        message = f"{character!r} means nothing here; put text in quotes"
    _fail(text, position, message)


def _fail(text: str, position: int, message: str) -> NoReturn:
    raise GridSyntaxError(
        f"The grid cannot be read at column {position + 1}: {message}."
        f"{place(text, position)}"
    )


class _Reader:
    """One method per rule of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0
        self._depth = 0

    @property
    def token(self) -> Token:
        return self._tokens[self._next]

    def take(self, kind: str) -> Token | None:
        """Consume the next token if it is of that kind."""
        token = self.token
        if token.kind != kind:
            return None
        self._next += 1
        return token

    def expect(self, kind: str, wanted: str) -> Token:
        token = self.take(kind)
        if token is None:
            self.fail(f"expected {wanted}, not {self.token.shown}")
        return token

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        _fail(self._text, (token or self.token).start, message)

    def part(self) -> list[Assignment]:
        assignments: list[Assignment] = []
        while self.token.kind not in ("end", "|"):
            name = self.expect("word", "a parameter such as alpha=[1, 10]")
            if any(name.text == known.name for known in assignments):
                self.fail(f"{name.text!r} is given twice", name)
            self.expect("=", f"'=' after {name.text!r}")
            first = self.token
            assignments.append(Assignment(name.text, self.value(), name.start))
            if self.take(","):
                self.refuse_values_without_brackets(name, first)
            else:
                self.take(";")
        if not assignments:
            self.fail("expected a parameter such as alpha=[1, 10]")
        return assignments

    def refuse_values_without_brackets(self, name: Token, first: Token) -> None:
        """Say how ``alpha=1,10`` is written, the usual first mistake."""
        token = self.token
        following = self._tokens[min(self._next + 1, len(self._tokens) - 1)]
        is_value = token.kind in VALUES and following.kind != "="
        # One token before the comma: a list or a function was meant as it stands.
        if is_value and self._tokens[self._next - 2] is first:
            both = ", ".join(one.text[:LONGEST_SHOWN] for one in (first, token))
            self.fail(
                f"several values of {name.text!r} go in brackets, as in "
                f"{name.text}=[{both}]"
            )

    def value(self) -> list[Any] | Draw:
        if self.token.kind == "[":
            return self.listing()
        start = self.token
        item = self.item()
        if isinstance(item, list) and not item:
            self.fail("this range is empty, so there is nothing to try", start)
        return item

    def listing(self) -> list[Any]:
        start = self.expect("[", "'['")
        values: list[Any] = []
        while not self.take("]"):
            token = self.token
            item = self.item()
            if isinstance(item, Draw):
                self.fail(
                    f"{token.text}() draws at random and cannot be part of a list",
                    token,
                )
            values.extend(item)
            if not self.take(","):
                self.expect("]", "',' or ']'")
                break
        if not values:
            self.fail("this list is empty, so there is nothing to try", start)
        return values

    def item(self) -> list[Any] | Draw:
        # A word before a bracket is a function, any other is text.
        following = self._tokens[min(self._next + 1, len(self._tokens) - 1)]
        if self.token.kind == "word" and following.kind == "(":
            return self.call()
        return [self.scalar()]

    def call(self) -> list[Any] | Draw:
        name = self.expect("word", "a function")
        function = FUNCTIONS.get(name.text)
        if function is None:
            known = ", ".join(FUNCTIONS)
            self.fail(
                f"{name.text!r} is not a function of grids; those are {known}", name
            )
        self.expect("(", "'('")
        positional: list[float] = []
        named: dict[str, float] = {}
        while not self.take(")"):
            self.argument(positional, named)
            if not self.take(","):
                self.expect(")", "',' or ')'")
                break
        try:
            return function(*positional, **named)
        except TypeError:
            # Python has compared the arguments with the signature of the function.
            usage = f"{name.text}{function.usage}"
            self.fail(f"{name.text}() is written {usage}", name)
        except InvalidInputError as error:
            self.fail(f"{name.text}(): {error}", name)

    def argument(self, positional: list[float], named: dict[str, float]) -> None:
        word = self.take("word")
        if word is not None:
            if word.text in named:
                self.fail(f"{word.text!r} is given twice", word)
            self.expect("=", f"'=' after {word.text!r}")
            named[word.text] = self.number()
        else:
            positional.append(self.number())

    def number(self) -> float:
        token = self.expect("number", "a number")
        value = _parsed_number(token.text)
        if not is_finite(value):
            shown = shortened(token.text, LONGEST_SHOWN)
            self.fail(f"{shown} is more than a number can hold", token)
        return value

    def scalar(self) -> Any:
        token = self.token
        if token.kind == "number":
            return self.number()
        if self.take("string"):
            # A backslash is for quotes and itself only: \n is an n.
            return re.sub(r"\\(.)", r"\1", token.text[1:-1])
        if self.take("word"):
            return CONSTANTS.get(token.text.lower(), token.text)
        if token.kind != "(":
            self.fail(f"expected a value, not {token.shown}")
        return self.bracket()

    def bracket(self) -> Any:
        start = self.expect("(", "'('")
        self._depth += 1
        if self._depth > DEEPEST:
            self.fail(f"brackets are nested more than {DEEPEST} deep", start)
        members: list[Any] = []
        comma = False
        while not self.take(")"):
            members.append(self.scalar())
            comma = bool(self.take(","))
            if not comma:
                self.expect(")", "',' or ')'")
                break
        self._depth -= 1
        # As in Python, brackets around one value make a tuple only with a comma.
        return members[0] if len(members) == 1 and not comma else tuple(members)


def is_finite(value: float) -> bool:
    """Return whether a number, of any size if it is whole, fits into a float."""
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _parsed_number(text: str) -> float:
    try:
        # Whole numbers stay whole: scikit-learn refuses max_depth=3.0.
        return int(text)
    except ValueError:
        return float(text)
