"""The problems on which rules are compared, as (train, test) pairs by seed.

Kernel least squares on the paper's grid of 610 configurations: for classification the
classes are -1 and +1 and the loss is 0 or 1. Real sets are read from CVST_DATA_HOME.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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

PENALTIES = 10.0 ** np.arange(-7, 3)
WIDE = 10.0 ** np.linspace(-3, 3, 61)
NARROW = 10.0 ** np.linspace(0, 6, 61)


@dataclass(frozen=True)
class Problem:
    """A data set, its task and the widths to try."""

    name: str
    task: str
    draw: Callable[[int, int], tuple]
    gammas: np.ndarray
    design: bool
    """Whether the rule was designed on this problem."""


def _generated(make, n_test=3000, **options):
    def draw(n_train, seed):
        X, y = make(n_train + n_test, random_state=seed, **options)
        return _split(X, y, n_train)

    return draw


def _real(name, n_test=3000):
    def draw(n_train, seed):
        bunch = fetch_benchmark(name)
        order = np.random.default_rng(seed).permutation(len(bunch.target))
        limit = min(len(order), n_train + n_test)
        n_train = min(n_train, limit // 2)
        rows = order[:limit]
        return _split(bunch.data[rows], bunch.target[rows], n_train)

    return draw


def _split(X, y, n_train):
    X = standardise(np.asarray(X, dtype=float).reshape(len(y), -1))
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]


def _friedman1(n_samples, random_state):
    rng = np.random.default_rng(random_state)
    X = rng.random((n_samples, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, y + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=n_samples)


def _spirals(n_samples, random_state):
    rng = np.random.default_rng(random_state)
    side = rng.integers(2, size=n_samples)
    angle = np.sqrt(rng.random(n_samples)) * 4 * np.pi
    sign = 2 * side - 1
    X = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)]) * sign[:, None]
    return X + rng.normal(scale=0.7, size=X.shape), side


def _checkers(n_samples, random_state):
    rng = np.random.default_rng(random_state)
    X = rng.uniform(0, 6, size=(n_samples, 2))
    y = (np.floor(X).sum(axis=1) % 2).astype(int)
    flip = rng.random(n_samples) < 0.05
    return X, np.where(flip, 1 - y, y)


def _steps(n_samples, random_state):
    rng = np.random.default_rng(random_state)
    x = rng.random((n_samples, 1))
    y = np.sign(np.sin(40 * x[:, 0] ** 2)) + rng.normal(scale=0.3, size=n_samples)
    return x, y


def _chirp(n_samples, random_state):
    rng = np.random.default_rng(random_state)
    x = rng.random((n_samples, 1))
    y = np.sin(60 * x[:, 0] ** 3) + rng.normal(scale=0.2, size=n_samples)
    return x, y


def problems():
    """Return all problems: those of the design first, fresh ones last."""
    regression, binary = "regression", "classification"
    table = [
        Problem("blocks", regression, _generated(make_blocks), NARROW, True),
        Problem("bumps", regression, _generated(make_bumps), NARROW, True),
        Problem("doppler", regression, _generated(make_doppler), NARROW, True),
        Problem("heavisine", regression, _generated(make_heavisine), WIDE, True),
        Problem("friedman1", regression, _generated(_friedman1), WIDE, True),
    ]
    for d in (2, 3, 4):
        for noise in (0.1, 0.2):
            draw = _generated(make_noisy_sinc, dimension=d, noise=noise)
            name = f"noisy sinc d={d} n={noise}"
            table.append(Problem(name, regression, draw, WIDE, True))
    for d in (5, 50, 100):
        for noise in (0.25, 0.5):
            draw = _generated(make_noisy_sine, dimension=d, noise=noise)
            name = f"noisy sine d={d} n={noise}"
            table.append(Problem(name, binary, draw, WIDE, True))
    generators = {
        "ringnorm": make_ringnorm,
        "twonorm": make_twonorm,
        "waveform": make_waveform,
    }
    table += [
        Problem(name, binary, _generated(make), WIDE, True)
        for name, make in generators.items()
    ]
    table += [
        Problem(name, regression, _real(name), WIDE, True)
        for name in ("bank32nm", "puma32nm", "kin8nm")
    ]
    table += [
        Problem(name, binary, _real(name), WIDE, True)
        for name in ("banana", "german", "image", "splice")
    ]
    table += [
        Problem("covtype", binary, _real("covtype"), WIDE, False),
        Problem("kin32fm", regression, _real("kin32fm"), WIDE, False),
        Problem("kin32nm_sim", regression, _real("kin32nm_sim"), WIDE, False),
        Problem("steps", regression, _generated(_steps), NARROW, False),
        Problem("chirp", regression, _generated(_chirp), NARROW, False),
        Problem("spirals", binary, _generated(_spirals), WIDE, False),
        Problem("checkers", binary, _generated(_checkers), WIDE, False),
    ]
    return table
