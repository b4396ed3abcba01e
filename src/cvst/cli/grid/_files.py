"""Grids in files: YAML, JSON and TOML as plain lists, dictionaries and scalars."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cvst._text import value_text
from cvst.cli._extras import need
from cvst.cli._printing import quoted
from cvst.exceptions import InvalidInputError

__all__ = ["FILES", "load_file"]

FILES = (".yaml", ".yml", ".json", ".toml")

# YAML 1.2, as people expect it: 1e-3 is a number, and no is a word. PyYAML follows
# YAML 1.1, where the one is text and the other a constant. These few lines stay, since
# loaders of YAML 1.2 such as ruamel.yaml's follow merge keys (<<) without bound: with
# one, a file of nine lines runs for hours.
YAML_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
YAML_INTEGER = re.compile(r"[-+]?\d+")
YAML_FLOAT = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")

# A YAML file can refer to itself, and would then never end; or to lists of references
# to lists of references.
DEEPEST = 20
MOST_VALUES = 100_000

# A key, or what may hold dots that are of no key. tomllib takes the square of the time
# for a key of many parts, so those are found before. Quotes that nobody closes match
# too, so that no character is read again and again.
TOML_TEXT = r'"(?:[^"\\\n]++|\\.)*+"?+|\'[^\'\n]*+\'?+'
TOML_PART = rf"(?:{TOML_TEXT}|[\w-]++)"
TOML_DOT = r"[ \t]*+\.[ \t]*+"
TOML_TOKEN = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:"{3,5}+)?'
    r"|'''(?:[^']++|'(?!''))*+(?:'{3,5}+)?"
    r"|\#[^\n]*+"
    rf"|(?P<deep>{TOML_PART}(?:{TOML_DOT}{TOML_PART}){{{DEEPEST}}})"
    rf"|{TOML_PART}(?:{TOML_DOT}{TOML_PART})*+",
    re.DOTALL,
)

# A grid of many thousand values has less than this.
MOST_CHARACTERS = 10_000_000


def load_file(path: Path) -> Any:
    """Read a file; whatever is wrong with it is one sentence, with the line."""
    try:
        if path.exists() and not path.is_file():
            raise InvalidInputError(f"The grid file '{path}' is not a regular file.")
        with path.open(encoding="utf-8-sig") as file:
            content = file.read(MOST_CHARACTERS + 1)
    except OSError as error:
        raise InvalidInputError(
            f"The grid file '{path}' cannot be read: {error.strerror}."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"The grid file '{path}' is not written in UTF-8. Convert it."
        ) from error
    if len(content) > MOST_CHARACTERS:
        raise InvalidInputError(
            f"The grid file '{path}' has more than {MOST_CHARACTERS:,} characters. "
            "Write ranges such as logspace(-3, 3, 61) instead of their values."
        )
    load = LOADERS[path.suffix.lower()]
    try:
        loaded = load(path, content)
    except RecursionError as error:
        raise InvalidInputError(
            f"The grid file '{path}' is nested too deeply. A grid needs lists within a "
            "list at most."
        ) from error
    _check_depth(path, loaded)
    return loaded


def _check_depth(path: Path, content: Any) -> None:
    """Refuse what is nested deeply, level by level: to follow it down may fail."""
    level = [content]
    for _ in range(DEEPEST + 1):
        level = [one for one in level if isinstance(one, list | dict)]
        if not level:
            return
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    raise _too_deep(path)


def _load_toml(path: Path, content: str) -> Any:
    if any(token["deep"] for token in TOML_TOKEN.finditer(content)):
        raise _too_deep(path)
    try:
        return tomllib.loads(content)
    except ValueError as error:  # also of integers with thousands of digits
        raise _unreadable(path, "TOML", str(error)) from error


def _load_json(path: Path, content: str) -> Any:
    try:
        return json.loads(content, object_pairs_hook=_mapping)
    except json.JSONDecodeError as error:
        at = f"{error.msg} (line {error.lineno}, column {error.colno})"
        raise _unreadable(path, "JSON", at) from error
    except InvalidInputError:
        raise
    except ValueError as error:  # of integers with thousands of digits
        raise _unreadable(path, "JSON", str(error)) from error


def _load_yaml(path: Path, content: str) -> Any:
    yaml = need("yaml", "A grid in YAML")
    try:
        _count(path, yaml.parse(content, Loader=yaml.SafeLoader), yaml.NodeEvent)
        # Nodes only: nothing is constructed, whatever tags the file holds.
        node = yaml.compose(content, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        at = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise _unreadable(path, "YAML", f"{error.problem}{at}") from error
    except yaml.YAMLError as error:
        why = str(error).split("\n", 1)[0]
        raise _unreadable(path, "YAML", why) from error
    return None if node is None else _Nodes(path).value(node, DEEPEST)


def _count(path: Path, events: Iterable[Any], of_nodes: type) -> None:
    """Refuse a file that holds too much before any of it is put together.

    That takes seconds for each megabyte, and much memory.
    """
    n_nodes = depth = 0
    for event in events:
        n_nodes += isinstance(event, of_nodes)
        if n_nodes > MOST_VALUES:
            raise _too_many(path)
        name = type(event).__name__
        depth += name.endswith("StartEvent") - name.endswith("EndEvent")
        # A stream and a document are around all.
        if depth > DEEPEST + 2:
            raise _too_deep(path, event)


def _too_many(path: Path) -> InvalidInputError:
    return InvalidInputError(
        f"The grid file '{path}' holds more than {MOST_VALUES:,} values, counting each "
        "reference (*name) as what it stands for."
    )


def _too_deep(path: Path, place: Any = None) -> InvalidInputError:
    where = "" if place is None else f" (line {place.start_mark.line + 1})"
    return InvalidInputError(
        f"The grid file '{path}' is nested more than {DEEPEST} deep{where}."
    )


class _Nodes:
    """Turns the nodes of a YAML file into values, as long as there are not too many."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = MOST_VALUES

    def value(self, node: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            # References to references make billions of values out of ten lines.
            raise _too_many(self._path)
        if not depth:
            raise _too_deep(self._path, node)
        if node.id == "sequence":
            return [self.value(member, depth - 1) for member in node.value]
        if node.id == "mapping":
            return _mapping(
                (self.value(key, depth - 1), self.value(value, depth - 1))
                for key, value in node.value
            )
        # In quotes, or a block of text, it is text.
        return _scalar(node.value) if node.style is None else node.value


def _scalar(text: str) -> Any:
    if text.lower() in YAML_CONSTANTS:
        return YAML_CONSTANTS[text.lower()]
    if YAML_INTEGER.fullmatch(text):
        try:
            return int(text)
        except ValueError:  # thousands of digits
            return float(text)
    return float(text) if YAML_FLOAT.fullmatch(text) else text


LOADERS = {
    ".yaml": _load_yaml,
    ".yml": _load_yaml,
    ".json": _load_json,
    ".toml": _load_toml,
}


def _unreadable(path: Path, language: str, why: str) -> InvalidInputError:
    return InvalidInputError(f"The grid file '{path}' is not valid {language}: {why}.")


def _mapping(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if isinstance(key, list | dict):
            raise InvalidInputError(
                f"The grid file has {value_text(key)} where the name of a parameter "
                "should be."
            )
        if str(key) in mapping:
            raise InvalidInputError(f"The grid file gives {quoted(key)} twice.")
        mapping[str(key)] = value
    return mapping
