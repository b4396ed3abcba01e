"""Parameters in scikit-learn's way, without scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import Parameter, signature
from numbers import Integral, Real
from typing import Any, Self

from cvst._text import repr_text
from cvst._values import exact_text
from cvst.exceptions import InvalidInputError

__all__ = ["Parametrised", "check_kinds", "check_least", "check_limits"]


class Parametrised:
    """Gives a class ``get_params``, ``set_params`` and a short ``repr``.

    ``__init__`` stores each argument under its own name and does nothing else, so
    that objects can be cloned and their parameters set from outside
    (``strategy__max_steps=20``).
    """

    @classmethod
    def _parameter_names(cls) -> list[str]:
        # A class without arguments has the *args and **kwargs of ``object``.
        several = Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD
        return [
            name
            for name, parameter in signature(cls.__init__).parameters.items()
            if name != "self" and parameter.kind not in several
        ]

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - contract
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name."""
        names = self._parameter_names()
        for name, value in params.items():
            if name not in names:
                raise InvalidInputError(
                    f"{type(self).__name__} has no parameter {name!r}. "
                    f"Its parameters are {', '.join(names)}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = signature(type(self).__init__).parameters
        shown = [
            f"{name}={exact_text(value)}"
            for name, value in self.get_params().items()
            # By their text, since arrays and NaN do not compare as one expects.
            if exact_text(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def check_kinds(owner: Any, fractions: Iterable[str], counts: Iterable[str]) -> None:
    """Refuse parameters of an object that are not numbers, or not whole ones.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> check_kinds(SimpleNamespace(level="a"), ["level"], [])
    Traceback (most recent call last):
        ...
    cvst.exceptions.InvalidInputError: level='a' must be a number.
    """
    kinds = [(name, Real, "a number") for name in fractions]
    kinds += [(name, Integral, "a whole number") for name in counts]
    for name, kind, words in kinds:
        value = getattr(owner, name)
        if isinstance(value, bool) or not isinstance(value, kind):
            raise InvalidInputError(f"{name}={repr_text(value)} must be {words}.")


def check_least(owner: Any, smallest: Mapping[str, int], off: Iterable[str]) -> None:
    """Refuse counts of an object that are too small; 0 switches some of them off.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> check_least(SimpleNamespace(n_folds=1), {"n_folds": 2}, off=())
    Traceback (most recent call last):
        ...
    cvst.exceptions.InvalidInputError: n_folds=1 is too small. Use a whole number of \
at least 2.
    """
    for name, least in smallest.items():
        value = getattr(owner, name)
        if value < least and not (name in off and value == 0):
            raise InvalidInputError(
                f"{name}={repr_text(value)} is too small. Use a whole number of at "
                f"least {least}."
            )


def check_limits(owner: Any, smallest: Mapping[str, int]) -> None:
    """Refuse limits of an object that are neither None nor large enough.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> check_limits(SimpleNamespace(max_test=3), {"max_test": 1000})
    Traceback (most recent call last):
        ...
    cvst.exceptions.InvalidInputError: max_test=3 is too small. Use a whole number of \
at least 1,000, or None for no limit.
    """
    for name, least in smallest.items():
        value = getattr(owner, name)
        if value is None:
            continue
        check_kinds(owner, [], [name])
        if value < least:
            raise InvalidInputError(
                f"{name}={repr_text(value)} is too small. Use a whole number of at "
                f"least {least:,}, or None for no limit."
            )
