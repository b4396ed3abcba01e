"""All looks of a race as columns: one row per look at a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvst._typing import Configuration
from cvst._values import plain_value
from cvst.displays import IncumbentDisplay
from cvst.exceptions import InvalidInputError
from cvst.race import RaceState, Strategy

__all__ = ["history"]


def history(
    race: Any,
    configurations: Sequence[Configuration] | None = None,
    *,
    strategy: Strategy | None = None,
) -> dict[str, list[Any]]:
    """Return what a race saw, in order, as columns of equal length.

    Parameters
    ----------
    race : fitted search or RaceState
        What to tell.
    configurations : sequence of dict, optional
        Those of a state that does not know them itself.
    strategy : Strategy, optional
        What decides in a state; without it, the lowest loss on the most rows leads.

    Returns
    -------
    dict of str to list
        ``look`` (from 1), ``stage``, ``elapsed`` and ``seconds`` (on the clock, NaN
        where unknown; of the whole look), ``n_train``, ``n_test``, ``configuration``
        (its number), ``param_…`` (None where a configuration has no such parameter),
        ``mean_loss`` (NaN if the fit failed), ``fit_seconds``, ``is_top``,
        ``drop_reason`` ("" if it went on) and ``is_incumbent``: whether it led after
        that look. ``pandas.DataFrame`` takes it as it is.

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> search = RaceGridSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": [1, 5]}, random_state=0)
    >>> columns = history(search.fit(*load_iris(return_X_y=True)))
    >>> columns["look"][:3], columns["param_n_neighbors"][:3]
    ([1, 1, 2], [1, 5, 1])
    """
    if isinstance(race, RaceState):
        state = race
        known = list(state.configurations if configurations is None else configurations)
    elif hasattr(race, "race_"):
        state, strategy = race.race_, race.strategy_
        known = list(race.cv_results_["params"])
    else:
        raise InvalidInputError(
            f"This {type(race).__name__} has no race_ to tell of. Fit it first."
        )
    if len(known) != state.n_configurations:
        raise InvalidInputError(
            f"{len(known)} configurations for a race of {state.n_configurations}: give "
            "one for each."
        )
    names = dict.fromkeys(str(name) for one in known for name in one)
    columns: dict[str, list[Any]] = {name: [] for name in _columns(names)}
    # Columns without rows: a table of no looks still has its names.
    if not state.observations:
        return columns
    # The leader at that time, which need not be the winner.
    leaders = IncumbentDisplay.from_state(state, strategy=strategy).incumbents
    for place, seen in enumerate(state.observations):
        who = seen.look.configurations.tolist()
        facts = {
            "look": place + 1,
            "stage": seen.look.stage,
            "elapsed": float(seen.elapsed),
            "seconds": float(seen.seconds),
            "n_train": int(seen.look.n_train),
            "n_test": int(seen.look.n_test),
        }
        for name, value in facts.items():
            columns[name] += [value] * len(who)
        columns["configuration"] += who
        for name in names:
            columns[f"param_{name}"] += [plain_value(known[n].get(name)) for n in who]
        columns["mean_loss"] += np.asarray(seen.mean_losses, dtype=float).tolist()
        columns["fit_seconds"] += np.asarray(seen.fit_seconds, dtype=float).tolist()
        columns["is_top"] += np.asarray(seen.top, dtype=bool).tolist()
        columns["drop_reason"] += [seen.drops.get(n, "") for n in who]
        columns["is_incumbent"] += [n == int(leaders[place]) for n in who]
    return columns


def _columns(names: Any) -> list[str]:
    return [
        *("look", "stage", "elapsed", "seconds", "n_train", "n_test", "configuration"),
        *(f"param_{name}" for name in names),
        *("mean_loss", "fit_seconds", "is_top", "drop_reason", "is_incumbent"),
    ]
