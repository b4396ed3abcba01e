"""Distributions that can only be drawn from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cvst._values import is_number, plain_value
from cvst.exceptions import InvalidInputError
from cvst.spaces._lists import choices, levels
from cvst.spaces._marginals import Marginal

__all__ = ["drawn"]

# Without quantiles the draws themselves are the space. A thousand numbers are as fine
# as any model of their effect; each category would need looks of its own.
N_NUMBERS = 1000
N_CATEGORIES = 50


def drawn(draw: Callable[[int, np.random.RandomState], Any], name: str) -> Marginal:
    """Return the list of many draws, always the same: levels or categories.

    Parameters
    ----------
    draw : callable
        Takes a number of draws and a source of randomness.
    name : str
        How to write the distribution in a message.
    """
    try:
        # A fixed seed: two searches must mean the same space by the same distribution.
        values = list(draw(N_NUMBERS, np.random.RandomState(0)))
    except Exception as error:  # whatever a foreign distribution raises
        raise InvalidInputError(
            f"{name} cannot be drawn from ({type(error).__name__}: {error}). It needs "
            "a method rvs(size, random_state), or cdf and ppf."
        ) from error
    if all(is_number(value) for value in values):
        plain = map(plain_value, values)
        return levels(plain)
    return choices(values[:N_CATEGORIES])
