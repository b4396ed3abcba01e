"""The problems of the paper: which rows to learn from and to test on.

The artificial sets are drawn and used as they are: 1,000 rows and 10,000 to test. The
benchmark sets go the way of the paper: standardise all features (and the target of a
regression) over all rows, split in random halves, learn from one and test on the other;
of covtype 2,000 rows of each class are learned from. The paper does not say how many
rows the four sets of Donoho and Johnstone had; we draw 2,048, as those two did.

The rows depend on the data set and the repetition alone, so that all methods and both
learners meet the same ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from grids import LEARNERS

from cvst.datasets import (
    fetch_benchmark,
    make_blocks,
    make_bumps,
    make_doppler,
    make_heavisine,
    make_noisy_sinc,
    make_noisy_sine,
    make_ringnorm,
    make_twonorm,
    make_waveform,
    standardise,
)

__all__ = ["BENCHMARKS", "TOYS", "Problem", "Rows", "Source"]

TOY_TEST_ROWS = 10_000
DONOHO_ROWS = 2048


class Rows(NamedTuple):
    """Rows to learn from and to test on."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any


@dataclass(frozen=True)
class Source:
    """Where the rows of a benchmark set come from.

    Attributes
    ----------
    n_rows : int
        Rows of the paper's set.
    file : str
        Name for :func:`cvst.datasets.fetch_benchmark`; empty if all are generated.
    make : callable or None
        Draws rows like those of the set.
    substitute : str
        What we have instead, if not the paper's rows.
    per_class : int or None
        Rows of each class to learn from, where they are not half of all.
    rows_here : int or None
        Rows of the substitute, where it has fewer than the paper's set.
    """

    task: str
    n_rows: int
    file: str = ""
    make: Callable[..., tuple[Any, Any]] | None = None
    substitute: str = ""
    per_class: int | None = None
    rows_here: int | None = None

    @property
    def n_train(self) -> int:
        """Rows that the paper learns from."""
        return 2 * self.per_class if self.per_class else self.n_rows // 2

    @property
    def n_train_here(self) -> int:
        """Rows that there are to learn from."""
        return self.rows_here // 2 if self.rows_here else self.n_train


BINARY, NUMBERS = "classification", "regression"
BENCHMARKS = {
    "banana": Source(BINARY, 5300, "banana"),
    "covtype": Source(
        BINARY, 495_141, "covtype", substitute="covtype-24000", per_class=2000
    ),
    "german": Source(BINARY, 1000, "german"),
    "image": Source(BINARY, 2310, "image"),
    "ringnorm": Source(BINARY, 7400, "ringnorm", make_ringnorm),
    "splice": Source(BINARY, 3175, "splice"),
    "twonorm": Source(BINARY, 7400, "twonorm", make_twonorm),
    "waveform": Source(BINARY, 5000, "waveform", make_waveform),
    "bank32nm": Source(NUMBERS, 8192, "bank32nm"),
    "blocks": Source(NUMBERS, DONOHO_ROWS, make=make_blocks),
    "bumps": Source(NUMBERS, DONOHO_ROWS, make=make_bumps),
    "doppler": Source(NUMBERS, DONOHO_ROWS, make=make_doppler),
    "heavisine": Source(NUMBERS, DONOHO_ROWS, make=make_heavisine),
    "kin32nm": Source(NUMBERS, 8192, "kin32fm", substitute="kin32fm", rows_here=4096),
    "pumadyn32nm": Source(NUMBERS, 8192, "puma32nm"),
}
TOYS: dict[str, tuple[str, Callable[..., tuple[Any, Any]]]] = {
    "noisy_sine": (BINARY, make_noisy_sine),
    "noisy_sinc": (NUMBERS, make_noisy_sinc),
}


@dataclass(frozen=True)
class Problem:
    """A data set, a learner and the number of rows to learn from.

    Attributes
    ----------
    data, learner : str
        Names.
    n_train : int
        Rows to learn from; those of the paper or a cap.
    d, noise : int and float, or None
        Of the artificial sets.
    n_test : int or None
        At most so many rows to test on; None for the paper's.
    generated : bool
        Draw the rows of a set that has a generator, even if there is a file of it.
    toy_rows_paper : int
        Rows of an artificial set that the paper learns from.
    """

    data: str
    learner: str
    n_train: int
    d: int | None = None
    noise: float | None = None
    n_test: int | None = None
    generated: bool = False
    toy_rows_paper: int = 1000

    @property
    def task(self) -> str:
        """Either "classification" or "regression"."""
        return LEARNERS[self.learner].task

    @property
    def is_toy(self) -> bool:
        """Whether it is one of the paper's own artificial sets."""
        return self.data in TOYS

    @property
    def n_rows_paper(self) -> int:
        """Rows that the paper learns from."""
        return self.toy_rows_paper if self.is_toy else BENCHMARKS[self.data].n_train

    @property
    def substitute(self) -> str:
        """What stands in for the paper's rows; empty if nothing does."""
        if self.is_toy:
            return ""
        source = BENCHMARKS[self.data]
        return "generated" if self.generated and source.file else source.substitute

    @property
    def cost(self) -> float:
        """Rough time of the searches, in no particular unit."""
        return LEARNERS[self.learner].cost * float(self.n_train) ** 2

    def seed(self, repetition: int) -> int:
        """Return the seed of rows and folds: the same for all learners and methods."""
        return crc32(f"{self.data}|{self.d}|{self.noise}|{repetition}".encode())

    def rows(self, repetition: int) -> Rows:
        """Draw or split the rows of a repetition."""
        rng = np.random.default_rng(self.seed(repetition))
        return self._toy(rng) if self.is_toy else self._benchmark(rng)

    def _toy(self, rng: np.random.Generator) -> Rows:
        _, make = TOYS[self.data]
        n_test = self.n_test or TOY_TEST_ROWS
        X, y = make(
            self.n_train + n_test,
            dimension=self.d,
            noise=self.noise,
            random_state=rng,
        )
        n = self.n_train
        return Rows(X[:n], y[:n], X[n:], y[n:])

    def _benchmark(self, rng: np.random.Generator) -> Rows:
        source = BENCHMARKS[self.data]
        if source.make is not None and (self.generated or not source.file):
            X, y = source.make(source.n_rows, random_state=rng)
        else:
            X, y = stored(source.file, os.environ.get("CVST_DATA_HOME"))
        X = standardise(X)
        if self.task == "regression":
            y = standardise(y)
        train, test = split(y, source.per_class, rng)
        train, test = train[: self.n_train], test[: self.n_test]
        return Rows(X[train], y[train], X[test], y[test])


@lru_cache(maxsize=4)
def stored(name: str, folder: str | None) -> tuple[Any, Any]:
    """Read a real set once per process."""
    bunch = fetch_benchmark(name, data_home=folder)
    return bunch.data, bunch.target


def split(
    y: Any, per_class: int | None, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return random rows to learn from, and the others.

    Half of all rows, or so many of each class. Their order is random, so that the
    first of them are a sample too.
    """
    order = rng.permutation(len(y))
    if per_class is None:
        half = len(y) // 2
        return order[:half], order[half:]
    chosen = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        chosen[order[y[order] == label][:per_class]] = True
    return order[chosen[order]], order[~chosen[order]]
