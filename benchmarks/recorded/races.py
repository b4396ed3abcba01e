"""All recorded races, by name."""

from __future__ import annotations

from itertools import chain

from race_definition import Race
from races_inputs import INPUTS
from races_kernels import KERNELS
from races_models import MODELS
from races_options import OPTIONS
from races_pipelines import PIPELINES
from races_refused import REFUSED
from races_scores import SCORES
from races_strategies import STRATEGIES

__all__ = ["RACES"]

RACES: dict[str, Race] = {}
for _race in chain(
    KERNELS,
    MODELS,
    PIPELINES,
    STRATEGIES,
    SCORES,
    INPUTS,
    OPTIONS,
    REFUSED,
):
    if _race.name in RACES:
        raise ValueError(f"Two races are called {_race.name!r}. Rename one of them.")
    RACES[_race.name] = _race
