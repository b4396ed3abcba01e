"""Download the sets whose public copies hold the same numbers as the paper's.

Each converter turns the raw copy into exactly the numbers of the IDA repository, row
order aside; the checksum of the catalogue is compared afterwards. ``german`` is coded,
standardised and rounded to eight digits as IDA did it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.datasets import fetch_covtype, fetch_openml

from cvst._typing import FloatArray
from cvst.datasets._content import Table
from cvst.datasets._standardise import standardise

__all__ = ["DOWNLOADS", "convert_german", "convert_splice"]

# By number: a name may mean a newer version some day.
OPENML_GERMAN = 31
OPENML_SPLICE = 46

# In the order of UCI's codes A11, A12, ..., which IDA used as numbers.
GERMAN_CATEGORIES = MappingProxyType(
    {
        "checking_status": ("<0", "0<=X<200", ">=200", "no checking"),
        "credit_history": (
            "no credits/all paid",
            "all paid",
            "existing paid",
            "delayed previously",
            "critical/other existing credit",
        ),
        "purpose": (
            "new car",
            "used car",
            "furniture/equipment",
            "radio/tv",
            "domestic appliance",
            "repairs",
            "education",
            "vacation",
            "retraining",
            "business",
            "other",
        ),
        "savings_status": (
            "<100",
            "100<=X<500",
            "500<=X<1000",
            ">=1000",
            "no known savings",
        ),
        "employment": ("unemployed", "<1", "1<=X<4", "4<=X<7", ">=7"),
        "personal_status": (
            "male div/sep",
            "female div/dep/mar",
            "male single",
            "male mar/wid",
            "female single",
        ),
        "other_parties": ("none", "co applicant", "guarantor"),
        "property_magnitude": (
            "real estate",
            "life insurance",
            "car",
            "no known property",
        ),
        "other_payment_plans": ("bank", "stores", "none"),
        "housing": ("rent", "own", "for free"),
        "job": (
            "unemp/unskilled non res",
            "unskilled resident",
            "skilled",
            "high qualif/self emp/mgmt",
        ),
        "own_telephone": ("none", "yes"),
        "foreign_worker": ("yes", "no"),
    }
)
# UCI's code of the last purpose is A410, which IDA read as 410 beside 40, ..., 49.
OTHER_PURPOSE = 371

SPLICE_CODES = MappingProxyType({"A": 1.0, "G": 2.0, "C": 3.0, "T": 4.0})


def _numbered_names(n_features: int) -> tuple[str, ...]:
    return tuple(f"x{number}" for number in range(1, n_features + 1))


def _recode(
    codes: FloatArray, categories: Iterable[str], values: dict[str, float]
) -> FloatArray:
    """Replace scikit-learn's category numbers by our values, unknown ones by NaN."""
    table = np.array([values.get(category, np.nan) for category in categories])
    return np.asarray(table[codes.astype(np.intp)])


def convert_german(raw: Any) -> Table:
    """Turn OpenML's credit-g into the german data of the IDA repository.

    Parameters
    ----------
    raw : Bunch
        From ``fetch_openml(..., as_frame=False)``.
    """
    columns = []
    for name, column in zip(raw.feature_names, np.asarray(raw.data).T, strict=True):
        if name in GERMAN_CATEGORIES:
            order = GERMAN_CATEGORIES[name]
            values = {category: float(i) for i, category in enumerate(order, start=1)}
            if name == "purpose":
                values["other"] = OTHER_PURPOSE
            columns.append(_recode(column, raw.categories[name], values))
        else:
            columns.append(column)
    scaled = standardise(np.column_stack(columns).astype(np.float64))
    # IDA's files have eight significant digits.
    rounded = np.array([float(f"{value:.8g}") for value in scaled.ravel()])
    return Table(
        data=rounded.reshape(scaled.shape),
        target=np.where(np.asarray(raw.target) == "bad", 1.0, -1.0),
        feature_names=_numbered_names(scaled.shape[1]),
    )


def convert_splice(raw: Any) -> Table:
    """Turn OpenML's splice into the two-class splice data of the IDA repository."""
    columns = [
        _recode(column, raw.categories[name], dict(SPLICE_CODES))
        for name, column in zip(raw.feature_names, np.asarray(raw.data).T, strict=True)
        if name != "Instance_name"
    ]
    data = np.column_stack(columns)
    # IDA left out the rows with letters for "one of several bases".
    clear = ~np.isnan(data).any(axis=1)
    target = np.where(np.asarray(raw.target) == "N", -1.0, 1.0)
    return Table(data[clear], target[clear], _numbered_names(data.shape[1]))


def _from_openml(
    data_id: int, convert: Callable[[Any], Table]
) -> Callable[[Path | None], Table]:
    def download(cache: Path | None) -> Table:
        with warnings.catch_warnings():
            # It retries three times; the error that follows says enough.
            warnings.filterwarnings("ignore", message="A network error occurred")
            # The other parser needs pandas.
            raw = fetch_openml(
                data_id=data_id, data_home=cache, as_frame=False, parser="liac-arff"
            )
        return convert(raw)

    return download


def _covtype(cache: Path | None) -> Table:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Retry downloading")
        raw = fetch_covtype(data_home=cache)
    # The two largest of the seven classes.
    rows = raw.target <= 2
    data = np.asarray(raw.data[rows], dtype=np.float64)
    target = np.asarray(raw.target[rows], dtype=np.float64)
    return Table(data, target, _numbered_names(data.shape[1]))


# Each downloads one set, or takes it from scikit-learn's cache in the given folder.
DOWNLOADS: MappingProxyType[str, Callable[[Path | None], Table]] = MappingProxyType(
    {
        "covtype_full": _covtype,
        "german": _from_openml(OPENML_GERMAN, convert_german),
        "splice": _from_openml(OPENML_SPLICE, convert_splice),
    }
)
