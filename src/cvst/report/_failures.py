"""Fits that failed, told by what they have in common."""

from __future__ import annotations

from collections.abc import Sequence

from cvst._text import counted, shortened, value_text
from cvst._typing import Configuration
from cvst.race import RaceState

__all__ = ["failure_sentences"]

# More kinds of errors than this are summed up.
MOST_KINDS = 3


def failure_sentences(
    state: RaceState, configurations: Sequence[Configuration]
) -> list[str]:
    """Say which configurations failed, and why.

    Parameters
    ----------
    state : RaceState
        The race.
    configurations : sequence of dict
        Its configurations.

    Returns
    -------
    list of str
        One sentence for each of the most common errors; none if no fit failed.
    """
    reasons: dict[int, str] = {}
    for seen in state.observations:
        for number, reason in seen.failures.items():
            # The first error counts: one that fails in each fold has failed once.
            reasons.setdefault(int(number), reason)
    kinds: dict[str, list[int]] = {}
    for number, reason in reasons.items():
        kinds.setdefault(reason, []).append(number)
    # Errors may name the values at fault, so that no two are alike.
    common = sorted(kinds.items(), key=lambda kind: (-len(kind[1]), kind[1][0]))
    sentences = [
        f"{_who(members, configurations)} failed: {_clause(reason)}."
        for reason, members in common[:MOST_KINDS]
    ]
    rest = sum(len(members) for _, members in common[MOST_KINDS:])
    if rest:
        sentences.append(
            f"{counted(rest, 'configuration')} more failed with other errors."
        )
    return sentences


def _clause(reason: str) -> str:
    return shortened(" ".join(reason.split()).rstrip("."), 200)


def _who(members: Sequence[int], configurations: Sequence[Configuration]) -> str:
    """Name a value that all of them have and no other, or count them."""
    n_all = len(configurations)
    if len(members) == n_all:
        return f"All {n_all:,} configurations"
    chosen = set(members)
    for name, value in configurations[members[0]].items():
        text = value_text(value)
        same = {
            number
            for number, one in enumerate(configurations)
            # By their text, since arrays and estimators cannot simply be compared.
            if name in one and value_text(one[name]) == text
        }
        if same == chosen and len(chosen) > 1:
            return f"All {len(chosen):,} configurations with {name}={text}"
    return f"{len(chosen):,} of {n_all:,} configurations"
