"""What is known about the work of a configuration before any is timed.

A tree of 31 leaves takes longer than one of 7, and 300 rounds longer than 30. Where
there is time to time one group only, the others are not all as dear as it is; and the
fits that a race has saved, often of cheap ones, are not worth as many dear ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvst._typing import Configuration, FloatArray
from cvst._values import is_number

__all__ = ["alone_of_group", "known_work", "probable_winner"]

# The work grows by this power of the parameter. A level of a tree is a pass over the
# rows; twice the leaves are one level more, with costs for each leaf besides.
POWERS = {
    "n_estimators": 1.0,
    "max_depth": 1.0,
    "max_leaf_nodes": 0.5,
    "num_leaves": 0.5,
}

# Such numbers are another way to write that there is no limit.
NO_LIMIT = 100_000


def known_work(configurations: Sequence[Configuration]) -> FloatArray:
    """Return the work of configurations, as far as their parameters tell, in no unit.

    Parameters
    ----------
    configurations : sequence of dict
        Parameters by name; those of a step of a pipeline too.

    Returns
    -------
    ndarray of float
        Ones where nothing is known. A parameter counts if all have it as a number that
        is a limit: what none costs is not known.

    Examples
    --------
    >>> known_work([{"max_leaf_nodes": 4}, {"max_leaf_nodes": 16}]).tolist()
    [2.0, 4.0]
    >>> known_work([{"max_depth": 4}, {"max_depth": None}]).tolist()
    [1.0, 1.0]
    """
    work = np.ones(len(configurations))
    for name in {name for one in configurations for name in one}:
        power = POWERS.get(name.rpartition("__")[2])
        values = [one.get(name) for one in configurations]
        if power is not None and all(map(_tells, values)):
            work *= np.array(values, dtype=float) ** power
    return work


def alone_of_group(work: FloatArray, place: int) -> float:
    """Return how much longer a fit alone probably takes than one of its group.

    A group of rounds takes as long as the most rounds of it do alone. Otherwise a fit
    takes more than its share of the group, and less than all of it.

    Parameters
    ----------
    work : ndarray of float
        What is known about the work of each member.
    place : int
        Which of them is fitted alone.

    Examples
    --------
    >>> alone_of_group(np.array([30.0, 100.0]), 1)
    2.0
    >>> alone_of_group(np.array([30.0, 100.0]), 0)
    0.6
    >>> alone_of_group(np.ones(4), 0)
    2.0
    """
    count = len(work)
    if work.min() == work.max():
        return float(count**0.5)
    return float(count * work[place] / work.max())


def probable_winner(work: FloatArray) -> int:
    """Return the place of the one that stands for the winner of a group.

    More rounds mostly win, but not always the most: it is between the mean and the
    dearest. Where all do the same work it is the one in the middle.

    Parameters
    ----------
    work : ndarray of float
        What is known about the work of each member.

    Examples
    --------
    >>> probable_winner(np.array([100.0, 200.0, 300.0]))
    1
    >>> probable_winner(np.array([2.0, 3.0, 4.0, 300.0]))
    3
    >>> probable_winner(np.ones(5))
    2
    """
    if work.min() == work.max():
        return len(work) // 2
    far = np.abs(np.log(work / (np.sqrt(work.mean()) * np.sqrt(work.max()))))
    # Of two that are as far the cheaper one, whatever the rounding.
    return int(np.lexsort((work, np.round(far, 9)))[0])


def _tells(value: Any) -> bool:
    return is_number(value) and 1 <= value <= NO_LIMIT
