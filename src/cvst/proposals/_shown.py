"""Proposers as short text: what differs from the defaults."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any, cast

__all__ = ["ShortRepr"]


class ShortRepr:
    """Gives a dataclass made with ``repr=False`` a short ``repr``.

    Examples
    --------
    >>> from cvst.proposals import AutoProposer, GaussianProposer
    >>> AutoProposer(), GaussianProposer(n_first=10)
    (AutoProposer(), GaussianProposer(n_first=10))
    """

    def __repr__(self) -> str:
        shown = [
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(cast(Any, self))
            # By their text: proposers of one's own need not compare.
            if one.repr and repr(getattr(self, one.name)) != _default_text(one)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def _default_text(one: Field[Any]) -> str | None:
    if one.default is not MISSING:
        return repr(one.default)
    if one.default_factory is not MISSING:
        return repr(one.default_factory())
    return None
