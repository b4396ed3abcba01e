"""A good default space for the estimators that people tune."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np

from cvst._typing import Configuration
from cvst.exceptions import InvalidInputError
from cvst.spaces._families import FAMILIES, Case, Family, Parameter, Suggest
from cvst.spaces._suggested import SuggestedSpace
from cvst.spaces._values import marginal_of

__all__ = ["suggest"]

# What holds the estimator that is worth tuning, and under which names.
WRAPPERS = {
    "TransformedTargetRegressor": ("regressor",),
    "CalibratedClassifierCV": ("estimator",),
    "TunedThresholdClassifierCV": ("estimator",),
    "FixedThresholdClassifier": ("estimator",),
    "MultiOutputClassifier": ("estimator",),
    "MultiOutputRegressor": ("estimator",),
    "OneVsRestClassifier": ("estimator",),
    "OneVsOneClassifier": ("estimator",),
    "OutputCodeClassifier": ("estimator",),
    # Called base_estimator before scikit-learn 1.7.
    "ClassifierChain": ("estimator", "base_estimator"),
    "RegressorChain": ("estimator", "base_estimator"),
}

WAY_OUT = (
    "Give param_distributions: a dictionary of its parameters and the values to try"
)


def suggest(
    estimator: Any, *, n_samples: int | None = None, n_features: int | None = None
) -> SuggestedSpace:
    """Return a good default space for an estimator.

    The last step of a pipeline is tuned, and what a wrapper such as
    ``TransformedTargetRegressor`` or ``CalibratedClassifierCV`` holds; names have the
    prefix that ``set_params`` needs. Estimators are known by the name and package of
    their class or of one they inherit from; LightGBM, XGBoost and CatBoost need not be
    installed.

    Parameters
    ----------
    estimator : estimator
        What is to be tuned. Its kernel, solver and loss stay as they are.
    n_samples, n_features : int or None
        Size of the data, if known: bounds on leaves, neighbours and widths of kernels
        follow it.

    Returns
    -------
    SuggestedSpace
        A dictionary for ``param_distributions`` with reasons and a portfolio of first
        settings.

    Raises
    ------
    InvalidInputError
        If the estimator is not known.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> model = make_pipeline(StandardScaler(), KNeighborsRegressor())
    >>> space = suggest(model, n_samples=200)
    >>> space["kneighborsregressor__n_neighbors"]
    integers(1, 50, log=True)
    """
    path, tuned = _innermost(estimator, "")
    case = Case(tuned, n_samples, n_features)
    family = _family_of(tuned, path)(case)
    parameters = [one for one in family.parameters if _has(case, one)]
    names = {one.name: path + _own_name(case, one) for one in parameters}
    rounds = family.rounds
    if rounds is not None:
        rounds = (names[rounds[0]], rounds[1]) if rounds[0] in names else None
    return SuggestedSpace(
        {names[one.name]: one.values for one in parameters},
        reasons={names[one.name]: one.reason for one in parameters},
        start=_start(family, parameters, names),
        rounds=rounds,
        estimator_name=type(tuned).__name__,
        source=family.source,
    )


def _innermost(estimator: Any, path: str) -> tuple[str, Any]:
    """Return the path to the estimator worth tuning, and the estimator."""
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps:
        name, last = steps[-1]
        return _innermost(last, f"{path}{name}__")
    for ancestor in type(estimator).__mro__:
        for name in WRAPPERS.get(ancestor.__name__, ()):
            inner = getattr(estimator, name, None)
            if hasattr(inner, "get_params"):
                return _innermost(inner, f"{path}{name}__")
    return path, estimator


def _family_of(estimator: Any, path: str) -> Suggest:
    for ancestor in type(estimator).__mro__:
        package = ancestor.__module__.partition(".")[0]
        known = FAMILIES.get(package, {}).get(ancestor.__name__)
        if known is not None and hasattr(estimator, "get_params"):
            return known
    what = (
        type(estimator).__name__
        if hasattr(estimator, "get_params")
        else repr(estimator)
    )
    where = f" (at {path.removesuffix('__')})" if path else ""
    raise InvalidInputError(f"No space is known for {what}{where}. {WAY_OUT}.")


def _has(case: Case, parameter: Parameter) -> bool:
    # CatBoost shows only the parameters it was made with, and takes all the same.
    if type(case.estimator).__module__.startswith("catboost"):
        return True
    first = parameter.name.partition("__")[0]
    return any(name in case.params for name in (first, *parameter.aliases))


def _own_name(case: Case, parameter: Parameter) -> str:
    given = (name for name in parameter.aliases if name in case.params)
    return next(given, parameter.name)


def _start(
    family: Family, parameters: list[Parameter], names: dict[str, str]
) -> list[Configuration]:
    """Return the portfolio with full names, moved into the space where it is not."""
    start: list[Configuration] = []
    for row in family.start:
        moved = {names[one.name]: _inside(one, row[one.name]) for one in parameters}
        # Two settings may be one once they are moved to the same end.
        if moved not in start:
            start.append(moved)
    return start


def _inside(parameter: Parameter, value: Any) -> Any:
    # Bounds follow the size of the data, the settings do not.
    marginal = marginal_of(parameter.name, parameter.values)
    if not isnan(marginal.encode(value, clip=False)):
        return value
    return marginal.decode(np.array([marginal.encode(value, clip=True)]))[0]
