"""Hostile and odd input, drawn: it works or is refused in one sentence.

``python benchmarks/hostile`` draws the same cases by the hundred thousand.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from cvst import RaceGridSearchCV

HOSTILE = Path(__file__).parents[2] / "benchmarks" / "hostile"
sys.path.insert(0, str(HOSTILE))

from hostile_cases import Case, draw, draw_paced, run  # noqa: E402 - after the path
from hostile_inputs import CVS, GRIDS, PARAMS, ROWS, TARGETS  # noqa: E402
from hostile_models import MODELS, SCORERS  # noqa: E402
from hostile_options import OPTIONS  # noqa: E402
from hostile_paces import PACES  # noqa: E402
from hostile_reports import TELLINGS, drawn_telling  # noqa: E402

# Cases in which something was found, and what it was.
FOUND = {
    "a ValueError about classes was passed on": Case("HostileClassifier key"),
    "an error without a text ended the race": Case("HostileRegressor hidden"),
    "folds of floats ended in an IndexError": Case("ridge", cv="floats"),
    "words among numbers ended in a TypeError": Case("tree", targets="mixed objects"),
    "labels in order ended in a KeyError": Case(
        "logistic", targets="sorted classes", cv="pairs", scoring="accuracy"
    ),
    "a machine met a number beyond all floats": Case(
        "machine", targets="two classes", grid="odd values", scoring="accuracy"
    ),
    "two rows ended in a KeyError": Case("ridge", n_rows=2, cv="none"),
    "a NUL in the name of a checkpoint was a ValueError": Case(
        "HostileRegressor none", options="checkpoint with NUL"
    ),
    "words among numbers were sorted for an area under a curve": Case(
        "HostileRegressor none", targets="mixed objects", cv="not pairs", scoring="auc"
    ),
    "folds that are not pairs were told on many lines": Case(
        "HostileRegressor none", cv="not pairs"
    ),
    "a prediction of None was measured": Case(
        "HostileRegressor nothing", options="error raised"
    ),
    "a prediction of one number was measured": Case(
        "HostileRegressor scalar", options="error raised"
    ),
    "infinite predictions were not an error of ours": Case(
        "HostileClassifier infinite",
        targets="rare class",
        scoring="accuracy",
        options="error raised",
    ),
    "words among numbers were sorted into an order of classes": Case(
        "HostileRegressor stop",
        targets="mixed objects",
        scoring="scorer of words",
        options="order by classes",
    ),
    "rows in lists were those of the user": Case(
        "HostileRegressor writes", rows="list"
    ),
    "rows in dictionaries were those of the user": Case(
        "HostileRegressor writes", rows="dicts"
    ),
    "equally near rows were chosen in another order": draw(27939),
    "a budget on two rows had nothing to time": Case(
        "tree", n_rows=2, cv="two", strategy="cross_validation", pace="in turn"
    ),
    "a race on disk that had failed was taken for ended": draw_paced(20000116),
}


@pytest.mark.parametrize("case", FOUND.values(), ids=FOUND)
def test_what_was_found_stays_mended(case):
    assert run(case).trouble == []


@pytest.mark.parametrize("part", range(8))
def test_drawn_cases_are_explained(part):
    """Each works, or raises a documented error, or what scikit-learn raises too."""
    results = [run(draw(seed)) for seed in range(25 * part, 25 * part + 25)]
    assert [one for one in results if one.trouble] == []


@pytest.mark.parametrize("part", range(4))
def test_paced_cases_are_explained(part):
    """In little time, with two workers, with ensembles, or kept on disk."""
    cases = [draw_paced(seed) for seed in range(20 * part, 20 * part + 20)]
    # Processes are started elsewhere: a second for each case is too long here.
    quick = [
        one for one in cases if "processes" not in one.pace and "fit" not in one.pace
    ]
    assert [one for one in map(run, quick) if one.trouble] == []


@pytest.mark.parametrize(
    "case",
    [Case("HostileRegressor none", grid="odd values"), Case("ridge", n_rows=6)],
    ids=["odd values", "few rows"],
)
def test_pages_and_pictures_are_made_or_refused(case):
    for telling in TELLINGS:
        result = run(replace(case, telling=telling))
        assert result.outcome.startswith("works")
        assert result.trouble == []


def test_a_page_that_would_be_run_is_noticed(monkeypatch):
    monkeypatch.setitem(TELLINGS, "page", lambda search, folder: "<img onerror=boom()>")
    assert run(Case("ridge", telling="page")).trouble
    monkeypatch.setitem(TELLINGS, "page", lambda search, folder: {}["a"])
    assert run(Case("ridge", telling="page")).trouble


def test_cases_reach_every_kind_of_input():
    """A generator that always draws the same would find nothing."""
    cases = [draw(seed) for seed in range(4000)]
    for name, table in {
        "rows": ROWS,
        "targets": TARGETS,
        "cv": CVS,
        "params": PARAMS,
        "grid": GRIDS,
        "scoring": SCORERS,
        "options": OPTIONS,
        "model": MODELS,
    }.items():
        assert {getattr(case, name) for case in cases} == set(table)
    assert {drawn_telling(seed) for seed in range(60_000)} == set(TELLINGS)
    paced = {draw_paced(seed).pace for seed in range(4000)}
    assert paced == set(PACES) - {"usual"}


class Constant(RegressorMixin, BaseEstimator):
    """Predicts a number."""

    def __init__(self, value=0.0):
        self.value = value

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


def test_ten_thousand_configurations_race():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 1)), 3 + rng.normal(size=60)
    grid = {"value": np.linspace(0, 10, 10_000)}
    search = RaceGridSearchCV(
        Constant(), grid, scoring="neg_mean_squared_error", random_state=0, max_looks=2
    ).fit(X, y)
    assert abs(search.best_params_["value"] - np.mean(y)) < 1
    assert len(search.cv_results_["params"]) == 10_000


def test_a_thousand_classes_race_like_cross_validation():
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 1000
    X = np.column_stack([y % 10, y // 10]) + 0.01 * rng.normal(size=(3000, 2))
    grid = {"var_smoothing": [1e-9, 1.0]}
    options = {"cv": 3, "scoring": "accuracy"}
    search = RaceGridSearchCV(
        GaussianNB(), grid, strategy="cross_validation", **options
    ).fit(X, y)
    witness = GridSearchCV(GaussianNB(), grid, **options).fit(X, y)
    assert search.best_params_ == witness.best_params_
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"],
        witness.cv_results_["mean_test_score"],
    )


def blocks(*arguments):
    """Return which seeds ``python benchmarks/hostile run`` would run."""
    spec = importlib.util.spec_from_file_location("hostile", HOSTILE / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.open_blocks(*arguments))


def test_only_what_a_file_leaves_open_is_run_again(tmp_path):
    known, out = tmp_path / "known.jsonl", tmp_path / "out.jsonl"
    quiet, died = {"works": 50}, {"not counted": 2, "died": 1}
    found = [{"seed": 20_000_003}]
    lines = [
        {"first": 100, "cases": 50, "outcomes": quiet, "trouble": []},
        {"first": 20_000_000, "cases": 9, "outcomes": quiet, "trouble": found},
        {"first": 500, "cases": 3, "outcomes": died, "trouble": []},
    ]
    known.write_text("\n".join(map(json.dumps, lines)))
    assert blocks(out, known, "paced") == [(500, 3), (20_000_003, 1)]
    out.write_text(json.dumps({"first": 500, "cases": 2}))
    assert blocks(out, known, "paced") == [(502, 1), (20_000_003, 1)]
    known.write_text(json.dumps({**lines[0], "paced": False}))
    assert blocks(out, known, "usual") == []
    with pytest.raises(SystemExit, match="was run without --paced"):
        blocks(out, known, "paced")
