"""What a column holds: numbers, categories, dates, identifiers or nothing."""

from __future__ import annotations

import re
from typing import Any, Literal

__all__ = ["Kind", "column_kind"]

Kind = Literal["number", "category", "empty", "identifier", "date", "object"]

# A text column in which nearly every row has a value of its own names the row.
IDENTIFIER_SHARE = 0.9
SMALLEST_IDENTIFIER = 20

# Values looked at to recognise dates written as text.
SAMPLE = 200
DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{4}( .*)?"
    r"|\d{4}/\d{1,2}/\d{1,2}.*"
)


def column_kind(values: Any) -> Kind:
    """Tell what a column holds.

    Examples
    --------
    >>> import pandas as pd
    >>> column_kind(pd.Series([1, 2, None])), column_kind(pd.Series(["a", "b"]))
    ('number', 'category')
    >>> column_kind(pd.Series(["2024-01-31", None]))
    'date'
    """
    import pandas.api.types as types

    if values.isna().all():
        return "empty"
    if types.is_bool_dtype(values.dtype):
        return "category"
    if types.is_numeric_dtype(values.dtype):
        return "object" if types.is_complex_dtype(values.dtype) else "number"
    if types.is_datetime64_any_dtype(values.dtype) or isinstance(
        values.dtype, types.PeriodDtype
    ):
        return "date"
    return _kind_of_objects(values.dropna())


def _kind_of_objects(values: Any) -> Kind:
    sample = values.head(SAMPLE).tolist()
    if all(isinstance(value, bool) for value in sample):
        return "category"
    if not all(isinstance(value, str) for value in sample):
        # Labels of a pandas category may be numbers; anything else is beyond us.
        plain = all(isinstance(value, str | int | float) for value in sample)
        return "category" if plain and values.dtype.name == "category" else "object"
    if all(DATE.fullmatch(value) for value in sample):
        return "date"
    n_rows = len(values)
    n_distinct = int(values.nunique())
    if n_rows >= SMALLEST_IDENTIFIER and n_distinct > IDENTIFIER_SHARE * n_rows:
        return "identifier"
    return "category"
