"""Grids in files: YAML, JSON and TOML as plain lists, dictionaries and scalars."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cvst.cli._extras import need
from cvst.exceptions import InvalidInputError

__all__ = ["FILES", "load_file"]

FILES = (".yaml", ".yml", ".json", ".toml")

# YAML 1.2, as people expect it: 1e-3 is a number, and no is a word. PyYAML follows
# YAML 1.1, where the one is text and the other a constant.
YAML_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
YAML_INTEGER = re.compile(r"[-+]?\d+")
YAML_FLOAT = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")

# A YAML file can refer to itself, and would then never end.
DEEPEST = 20


def load_file(path: Path) -> Any:
    """Read a file; whatever is wrong with it is one sentence, with the line."""
    try:
        content = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInputError(
            f"The grid file '{path}' cannot be read: {error.strerror}."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"The grid file '{path}' is not written in UTF-8. Convert it."
        ) from error
    suffix = path.suffix.lower()
    if suffix == ".toml":
        return _load_toml(path, content)
    return _load_json(path, content) if suffix == ".json" else _load_yaml(path, content)


def _load_toml(path: Path, content: str) -> Any:
    try:
        return tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, "TOML", str(error)) from error


def _load_json(path: Path, content: str) -> Any:
    try:
        return json.loads(content, object_pairs_hook=_mapping)
    except json.JSONDecodeError as error:
        at = f"{error.msg} (line {error.lineno}, column {error.colno})"
        raise _unreadable(path, "JSON", at) from error


def _load_yaml(path: Path, content: str) -> Any:
    yaml = need("yaml", "A grid in YAML")
    try:
        # Nodes only: nothing is constructed, whatever tags the file holds.
        node = yaml.compose(content, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        at = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise _unreadable(path, "YAML", f"{error.problem}{at}") from error
    except yaml.YAMLError as error:
        why = str(error).split("\n", 1)[0]
        raise _unreadable(path, "YAML", why) from error
    return None if node is None else _from_node(node, DEEPEST)


def _from_node(node: Any, depth: int) -> Any:
    if not depth:
        raise InvalidInputError(
            f"The grid file is nested more than {DEEPEST} deep (line "
            f"{node.start_mark.line + 1})."
        )
    if node.id == "sequence":
        return [_from_node(member, depth - 1) for member in node.value]
    if node.id == "mapping":
        return _mapping(
            (_from_node(key, depth - 1), _from_node(value, depth - 1))
            for key, value in node.value
        )
    text: str = node.value
    if node.style is not None:  # in quotes, or a block of text
        return text
    if text.lower() in YAML_CONSTANTS:
        return YAML_CONSTANTS[text.lower()]
    if YAML_INTEGER.fullmatch(text):
        return int(text)
    return float(text) if YAML_FLOAT.fullmatch(text) else text


def _unreadable(path: Path, language: str, why: str) -> InvalidInputError:
    return InvalidInputError(f"The grid file '{path}' is no valid {language}: {why}.")


def _mapping(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if isinstance(key, list | dict):
            raise InvalidInputError(
                f"The grid file has {key!r} where the name of a parameter should be."
            )
        if str(key) in mapping:
            raise InvalidInputError(f"The grid file gives {str(key)!r} twice.")
        mapping[str(key)] = value
    return mapping
