"""Odd settings of a search; most end where parameters are checked."""

from __future__ import annotations

import numpy as np

from cvst import CVST, CrossValidation, TrackAndConfirm

__all__ = ["OPTIONS"]


def _best_by_hand(results):
    return int(np.argmin(results["rank_test_score"]))


# What the search gets besides, by name.
OPTIONS = {
    "usual": {},
    "with a final fit": {"refit": True},
    "refit by a function": {"refit": _best_by_hand},
    "refit by a lie": {"refit": lambda results: 10**9},
    "refit by nothing": {"refit": lambda results: None},
    "refit by a name": {"refit": "nonsense"},
    "refit by a number": {"refit": 3},
    "strategy of no name": {"strategy": "nonsense"},
    "strategy of a number": {"strategy": 3},
    "strategy of nothing": {"strategy": None},
    "strategy of a class": {"strategy": CVST},
    "cvst of no steps": {"strategy": CVST(max_steps=0)},
    "cvst of text steps": {"strategy": CVST(max_steps="ten")},
    "cvst of one step": {"strategy": CVST(max_steps=1)},
    "cvst of odd levels": {"strategy": CVST(similarity_level=-1.0)},
    "cvst of NaN": {"strategy": CVST(similarity_level=np.nan)},
    "track of odd levels": {"strategy": TrackAndConfirm(level=2.0)},
    "track of no rows": {"strategy": TrackAndConfirm(min_rows=0)},
    "track of text rows": {"strategy": TrackAndConfirm(min_rows="many")},
    "track of odd parts": {"strategy": TrackAndConfirm(first_fraction="a")},
    "track without few": {"strategy": TrackAndConfirm(direct_below=0, min_rows=6)},
    "one fold": {"strategy": CrossValidation(1)},
    "folds of text": {"strategy": CrossValidation("two")},
    "minus folds": {"strategy": CrossValidation(-2)},
    "first look only": {"max_looks": 1},
    "two looks": {"max_looks": 2},
    "no looks": {"max_looks": 0},
    "looks of text": {"max_looks": "all"},
    "many looks": {"max_looks": 10**30},
    "no time": {"time_budget": 0.0},
    "minus time": {"time_budget": -1},
    "NaN time": {"time_budget": np.nan},
    "text time": {"time_budget": "long"},
    "minus fit time": {"fit_timeout": -1},
    "NaN fit time": {"fit_timeout": np.nan},
    "error raised": {"error_score": "raise"},
    "error as a number": {"error_score": -1e9},
    "error as text": {"error_score": "zero"},
    "error as infinity": {"error_score": np.inf},
    "no workers": {"n_jobs": 0},
    "workers of text": {"n_jobs": "two"},
    "half a worker": {"n_jobs": 1.5},
    "seed below 0": {"random_state": -1},
    "seed of text": {"random_state": "seed"},
    "no seed": {"random_state": None},
    "seed object": {"random_state": np.random.RandomState(0)},
    "order as given": {"ordering": "given"},
    "order by groups": {"ordering": "grouped"},
    "order by classes": {"ordering": "stratified"},
    "no order": {"ordering": "sideways"},
    "rescale nothing": {"rescale": None},
    "rescale unknown": {"rescale": {"\ud800": 1.0}},
    "rescale by text": {"rescale": {"level": "text", "alpha": "text"}},
    "rescale by lie": {"rescale": lambda *args: None},
    "pointwise kept": {"return_pointwise": True},
    "pointwise of text": {"return_pointwise": "yes"},
    "raced by nothing": {"race_by": "nonsense"},
    "incremental": {"incremental": True},
    "incremental text": {"incremental": "yes"},
    "other device": {"device": "toaster"},
    "checkpoint number": {"checkpoint": 3},
    "checkpoint nowhere": {"checkpoint": "/nonexistent/folder/race"},
    "checkpoint folder": {"checkpoint": "/"},
    "checkpoint with NUL": {"checkpoint": "a\0b"},
    "interrupts": {"on_interrupt": "dance"},
    "loud": {"verbose": -1},
    "loud text": {"verbose": "very"},
    "train scores": {"return_train_score": True},
    "dispatch": {"pre_dispatch": "__import__('os').getpid()"},
}
