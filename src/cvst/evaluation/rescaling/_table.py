"""Which hyper-parameters follow the number of rows, and why: the objective function.

Where an estimator weighs a *sum* of losses against a penalty, the penalty's weight must
grow with the rows to mean the same; where it weighs a *mean*, nothing need change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from cvst._typing import Configuration
from cvst.exceptions import InvalidInputError

__all__ = [
    "Exponent",
    "RescalingRow",
    "exponents_for",
    "register_rescaling",
    "rescaling_table",
]

# A number, or a function of the estimator's own parameters that returns one.
Exponent: TypeAlias = "float | Callable[[Configuration], float]"


class RescalingRow(NamedTuple):
    """One line of the table.

    Attributes
    ----------
    estimator : str
        Public name of the class, such as ``"sklearn.svm.SVC"``.
    parameter : str
        Name of the hyper-parameter.
    exponent : float or callable
        The value used on n of N rows is ``value * (n / N) ** exponent``.
    reason : str
        The objective function in a few words.
    """

    estimator: str
    parameter: str
    exponent: Exponent
    reason: str


def _mlp_exponent(params: Configuration) -> float:
    return 1.0 if params["solver"] == "lbfgs" else 0.0


_RIDGE = "sum of squared errors + alpha times the squared norm"
_BOUND = "half the squared norm + C times the sum of losses: C bounds each row's weight"
_MEAN = "mean of losses + alpha times the penalty"
_NU = "nu is a share of the rows"
_TREE = "cost per node is weighed by its share of the rows"
_AVERAGING = (
    "Lasso ElasticNet SGDClassifier SGDRegressor PoissonRegressor GammaRegressor "
    "TweedieRegressor QuantileRegressor"
)
_MLP = "mean of losses + alpha times half the squared norm / rows of a batch"

# An exponent of 0 changes nothing. It says that somebody has looked at the objective,
# and that the parameter was not forgotten.
_BUILT_IN: tuple[tuple[str, str, str, Exponent, str], ...] = (
    ("sklearn.kernel_ridge", "KernelRidge", "alpha", 1.0, _RIDGE),
    ("sklearn.linear_model", "Ridge RidgeClassifier", "alpha", 1.0, _RIDGE),
    (
        "sklearn.linear_model",
        "HuberRegressor",
        "alpha",
        1.0,
        "sum of Huber losses + alpha times the squared norm",
    ),
    (
        "cvst.learners",
        "KernelLogisticRegression",
        "alpha",
        1.0,
        "sum of log losses + alpha times half the squared norm",
    ),
    ("sklearn.svm", "SVC SVR LinearSVC LinearSVR NuSVR", "C", -1.0, _BOUND),
    (
        "sklearn.linear_model",
        "LogisticRegression",
        "C",
        -1.0,
        "half the squared norm + C times the sum of log losses",
    ),
    (
        "sklearn.neural_network",
        "MLPClassifier MLPRegressor",
        "alpha",
        _mlp_exponent,
        f"{_MLP}: all rows for lbfgs, a fixed number for adam and sgd",
    ),
    (
        "sklearn.linear_model",
        _AVERAGING,
        "alpha",
        0.0,
        _MEAN,
    ),
    ("sklearn.svm", "NuSVC", "nu", 0.0, _NU),
    (
        "sklearn.tree",
        "DecisionTreeClassifier DecisionTreeRegressor",
        "ccp_alpha",
        0.0,
        _TREE,
    ),
)


def _built_in_rows() -> dict[str, dict[str, RescalingRow]]:
    table: dict[str, dict[str, RescalingRow]] = {}
    for module, names, parameter, exponent, reason in _BUILT_IN:
        for name in names.split():
            row = RescalingRow(f"{module}.{name}", parameter, exponent, reason)
            table.setdefault(row.estimator, {})[parameter] = row
    return table


# By public name, so that nothing is imported that the user does not use.
_TABLE = _built_in_rows()
_REGISTERED: dict[type, dict[str, RescalingRow]] = {}


# The class is positional only: a hyper-parameter may be called estimator_class.
def register_rescaling(
    estimator_class: type, /, *, reason: str = "registered", **exponents: Exponent
) -> None:
    """Say how hyper-parameters of a class follow the number of rows.

    The registration replaces what the table said about the class. It holds for its
    subclasses too, unless they, or a class between them, have lines of their own: to
    register ``ElasticNet`` does not change ``Lasso``.

    Parameters
    ----------
    estimator_class : type
        The class of the estimator.
    reason : str
        The objective function in a few words, for :func:`rescaling_table`.
    **exponents : float or callable
        Exponent by parameter: on n of N rows the value is multiplied by
        ``(n / N) ** exponent``. A callable gets the estimator's own parameters as a
        dict and returns the exponent.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class SmoothingSpline(BaseEstimator):
    ...     def __init__(self, stiffness=1.0):
    ...         self.stiffness = stiffness
    >>> register_rescaling(
    ...     SmoothingSpline, stiffness=1, reason="sum of squares + stiffness * bending"
    ... )
    >>> exponents_for(SmoothingSpline())
    {'stiffness': 1}
    """
    if not isinstance(estimator_class, type):
        raise InvalidInputError(
            f"register_rescaling got {estimator_class!r}, which is not a class. Pass "
            "the class of the estimator, not an object."
        )
    name = public_name(estimator_class)
    rows = {}
    for parameter, exponent in exponents.items():
        if not callable(exponent):
            check_exponent(parameter, exponent)
        rows[parameter] = RescalingRow(name, parameter, exponent, reason)
    _REGISTERED[estimator_class] = rows


def rescaling_table() -> list[RescalingRow]:
    """Return the table as it stands, registrations last.

    Examples
    --------
    >>> row = rescaling_table()[0]
    >>> row.estimator, row.parameter, row.exponent
    ('sklearn.kernel_ridge.KernelRidge', 'alpha', 1.0)
    >>> row.reason
    'sum of squared errors + alpha times the squared norm'
    """
    replaced = {public_name(cls) for cls in _REGISTERED}
    tables = [rows for name, rows in _TABLE.items() if name not in replaced]
    return [row for rows in (*tables, *_REGISTERED.values()) for row in rows.values()]


def exponents_for(estimator: Any) -> Mapping[str, Exponent]:
    """Return the exponents of an estimator's own parameters, by its class."""
    # A subclass seldom changes the objective, so it follows its nearest known base.
    for cls in type(estimator).__mro__:
        rows = _REGISTERED.get(cls)
        if rows is None:
            rows = _TABLE.get(public_name(cls))
        if rows is not None:
            return {row.parameter: row.exponent for row in rows.values()}
    return {}


def public_name(cls: type) -> str:
    """Return where users import a class from: private modules are left out."""
    parts = cls.__module__.split(".")
    # sklearn.svm._classes.SVC is sklearn.svm.SVC to its users.
    public = [part for part in parts[:2] if not part.startswith("_")]
    return ".".join([*public, cls.__name__])


def check_exponent(parameter: str, exponent: Any) -> float:
    """Refuse exponents that are not numbers."""
    if (
        isinstance(exponent, bool)
        or not isinstance(exponent, int | float)
        or not isfinite(exponent)
    ):
        raise InvalidInputError(
            f"The exponent of {parameter!r} is {exponent!r}, which is not a finite "
            "number. Use 1 where the value grows with the rows, -1 where it shrinks."
        )
    return exponent
