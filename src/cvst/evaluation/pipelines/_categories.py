"""One-hot encoders of texts: the categories of all columns are found in one go.

An encoder checks and maps its columns one by one, which takes longer than most models
where there are thousands of them. Within a race nothing but its rows is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.preprocessing import OneHotEncoder

from cvst._sklearn_compat import CARRIED
from cvst._typing import FloatArray

__all__ = ["KnownCategories", "known_categories"]

# With these a category that was not seen is a row of zeros; others refuse or warn.
LENIENT = ("ignore", "infrequent_if_exist")


class KnownCategories:
    """Stands for a fitted encoder, as far as its rows are concerned.

    Parameters
    ----------
    encoder : OneHotEncoder
        Unfitted; fitted only if other rows hold more than texts and gaps.
    X : array-like
        What it would be fitted on.
    places : sequence of dict
        For each column, the place of each category among its categories.
    """

    def __init__(
        self, encoder: Any, X: Any, places: Sequence[dict[str | None, int]]
    ) -> None:
        self.encoder = encoder
        self.X = X
        self.places = places

    def transform(self, X: Any) -> FloatArray:
        """Return the rows as the encoder does, to the last bit."""
        columns = _columns(X)
        if columns is None or len(columns) != len(self.places):
            return np.asarray(self.encoder.fit(self.X).transform(X))
        return self.rows(columns)

    def rows(self, columns: Sequence[Sequence[str | None]]) -> FloatArray:
        """Return an indicator for each category of each column."""
        starts = np.cumsum([0, *map(len, self.places)])
        rows = np.zeros((len(columns[0]), starts[-1]))
        for column, places, start in zip(columns, self.places, starts, strict=False):
            found = np.array([places.get(value, -1) for value in column])
            seen = np.flatnonzero(found >= 0)
            rows[seen, start + found[seen]] = 1.0
        return rows


def known_categories(encoder: Any, X: Any) -> tuple[KnownCategories, FloatArray] | None:
    """Return what stands for a fitted encoder, and the rows it makes of its own.

    Parameters
    ----------
    encoder : estimator
        Unfitted, and not fitted here.
    X : array-like
        What it would be fitted on.

    Returns
    -------
    tuple or None
        None if only a fit can tell: for other estimators, settings, containers and
        values, and where rare categories are put together.

    Examples
    --------
    >>> X = np.array([["b"], ["a"]], dtype=object)
    >>> encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    >>> known_categories(encoder, X)[1]
    array([[0., 1.],
           [1., 0.]])
    """
    if not _is_plain(encoder):
        return None
    columns = _columns(X)
    if columns is None:
        return None
    categories = [_in_order(set(column)) for column in columns]
    most = encoder.max_categories
    # An encoder puts rare ones together even where there are just as many as may be.
    if most is not None and max(map(len, categories)) >= most:
        return None
    places = [{value: at for at, value in enumerate(known)} for known in categories]
    known = KnownCategories(encoder, X, places)
    return known, known.rows(columns)


def _in_order(values: set[str | None]) -> list[str | None]:
    """Return categories as an encoder sorts them: gaps are the last."""
    texts = sorted(value for value in values if value is not None)
    return [*texts, None] if None in values else [*texts]


def _is_plain(encoder: Any) -> bool:
    if type(encoder) is not OneHotEncoder or set(CARRIED) & vars(encoder).keys():
        return False
    if get_config()["transform_output"] != "default":
        return False
    most = encoder.max_categories
    return (
        encoder.sparse_output is False
        and isinstance(encoder.categories, str)
        and encoder.categories == "auto"
        and encoder.drop is None
        and encoder.min_frequency is None
        and (most is None or (type(most) is int and most >= 1))
        and encoder.handle_unknown in LENIENT
        and encoder.dtype is np.float64
        and encoder.feature_name_combiner == "concat"
    )


def _columns(X: Any) -> list[list[str | None]] | None:
    """Return texts column by column, with None for gaps; None if there is more."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        if X.columns.inferred_type != "string" or not _holds_texts(X):
            return None
        X = X.to_numpy(dtype=object)
    if type(X) is not np.ndarray or X.dtype != object or X.ndim != 2 or not X.size:
        return None
    columns: list[list[Any]] = X.T.tolist()
    kinds = set().union(*(map(type, column) for column in columns))
    if not kinds <= {str, float}:
        return None
    if float in kinds:
        columns = [list(map(_text_or_gap, column)) for column in columns]
        if any(float in map(type, column) for column in columns):
            return None
    return columns


def _holds_texts(frame: Any) -> bool:
    # A pandas category may sort its labels otherwise, and truth values are not texts.
    return {kind.name for kind in set(frame.dtypes)} <= {"object", "str"}


def _text_or_gap(value: Any) -> Any:
    # A number is left as it is: what holds one is left to the encoder.
    return None if type(value) is float and np.isnan(value) else value
