"""Values as JSON and plain arrays, and back to the last bit; nothing is ever run.

JSON has no tuples, no keys but text and no NaN, so these are dictionaries with one key
that begins with a dollar sign. An array is its number among the arrays of the record,
with type and shape. What is none of these is kept as text, for people, together with
its digest, by which whoever has the value finds it again.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvst._text import value_text
from cvst.search.checkpoint._digest import digest

__all__ = ["Shown", "packed", "unpacked"]

# Kinds of arrays that are bytes and nothing else: no objects, no pickle.
PLAIN_KINDS = "biufc"

# Types that JSON has, and gives back.
AS_THEY_ARE = frozenset({type(None), str, bool, int})

LONGEST_TEXT = 300

# Longer whole numbers Python may refuse to write in decimal digits, and to read so.
MOST_BITS = 2000

# Smaller arrays are written as they are.
FEW_BYTES = 256

# Lists in lists beyond that are shown only: one may hold itself.
DEEPEST = 50


class Shown:
    """Stands for a value of which only the text is known."""

    def __init__(self, text: str, digest: str = "") -> None:
        self.text = text
        self.digest = digest

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shown) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.text, self.digest))


def packed(value: Any, arrays: list[np.ndarray], depth: int = 0) -> Any:
    """Return a value as JSON has it, and append its arrays to a list.

    Examples
    --------
    >>> arrays = []
    >>> packed({"a": (1, 2.5), "b": np.arange(3.0)}, arrays)
    {'a': {'$tuple': [1, 2.5]}, 'b': {'$array': 0, 'dtype': '<f8', 'shape': [3]}}
    """
    # By type: subclasses, such as members of an enum, would come back as plain numbers.
    if (kind := type(value)) in AS_THEY_ARE or isinstance(value, str):
        if kind is int and value.bit_length() > MOST_BITS:
            return {"$int": hex(value)}
        return value
    if kind is dict or kind is list or kind is tuple:
        return _packed_parts(value, arrays, depth + 1)
    if kind is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind in PLAIN_KINDS:
        return _packed_array(value, arrays)
    if isinstance(value, np.generic) and value.dtype.kind in PLAIN_KINDS:
        text = base64.b64encode(value.tobytes()).decode()
        return {"$scalar": text, "dtype": value.dtype.str}
    if isinstance(value, slice):
        return {"$slice": [value.start, value.stop, value.step]}
    return _packed_parts(value, arrays, depth + 1)


def _packed_parts(value: Any, arrays: list[np.ndarray], depth: int) -> Any:
    if depth > DEEPEST:
        return _shown(value)
    if type(value) is list:
        return [packed(one, arrays, depth) for one in value]
    if type(value) is tuple:
        return {"$tuple": [packed(one, arrays, depth) for one in value]}
    if isinstance(value, Mapping):
        plain = all(type(key) is str and not key.startswith("$") for key in value)
        if plain:
            return {key: packed(one, arrays, depth) for key, one in value.items()}
        items = [
            [packed(k, arrays, depth), packed(v, arrays, depth)]
            for k, v in value.items()
        ]
        return {"$map": items}
    return _shown(value)


def _shown(value: Any) -> dict[str, str]:
    return {"$text": value_text(value, LONGEST_TEXT), "digest": digest(value)}


def _packed_array(value: np.ndarray, arrays: list[np.ndarray]) -> dict[str, Any]:
    entry = {
        "$array": len(arrays),
        "dtype": value.dtype.str,
        "shape": list(value.shape),
    }
    stored = value
    if value.nbytes < FEW_BYTES:
        pass  # to ask what is in it would take longer than to write it
    elif value.dtype.kind == "b":
        entry["as"], stored = "bits", np.packbits(value)
    elif value.dtype == np.float64 and value.size and _is_binary(value):
        # Losses of 0 and 1 are most of what a race of classifiers has to keep.
        entry["as"], stored = "bits", np.packbits(value.astype(bool))
    elif (
        value.dtype == np.intp
        and value.size
        and 0 <= value.min() <= value.max() < 2**32
    ):
        entry["as"], stored = "<u4", value.astype("<u4")
    arrays.append(np.ascontiguousarray(stored))
    return entry


def _is_binary(value: np.ndarray) -> bool:
    # Most arrays that are not tell so at their first number.
    if value.flat[0] not in (0, 1):
        return False
    # A minus before zero would be lost.
    return bool(np.all((value == 1) | ((value == 0) & ~np.signbit(value))))


def unpacked(
    value: Any, arrays: Sequence[bytes], known: Mapping[str, Any] | None = None
) -> Any:
    """Return what :func:`packed` was given.

    Parameters
    ----------
    value : JSON value
        What it returned.
    arrays : sequence of bytes
        The content of the arrays.
    known : mapping of str to object, optional
        Values by their digest, for those that are kept as text. What is not among them
        becomes a :class:`Shown`.

    Examples
    --------
    >>> unpacked({"$tuple": [1, {"$float": "nan"}]}, [])
    (1, nan)
    """
    if isinstance(value, list):
        return [unpacked(one, arrays, known) for one in value]
    if not isinstance(value, dict):
        return value
    name = next(iter(value), "")
    if not name.startswith("$"):
        return {key: unpacked(one, arrays, known) for key, one in value.items()}
    content = value[name]
    match name:
        case "$tuple":
            return tuple(unpacked(one, arrays, known) for one in content)
        case "$map":
            pairs = (unpacked(pair, arrays, known) for pair in content)
            return {key: one for key, one in pairs}  # noqa: C416 # lists of two
        case "$text":
            found = (known or {}).get(value["digest"])
            return Shown(content, value["digest"]) if found is None else found
    return _leaf(name, value, arrays)


def _leaf(name: str, value: dict[str, Any], arrays: Sequence[bytes]) -> Any:
    content = value[name]
    match name:
        case "$float":
            return float(content)
        case "$int":
            return int(content, 16)
        case "$slice":
            return slice(*content)
        case "$scalar":
            kind = _plain_dtype(value["dtype"])
            return np.frombuffer(base64.b64decode(content), kind)[0]
        case "$array":
            return _array(value, arrays[content])
    raise ValueError(f"{name!r} is not known")


def _plain_dtype(name: str) -> np.dtype[Any]:
    kind = np.dtype(name)
    if kind.kind not in PLAIN_KINDS:
        raise ValueError(f"arrays of {name!r} are not allowed")
    return kind


def _array(entry: dict[str, Any], content: bytes) -> np.ndarray:
    kind, shape = _plain_dtype(entry["dtype"]), tuple(entry["shape"])
    size = math.prod(shape)
    if size < 0 or any(length < 0 for length in shape):
        raise ValueError(f"{shape} is not a shape")
    if entry.get("as") == "bits":
        if len(content) != (size + 7) // 8:
            raise ValueError(f"{len(content)} bytes are not {size} bits")
        bits = np.unpackbits(np.frombuffer(content, np.uint8), count=size)
        return bits.astype(kind).reshape(shape)
    stored = _plain_dtype(entry.get("as", entry["dtype"]))
    # astype copies: what comes from a buffer cannot be written to.
    return np.frombuffer(content, stored).reshape(shape).astype(kind)
