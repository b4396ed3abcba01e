"""A few small races by which a change of the frozen rule is noticed.

    python benchmarks/default/frozen.py tests/reference/frozen_rule.json

writes what the default decides in them. The study of the default judged one rule; if
these races change, it judged another one. ``tests/race/test_frozen_rule.py`` compares.

Nobody is trained: losses are drawn, in steps of 1/64, so that their sums are exact and
the races the same on every machine. What is kept are decisions, no floats.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from cvst.race import (
    Axis,
    Look,
    LookLosses,
    Problem,
    RaceState,
    SearchSpace,
    TrackAndConfirm,
    race,
)

__all__ = ["RACES", "decided"]

# Parts into which losses are rounded.
PARTS = 64

# By how much more a configuration loses one level beside the best of the first axis,
# and for each level of the second.
STEPS = 0.01, 0.02


class Setting(NamedTuple):
    """What a race is made of.

    Attributes
    ----------
    levels : (int, int)
        Of both axes.
    drift : int
        By how many levels the best of the first axis moves from no rows to all.
    own : float
        Share of the chance that a configuration does not have in common with others.
    """

    n_samples: int
    levels: tuple[int, int]
    drift: int
    own: float
    is_error: bool = False
    has_categories: bool = False


RACES = {
    "numbers, the optimum moves": Setting(1000, (31, 4), 15, 1.0),
    "numbers, the optimum stays": Setting(1000, (31, 4), 0, 0.5),
    "numbers, hardly any difference": Setting(2000, (61, 3), 3, 2.5),
    "a long climb": Setting(1000, (121, 2), 100, 0.2),
    "errors, the optimum moves": Setting(1200, (21, 5), 12, 0.5, is_error=True),
    "categories": Setting(800, (12, 6), 6, 1.0, has_categories=True),
    "one look on a subset": Setting(400, (15, 4), 5, 1.0),
    "just enough rows for a subset": Setting(270, (15, 4), 5, 1.0),
    "too few rows for a subset": Setting(200, (15, 4), 5, 1.0),
    "few configurations": Setting(600, (7, 4), 2, 0.3, is_error=True),
}


class Drawn:
    """Losses around a valley; each row and each pair of both has a share by chance."""

    def __init__(self, name: str) -> None:
        self.setting = RACES[name]
        n_samples, levels = self.setting[:2]
        rng = np.random.default_rng(crc32(name.encode()))
        self.of_row = rng.random(n_samples)
        self.of_pair = rng.random((np.prod(levels), n_samples))

    def observe(self, look: Look) -> LookLosses:
        """Return the losses of a look."""
        setting = self.setting
        rows = np.arange(setting.n_samples)[look.test]
        first, second = np.divmod(look.configurations, setting.levels[1])
        moved = setting.drift * look.n_train / setting.n_samples
        beside = np.abs(first - setting.levels[0] / 5 - moved)
        means = 0.2 + STEPS[0] * beside + STEPS[1] * second
        own = self.of_pair[look.configurations][:, rows] - 0.5
        chance = self.of_row[rows] + setting.own * own
        if setting.is_error:
            losses = (chance < means[:, None]).astype(float)
        else:
            losses = np.round(PARTS * (means[:, None] + chance)) / PARTS
        nothing = np.zeros(len(losses))
        return LookLosses(losses, losses.mean(axis=1), nothing, nothing)


def problem(name: str, fold_counts: Sequence[int]) -> Problem:
    """Return the problem of a race, with folds."""
    setting = RACES[name]
    n_samples, levels = setting[:2]
    codes = np.divmod(np.arange(np.prod(levels)), levels[1])
    axes = Axis("a", codes[0], True), Axis("b", codes[1], not setting.has_categories)
    rng = np.random.default_rng(0)
    folds = {}
    for count in fold_counts:
        tests = np.array_split(rng.permutation(n_samples), count)
        folds[count] = tuple(
            (np.setdiff1d(np.arange(n_samples), test), np.sort(test)) for test in tests
        )
    return Problem(len(codes[0]), n_samples, folds=folds, space=SearchSpace(axes))


def decided(name: str, **changed: Any) -> dict[str, Any]:
    """Run a race; return its winner, its ranking and what was decided in each look.

    Parameters
    ----------
    name : str
        One of the races.
    changed : dict
        Other numbers than the default's, to see that they are noticed.
    """
    strategy = TrackAndConfirm(**changed)
    start = RaceState(problem(name, strategy.fold_counts))
    *_, state = race(start, Drawn(name), strategy)
    looks = []
    for seen in state.observations:
        numbers = np.sort(seen.look.configurations).tolist()
        drops = sorted((int(number), why) for number, why in seen.drops.items())
        text = f"{seen.look.stage} on {seen.look.n_train} rows: {len(numbers)} enter, "
        # The sum of digits stands for all the numbers.
        check = crc32(json.dumps([numbers, drops]).encode())
        looks.append(f"{text}{len(drops)} dropped ({check:08x})")
    ranking = strategy.ranking(state).tolist()
    return {"winner": ranking[0], "ranking": ranking, "looks": looks}


def main() -> None:
    """Write what is decided now."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", type=Path)
    output = parser.parse_args().output
    found = {
        "parameters": TrackAndConfirm().get_params(),
        "races": {name: decided(name) for name in RACES},
    }
    output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
