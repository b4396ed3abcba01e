"""A finished race as a study of Optuna, for its dashboard and its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isclose
from typing import Any

import numpy as np

from cvst._searched import FittedSearch
from cvst._typing import Configuration
from cvst._values import is_number, plain_value
from cvst.exceptions import InvalidInputError
from cvst.integrations._events import best_of, need
from cvst.race import RaceState
from cvst.race.machinery import deciding_losses
from cvst.spaces import Space

__all__ = ["to_optuna_study"]

# Listed numbers that span more than this are shown on a logarithmic axis.
DECADES = 100


def to_optuna_study(
    search: FittedSearch, *, study_name: str | None = None, storage: Any = None
) -> Any:
    """Return a fitted search as a study: one trial for each configuration.

    Parameters
    ----------
    search : fitted search
        The race to export.
    study_name : str or None, default=None
        Name of the study.
    storage : str, optuna storage or None, default=None
        Where to keep it, such as ``"sqlite:///races.db"``; None keeps it in memory.

    Returns
    -------
    optuna.Study
        Values are mean losses, lower is better. Configurations that were dropped are
        *pruned* trials with the loss of their last look or folds, often on fewer rows
        than that of the others; failed fits are failed trials. Intermediate values are
        the losses of the looks. User attributes hold the reason of a drop. Ranges are
        those of the values that were tried, logarithmic where the space of the search
        is.

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> search = RaceGridSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, random_state=0)
    >>> search = search.fit(*load_iris(return_X_y=True))
    >>> study = to_optuna_study(search)
    >>> len(study.trials)
    3
    """
    optuna = need("optuna", "cvst[optuna]")
    facts = best_of(search)
    state: RaceState = search.race_
    study = optuna.create_study(
        # Losses, not scores: they are what intermediate values of all looks share.
        study_name=study_name,
        storage=storage,
        direction="minimize",
    )
    study.set_user_attr("search", facts["search"])
    study.set_user_attr("strategy", facts["strategy"])
    study.set_user_attr("stop_reason", facts["stop_reason"])
    study.set_user_attr("best_configuration", int(search.best_index_))
    space = _distributions(optuna.distributions, state.configurations, _scales(search))
    for trial in _trials(optuna, state, space):
        study.add_trial(trial)
    return study


def _trials(optuna: Any, state: RaceState, space: dict[str, Any]) -> Any:
    """Yield one trial for each configuration."""
    losses, final = state.mean_losses, deciding_losses(state)
    reasons = state.drop_reasons
    for number, params in enumerate(state.configurations):
        seen = losses[number]
        known = {name: _choice(value, space[name]) for name, value in params.items()}
        value, outcome = _outcome(optuna, final[number], bool(state.active[number]))
        yield optuna.trial.create_trial(
            state=outcome,
            value=value,
            params=known,
            distributions={name: space[name] for name in known},
            user_attrs={
                "configuration": number,
                "drop_reason": reasons.get(number, ""),
            },
            intermediate_values={
                look: float(loss)
                for look, loss in enumerate(seen, start=1)
                if np.isfinite(loss)
            },
        )


def _outcome(optuna: Any, loss: float, active: bool) -> tuple[float | None, Any]:
    """Return the value of a trial and how it ended."""
    states = optuna.trial.TrialState
    if not np.isfinite(loss):
        return None, states.FAIL
    # Optuna keeps the value of a pruned trial out of the choice of the best.
    return float(loss), states.COMPLETE if active else states.PRUNED


def _scales(search: FittedSearch) -> dict[str, bool]:
    """Return which ranges of the search are logarithmic; lists are left open."""
    given = getattr(search, "space_", getattr(search, "param_distributions", None))
    try:
        space = Space.of(given if given is not None else {})
    except InvalidInputError:  # a random search draws from more than a space can hold
        return {}
    found: dict[str, bool] = {}
    for entry in (one for branch in space.branches for one in branch.entries):
        scale = _is_logarithmic(entry.marginal)
        if scale is not None:
            # A parameter may have another range in another branch.
            found[entry.name] = scale and found.get(entry.name, True)
    return found


def _is_logarithmic(marginal: Any) -> bool | None:
    """Return whether equal ratios of a range are equally likely; None for a list."""
    if hasattr(marginal, "log"):
        return bool(marginal.log)
    if marginal.n_values < inf:
        return None
    low, middle, high = marginal.decode(np.array([0.25, 0.5, 0.75]))
    return bool(low > 0 and isclose(middle**2, low * high, rel_tol=1e-6))


def _distributions(
    kinds: Any, configurations: Sequence[Configuration], scales: Mapping[str, bool]
) -> dict[str, Any]:
    """Return for each parameter what holds all its values."""
    values: dict[str, list[Any]] = {}
    for params in configurations:
        for name, value in params.items():
            values.setdefault(name, []).append(value)
    return {
        name: _distribution(kinds, one, scales.get(name))
        for name, one in values.items()
    }


def _distribution(kinds: Any, values: list[Any], scale: bool | None) -> Any:
    # One word among numbers makes all of them categories: a distribution has one kind.
    if all(is_number(value) for value in values):
        low, high = min(values), max(values)
        spans = scale is None and low > 0 and high / low >= DECADES
        log = low > 0 and (spans or scale)
        if all(isinstance(value, (int, np.integer)) for value in values):
            return kinds.IntDistribution(int(low), int(high), log=bool(log))
        return kinds.FloatDistribution(float(low), float(high), log=bool(log))
    choices = dict.fromkeys(_word(value) for value in values)
    return kinds.CategoricalDistribution(tuple(choices))


def _word(value: Any) -> Any:
    """Return a category that Optuna can store."""
    # Databases of Optuna hold JSON, which has no types of NumPy.
    value = plain_value(value)
    return value if value is None or isinstance(value, (bool, str)) else str(value)


def _choice(value: Any, distribution: Any) -> Any:
    """Return a value as its distribution knows it."""
    if hasattr(distribution, "choices"):
        return _word(value)
    return int(value) if isinstance(value, (int, np.integer)) else float(value)
