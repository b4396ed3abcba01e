"""A short name for any value, the same in every process that has the same value."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from hashlib import blake2b
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from cvst._sklearn_compat import own_parameters
from cvst._values import exact_text, is_estimator, plain_value
from cvst.evaluation.machinery import is_stored
from cvst.search.checkpoint._edited import is_edited

__all__ = ["SHOWN", "digest", "digest_of_code"]

BLOCK_BYTES = 2**24

# Types of which ``repr`` tells all.
SHOWN = frozenset({bool, int, float, complex, str, type(None)})
TEXT = frozenset({str})

Bytes: TypeAlias = bytes | memoryview


def digest(value: Any) -> str:
    """Return a fingerprint of a value: 32 hexadecimal digits.

    Arrays, sparse matrices and tables count by their content, estimators by their
    parameters, functions by their code, other objects by their attributes. Addresses
    and the order of sets and dictionaries do not count.

    Examples
    --------
    >>> digest({"a": 1, "b": [2.0]}) == digest({"b": [2.0], "a": 1})
    True
    >>> digest([1, 2]) == digest([1, 3])
    False
    """
    return _Digest().of(value).hex()


def digest_of_code(kind: type) -> str:
    """Return a fingerprint of the methods of a class of the script, or of its modules.

    Classes of installed packages have none: they count with the version of the package.

    Examples
    --------
    >>> digest_of_code(int) == digest_of_code(str)
    True
    """
    return _Digest().of_code(kind).hex()


class _Digest:
    """Walks through a value; remembers where it is, so that circles end."""

    def __init__(self) -> None:
        self._above: list[int] = []
        # With the classes, so that no other one gets the same address meanwhile.
        self._codes: dict[int, tuple[type, bytes]] = {}

    def of(self, value: Any) -> bytes:
        if id(value) in self._above:
            return _mixed("circle", [])
        self._above.append(id(value))
        try:
            return self._of(value)
        finally:
            self._above.pop()

    def _of(self, value: Any) -> bytes:
        # Most values are of these types; to ask for all the others takes longer.
        if (kind := type(value)) in SHOWN:
            return _mixed(kind.__name__, [exact_text(value).encode()])
        if kind is list or kind is tuple:
            return _mixed(_path(kind).decode(), self._members_of(value))
        if value is None or isinstance(value, bool | int | float | complex | str):
            # ``repr`` of a NumPy number differs between its versions.
            return _mixed(
                type(value).__name__, [exact_text(plain_value(value)).encode()]
            )
        if isinstance(value, bytes | bytearray | memoryview):
            return _mixed("bytes", [bytes(value)])
        for kind, parts in _KINDS:
            if isinstance(value, kind):
                return _mixed(_name(kind, value), parts(self, value))
        return self._object(value)

    def _members_of(self, values: Sequence[Any]) -> Iterable[bytes]:
        """Return what tells the members of a list from those of others."""
        # In one go where that tells all: there may be millions.
        if SHOWN.issuperset(map(type, values)):
            # Not so of integers with thousands of digits.
            with suppress(ValueError):
                return [repr(values).encode()]
        return map(self.of, values)

    def _object(self, value: Any) -> bytes:
        name = _path(type(value)).decode()
        # By what they have: neither scipy.sparse nor pandas is imported for this.
        if hasattr(value, "tocsr") and hasattr(value, "nnz"):
            rows = value.tocsr()
            parts = [value.shape, value.format, rows.data, rows.indices, rows.indptr]
            return _mixed(name, map(self.of, parts))
        if hasattr(value, "columns") and hasattr(value, "dtypes"):
            columns = [
                (str(one), np.asarray(value[one]), _categories(value[one]))
                for one in value.columns
            ]
            return _mixed(name, [_each_type(value), self.of(columns)])
        # Single values of pandas have it too; Arrow says ``type``.
        if hasattr(value, "to_numpy") and hasattr(value, "__len__"):
            kind = getattr(value, "dtype", getattr(value, "type", ""))
            return _mixed(name, [self._array_of(value), str(kind).encode()])
        if isinstance(value, Sequence):
            return _mixed(name, map(self.of, value))
        if is_stored(value):
            return _mixed(name, [self.of(value.identity())])
        if (told := _as_scipy_has_it(value)) is not None:
            return _mixed(name, [self.of(told)])
        return self._callable(value, name)

    def _callable(self, value: Any, name: str) -> bytes:
        if isinstance(value, functools.partial):
            return _mixed(name, [self.of((value.func, value.args, value.keywords))])
        if isinstance(value, types.MethodType):
            return _mixed(name, [self.of(value.__func__), self.of(value.__self__)])
        if isinstance(value, types.BuiltinFunctionType):
            return _mixed(name, [_path(value)])
        if is_estimator(value):
            # Not its state: a fitted one is cloned, and means the same as a fresh one.
            params = self.of(own_parameters(value))
            return _mixed(name, [params, self.of_code(type(value))])
        return _mixed(name, [*self._state(value), self.of_code(type(value))])

    def of_code(self, kind: type) -> bytes:
        """Return the digest of a class that people edit, with those it is made of."""
        if id(kind) not in self._codes:
            # Methods that call those above them lead back to their class.
            self._codes[id(kind)] = kind, b"circle"
            modules = ((one, getattr(one, "__module__", None)) for one in kind.__mro__)
            own = [vars(one) for one, module in modules if is_edited(module)]
            members = (item for one in own for item in sorted(one.items()))
            self._codes[id(kind)] = kind, _mixed("code", self._members(members))
        return self._codes[id(kind)][1]

    def _members(self, members: Iterable[tuple[str, Any]]) -> Iterator[bytes]:
        """Yield methods of all kinds; other attributes may change with every fit."""
        for name, member in members:
            if isinstance(member, staticmethod | classmethod):
                yield self.of((name, member.__func__))
            elif isinstance(member, property):
                yield self.of((name, member.fget))
            elif isinstance(member, types.FunctionType):
                yield self.of((name, member))

    def _state(self, value: Any) -> Iterator[bytes]:
        """Yield what an object would hand to a copy of itself."""
        try:
            state = value.__getstate__()
        except Exception:
            state = None  # locks, generators and the like are all alike
        if state is None:
            state = getattr(value, "__dict__", None)
        if not state:
            # Dates, decimals and the like: by what a copy would be made from.
            with suppress(Exception):
                state = value.__reduce_ex__(2)[1:3]
        yield self.of(state)

    def _array_of(self, value: Any) -> bytes:
        return self.of(np.asarray(value))

    def _array(self, value: np.ndarray) -> Iterator[bytes | memoryview]:
        yield f"{value.dtype.str} {value.shape}".encode()
        if isinstance(value, np.ma.MaskedArray):
            yield self.of(np.ma.getmaskarray(value))
        value = np.asarray(value)
        if value.dtype.hasobject:
            yield from self._members_of(value.ravel().tolist())
        elif value.dtype.names is not None:
            # By their parts: between them there may be bytes that mean nothing.
            yield from (self.of(value[name]) for name in value.dtype.names)
        elif value.dtype.char in "gG":
            # Long numbers have such bytes too.
            yield from map(self.of, _in_two(value))
        elif value.flags.c_contiguous:
            yield value.reshape(-1).view(np.uint8).data
        else:
            # Block by block, since a copy of all may not fit.
            step = max(1, BLOCK_BYTES * len(value) // max(1, value.nbytes))
            for start in range(0, len(value), step):
                yield np.ascontiguousarray(value[start : start + step]).tobytes()

    def _scalar(self, value: np.generic) -> Iterator[Bytes]:
        return self._array(np.asarray(value))

    def _set(self, value: Set[Any]) -> list[bytes]:
        return sorted(map(self.of, value))

    def _mapping(self, value: Mapping[Any, Any]) -> list[bytes]:
        # In one go, too: there may be thousands of configurations.
        if SHOWN.issuperset(map(type, value.values())) and TEXT.issuperset(
            map(type, value)
        ):
            with suppress(ValueError):
                return [repr(sorted(value.items(), key=itemgetter(0))).encode()]
        # Sorted by their digests: keys of several types cannot be sorted themselves.
        return sorted(self.of(key) + self.of(one) for key, one in value.items())

    def _code(self, value: types.CodeType) -> list[bytes]:
        names = (value.co_name, value.co_names, value.co_varnames)
        return [value.co_code, self.of(names), *map(self.of, value.co_consts)]

    def _function(self, value: types.FunctionType) -> Iterator[bytes]:
        yield _path(value)
        yield self.of(value.__code__)
        yield self.of((value.__defaults__, value.__kwdefaults__))
        for cell in value.__closure__ or ():
            try:
                yield self.of(cell.cell_contents)
            except ValueError:
                yield b"empty"

    def _random_state(self, value: np.random.RandomState) -> list[bytes]:
        # Distributions of scipy hold the one that all share, which is never the same.
        if value is np.random.mtrand._rand:
            return [b"shared"]
        return [self.of(value.get_state(legacy=False))]


# What tells values of a kind from each other; the first kind that fits counts.
_KINDS: tuple[tuple[Any, Callable[[_Digest, Any], Iterable[Bytes]]], ...] = (
    (np.ndarray, _Digest._array),
    (np.generic, _Digest._scalar),
    (Mapping, _Digest._mapping),
    (Set, _Digest._set),
    (slice | range | types.ModuleType, lambda _, one: [repr(one).encode()]),
    (type, lambda found, one: [_path(one), found.of_code(one)]),
    (types.CodeType, _Digest._code),
    (types.FunctionType, _Digest._function),
    (np.random.RandomState, _Digest._random_state),
)


def _in_two(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return long numbers as the nearest short ones, and what is missing to them."""
    short = np.complex128 if value.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        high = value.astype(short)
        return high, (value - high).astype(short)


def _as_scipy_has_it(value: Any) -> tuple[Any, ...] | None:
    """Return what tells a distribution of SciPy, with its arguments, from others.

    None for other things, and for distributions that hold more, such as a histogram.
    The state of one that SciPy names would take a hundred digests.
    """
    if not type(value).__module__.startswith("scipy.stats."):
        return None
    dist: Any = getattr(value, "dist", None)
    name = getattr(dist, "name", None)
    if dist is None or not isinstance(name, str):
        return None
    if type(dist) is not type(getattr(sys.modules["scipy.stats"], name, None)):
        return None
    own = [getattr(dist, one, None) for one in ("a", "b", "xtol", "random_state")]
    return type(dist), name, own, value.args, value.kwds


def _mixed(kind: str, parts: Iterable[bytes | memoryview]) -> bytes:
    """Return the digest of some parts; each counts with its length."""
    mixed = blake2b(kind.encode(), digest_size=16)
    for part in parts:
        mixed.update(len(part).to_bytes(8, "little"))
        mixed.update(part)
    return mixed.digest()


def _name(kind: Any, value: Any) -> str:
    return "mapping" if kind is Mapping else type(value).__name__


def _path(value: Any) -> bytes:
    return f"{value.__module__}.{value.__qualname__}".encode()


def _categories(column: Any) -> list[Any]:
    """Return the categories of a column in their order, which learners may use."""
    known = getattr(getattr(column, "dtype", None), "categories", None)
    return [] if known is None else list(known)


def _each_type(table: Any) -> bytes:
    types_ = table.dtypes
    return repr([str(one) for one in getattr(types_, "values", types_)]).encode()
