"""Hyper-parameters of which one fit serves many values: rounds, trees, neighbours."""

from __future__ import annotations

from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline

from cvst.evaluation._dispatch import batch_evaluator_for
from cvst.evaluation.sharing import PrefixEvaluator

__all__ = ["covered_by_one_fit"]


def covered_by_one_fit(estimator: Any) -> dict[str, str]:
    """Return the hyper-parameters whose values cost hardly more than one of them.

    An evaluator may tell by a method ``covered_by_one_fit(estimator)`` of its own.

    Returns
    -------
    dict
        ``"smaller"`` for each name of which the largest value covers the smaller ones,
        as with trees of a forest; ``"all"`` where any value covers all, as with
        neighbours. Penalties are absent: they share work, but not all of it.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> covered_by_one_fit(HistGradientBoostingRegressor(random_state=0))
    {'max_iter': 'smaller'}
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> covered_by_one_fit(make_pipeline(StandardScaler(), KNeighborsRegressor()))
    {'kneighborsregressor__n_neighbors': 'all', 'kneighborsregressor__weights': 'all'}
    """
    evaluator = batch_evaluator_for(estimator)
    if hasattr(evaluator, "covered_by_one_fit"):
        return dict(evaluator.covered_by_one_fit(estimator))
    if isinstance(evaluator, PrefixEvaluator):
        return {evaluator.size: "smaller"} if evaluator.is_prefix(estimator) else {}
    if type(estimator) in (KNeighborsClassifier, KNeighborsRegressor):
        return {"n_neighbors": "all", "weights": "all"}
    # Their evaluators hand over to that of the last part.
    if type(estimator) is Pipeline and estimator.steps:
        return _of_part(*estimator.steps[-1])
    if type(estimator) is TransformedTargetRegressor:
        return _of_part("regressor", estimator.regressor)
    return {}


def _of_part(name: str, part: Any) -> dict[str, str]:
    if not hasattr(part, "fit"):
        return {}
    inner = covered_by_one_fit(part)
    return {f"{name}__{parameter}": how for parameter, how in inner.items()}
