"""What the user hands to ``fit``, checked, and sorted by where it is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import check_consistent_length, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets

from cvst._sklearn_compat import deep_parameters, num_samples
from cvst._text import shortened
from cvst._typing import FloatArray
from cvst._values import is_estimator
from cvst.evaluation.machinery import Metadata
from cvst.exceptions import InvalidInputError
from cvst.search.rows._reading import in_full, unread

__all__ = ["Inputs", "read_inputs"]


# From what the user passed to what the fit, the score and other scores by name get.
Route: TypeAlias = Callable[
    [dict[str, Any]],
    tuple[dict[str, Any], Mapping[str, Any], Mapping[str, Mapping[str, Any]]],
]


@dataclass(frozen=True, slots=True)
class Inputs:
    """The arguments of ``fit``.

    Attributes
    ----------
    X, y : array-like
        Training data in the user's order; ``y`` may be None.
    X_val, y_val : array-like or None
        A separate test set.
    groups : array-like or None
        Group of each row.
    fit_params : mapping
        What the estimator's ``fit`` gets besides, whole.
    row_params : mapping
        The part of it that has one entry per row.
    sample_weight : ndarray or None
        Weights of the rows in the means.
    other_weights : mapping of str to (ndarray or None)
        Those of other scores by name, where they may differ.
    metadata : Metadata
        What else the score asks for.
    other_metadata : mapping of str to Metadata
        What else other scores ask for, by name.
    """

    X: Any
    y: Any
    X_val: Any
    y_val: Any
    groups: Any
    fit_params: Mapping[str, Any]
    row_params: Mapping[str, Any]
    sample_weight: Any
    other_weights: Mapping[str, Any] = field(default_factory=dict)
    metadata: Metadata = field(default_factory=Metadata)
    other_metadata: Mapping[str, Metadata] = field(default_factory=dict)

    @property
    def n_samples(self) -> int:
        """Number of training rows."""
        return num_samples(self.X)


def read_inputs(
    estimator: Any,
    X: Any,
    y: Any,
    params: dict[str, Any],
    route: Route,
) -> Inputs:
    """Check the arguments of ``fit`` and route them, before anything is fitted.

    Parameters
    ----------
    estimator : estimator
        What will be fitted.
    X, y, params
        What the user passed.
    route : callable
        Returns what of the parameters goes to ``fit`` of the estimator, to the score,
        and to other scores by name where that may differ.
    """
    # None means "not given", as in scikit-learn.
    params = {
        name: in_full(value) for name, value in params.items() if value is not None
    }
    X, y = unread(estimator, X), in_full(y)
    X_val, y_val = params.pop("X_val", None), params.pop("y_val", None)
    groups = params.pop("groups", None)
    X, y = indexable(X, y)
    if isinstance(X, np.matrix):
        # Subsets of it are arrays: only the final fit would refuse it.
        raise InvalidInputError(
            "X is an np.matrix, which scikit-learn's estimators refuse. Pass "
            "np.asarray(X)."
        )
    if num_samples(X) == 0:
        raise InvalidInputError("Found array with 0 sample(s): X has no rows to race.")
    _check_names(estimator, X=X, X_val=X_val)
    _check_lengths(X, y, groups=groups)
    _check_groups(groups)
    _check_targets(y, "y", required=_requires_y(estimator))
    if y is not None and is_classifier(estimator):
        _check_classes(y)
    _check_test_set(X, y, X_val, y_val)
    # ``X_val`` and ``groups`` belong to the race, so they are not routed.
    fit_params, scored, others = route(params)
    n_samples = num_samples(X)
    aligned = {
        name: value for name, value in fit_params.items() if _per_row(value, n_samples)
    }
    if "sample_weight" in fit_params:
        _checked_weights(fit_params["sample_weight"], X, y)
    return Inputs(
        *(X, y, X_val, y_val, groups, fit_params, aligned),
        sample_weight=_score_weights(scored, X, y),
        other_weights={name: _score_weights(one, X, y) for name, one in others.items()},
        metadata=_metadata(scored, n_samples, X_val),
        other_metadata={
            name: _metadata(one, n_samples, X_val) for name, one in others.items()
        },
    )


def _score_weights(scored: Mapping[str, Any], X: Any, y: Any) -> FloatArray | None:
    """Return the weights that a score asks for."""
    weights = scored.get("sample_weight")
    return None if weights is None else _checked_weights(weights, X, y)


def _metadata(scored: Mapping[str, Any], n_samples: int, X_val: Any) -> Metadata:
    """Return what else a score asks for: what is as long as the rows belongs to them.

    This is scikit-learn's rule. All else is passed on as it is.
    """
    asked = {k: value for k, value in scored.items() if k != "sample_weight"}
    rows = {k: _sliceable(one) for k, one in asked.items() if _per_row(one, n_samples)}
    if rows and X_val is not None:
        raise InvalidInputError(
            f"A score requests {next(iter(rows))!r}, which has one entry for each row "
            "of X and none for those of X_val. Leave X_val out, or race on a score "
            "of targets and predictions only."
        )
    whole = {k: value for k, value in asked.items() if k not in rows}
    lengths = {k: num_samples(one) for k, one in whole.items() if _is_listed(one)}
    remarks = (
        f"{name} has {length} entries for {n_samples} rows, so the score got all of "
        "them at every call. If it is meant for the rows, give one entry per row."
        for name, length in lengths.items()
    )
    return Metadata(rows, whole, tuple(remarks))


def _sliceable(values: Any) -> Any:
    """Return sparse values in a format that has rows."""
    is_sparse: bool = sparse.issparse(values)
    return values.tocsr() if is_sparse else values


def _check_classes(y: Any) -> None:
    try:
        check_classification_targets(y)
    except (ValueError, TypeError) as error:
        text = " ".join(str(error).split())
        raise InvalidInputError(text) from error


def _checked_weights(values: Any, X: Any, y: Any) -> FloatArray:
    try:
        weights = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        weights = np.empty((0, 0))
    if weights.ndim != 1:
        shown = " ".join(repr(values).split())[:60]
        raise InvalidInputError(
            f"sample_weight={shown} is not a list of numbers. Give one number per row."
        )
    _check_lengths(X, y, sample_weight=weights)
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise InvalidInputError(
            "sample_weight contains negative or non-finite values. Give every row "
            "a weight of 0 or more."
        )
    if not np.any(weights > 0):
        raise InvalidInputError(
            "sample_weight is 0 for every row. Give the rows that count more than 0."
        )
    return weights


def _check_names(estimator: Any, **tables: Any) -> None:
    """Refuse names of columns that scikit-learn would refuse in the final fit."""
    for name, X in tables.items():
        names = _column_names(X) or []
        texts = [one for one in names if type(one) is str]
        others = [one for one in names if type(one) is not str]
        # Estimators of others may take them: then each fit decides.
        if texts and others and _is_of_scikit_learn(estimator):
            kind = type(others[0]).__qualname__
            raise InvalidInputError(
                f"{name} has columns named by text and by other values, such as "
                f"{shortened(repr(texts[0]), 40)} and "
                f"{shortened(repr(others[0]), 40)} ({kind}), which scikit-learn's "
                f"estimators refuse. Pass {name}.rename(columns=str)."
            )


def _is_of_scikit_learn(estimator: Any) -> bool:
    """Return whether scikit-learn, or we, wrote an estimator and all its parts."""
    parts = (estimator, *deep_parameters(estimator).values())
    return all(
        type(one).__module__.startswith(("sklearn.", "cvst."))
        for one in parts
        if is_estimator(one)
    )


def _check_groups(groups: Any) -> None:
    if groups is None:
        return
    values = np.asarray(groups)
    if values.ndim != 1:
        raise InvalidInputError(
            f"groups has shape {values.shape}. Give one group per row, as one column."
        )
    if _has_gaps(values):
        raise InvalidInputError(
            "groups contains NaN or None. Give every row a group, or drop these rows."
        )


def _has_gaps(values: Any) -> bool:
    """Return whether any value is missing: NaN, None, or pandas' NA."""
    if values.dtype.kind in "fmM":
        # NaN and NaT, and nothing else, differ from themselves.
        return bool(np.any(values != values))
    if values.dtype != object:
        return False
    # Whatever differs from itself is missing; pandas' NA will not even say so.
    return any(
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float | np.floating) and bool(np.isnan(value)))
        for value in values.ravel().tolist()
    )


def _requires_y(estimator: Any) -> bool:
    return bool(get_tags(estimator).target_tags.required)


def _per_row(value: Any, n_samples: int) -> bool:
    # As in scikit-learn: what is as long as the rows belongs to them.
    return _is_listed(value) and num_samples(value) == n_samples


def _is_listed(value: Any) -> bool:
    """Return whether a value has entries in an order, which rows may have too."""
    if isinstance(value, str | bytes | AbstractSet | Mapping):
        return False
    return hasattr(value, "__len__") and getattr(value, "shape", None) != ()


def _check_lengths(X: Any, y: Any, **others: Any) -> None:
    check_consistent_length(X, y)
    for name, value in others.items():
        if value is not None and num_samples(value) != num_samples(X):
            raise InvalidInputError(
                f"{name} has {num_samples(value)} entries for {num_samples(X)} rows. "
                "Give one entry per row."
            )


def _check_targets(y: Any, name: str, required: bool = False) -> None:
    if y is None:
        if required:
            raise InvalidInputError(
                f"This estimator requires {name} to be passed, but the target {name} "
                "is None. Pass the targets."
            )
        return
    values = np.asarray(y)
    if values.dtype.kind == "U" and not hasattr(y, "dtype"):
        values = np.asarray(y, dtype=object)  # NaN among words is still NaN
    if values.dtype.kind == "c":
        raise InvalidInputError(
            f"Complex data not supported: {name} holds complex numbers. Use real ones."
        )
    if _has_gaps(values):
        raise InvalidInputError(
            f"Input {name} contains NaN. Drop the rows without a target, or fill it in."
        )
    if values.dtype.kind != "f" or np.all(np.isfinite(values)):
        return
    raise InvalidInputError(
        f"Input {name} contains infinity or a value too large for {values.dtype!r}. "
        "Drop these rows."
    )


def _check_test_set(X: Any, y: Any, X_val: Any, y_val: Any) -> None:
    if (X_val is None) != (y_val is None) and y is not None:
        raise InvalidInputError(
            "X_val and y_val make up a separate test set: pass both or neither."
        )
    if X_val is None:
        return
    check_consistent_length(X_val, y_val)
    if num_samples(X_val) == 0:
        raise InvalidInputError(
            "X_val has no rows. Leave it out, or give it rows to test on."
        )
    _check_targets(y_val, "y_val")
    _check_same_columns(X, X_val)
    _check_same_outputs(y, y_val)


def _check_same_columns(X: Any, X_val: Any) -> None:
    wanted, given = getattr(X, "shape", (0,))[1:], getattr(X_val, "shape", (0,))[1:]
    if wanted != given:
        raise InvalidInputError(
            f"X_val has {given} features per row, X has {wanted}. Use the same columns."
        )
    # Another order of columns will do: rows are stacked by name.
    names, given_names = _column_names(X), _column_names(X_val)
    if names is None or given_names is None or set(names) == set(given_names):
        return
    missing = [name for name in names if name not in given_names]
    raise InvalidInputError(
        f"X_val lacks the column {missing[0]!r} of X. Use the same columns."
    )


def _column_names(X: Any) -> list[Any] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else list(columns)


def _check_same_outputs(y: Any, y_val: Any) -> None:
    if y is None or y_val is None:
        return
    wanted, given = np.shape(y)[1:], np.shape(y_val)[1:]
    # A single column is as good as none.
    if (wanted or (1,)) != (given or (1,)):
        raise InvalidInputError(
            f"y_val has {given} targets per row, y has {wanted}. Use the same targets."
        )
