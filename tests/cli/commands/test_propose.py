"""Which search the options stand for, and proposals from the command line."""

from __future__ import annotations

import json

import pytest

from cvst import RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst.cli._main import build_parser
from cvst.cli.commands._job import make_job
from cvst.spaces import suggest

BOOSTING = ["--model", "boosting"]
OWN = ["--grid", "learning_rate=[0.1, 0.3] max_leaf_nodes=[4, 8]"]
DRAWN = ["--grid", "learning_rate=loguniform(0.01, 0.3)"]


@pytest.fixture
def job(people_csv):
    """Return the job that a command stands for, before it runs."""

    def make(*words):
        arguments = ["search", str(people_csv), "-t", "cost", "--drop", "ill", *words]
        return make_job(build_parser().parse_args(arguments))

    return make


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (BOOSTING, RaceSearchCV),
        ([*BOOSTING, "--time-budget", "5s"], RaceSearchCV),
        ([*BOOSTING, "--no-propose"], RaceGridSearchCV),
        ([*BOOSTING, "--strategy", "cvst"], RaceGridSearchCV),
        ([*BOOSTING, "--max-steps", "5"], RaceGridSearchCV),
        ([*BOOSTING, *OWN], RaceGridSearchCV),
        ([*BOOSTING, *OWN, "--propose"], RaceSearchCV),
        ([*BOOSTING, *DRAWN], RaceRandomSearchCV),
        ([*BOOSTING, *DRAWN, "--propose"], RaceSearchCV),
        ([*BOOSTING, "--grid", "auto", "--no-propose"], RaceRandomSearchCV),
        (["--model", "ridge"], RaceGridSearchCV),
        (["--model", "ridge", "--grid", "auto"], RaceSearchCV),
        (["--model", "ridge", "--propose"], RaceSearchCV),
        (["--model", "sklearn.linear_model:Lasso", "--grid", "auto"], RaceSearchCV),
    ],
)
def test_the_search_is_the_one_asked_for(job, words, expected):
    assert type(job(*words).search) is expected


def test_the_suggested_space_is_that_of_the_pipeline(job):
    made = job(*BOOSTING)
    X = made.learning.X
    space = suggest(made.search.estimator, n_samples=len(X), n_features=X.shape[1])
    assert list(made.search.param_distributions) == list(space)
    assert "learning_rate" in made.grid.text
    assert made.prepared.prefix not in made.grid.text


@pytest.mark.parametrize("option", [["--strategy", "cvst"], ["--max-steps", "5"]])
def test_strategies_and_proposals_are_not_combined(cvst, people_csv, option):
    result = cvst(
        *["search", people_csv, "-t", "cost", *BOOSTING, "--propose", *option]
    )
    assert result.code == 2
    assert f"{option[0]} is for races whose configurations are known" in result.err
    assert "Leave one of them out" in result.err


def test_a_model_without_suggestions_says_so(cvst, people_csv):
    result = cvst(
        *["search", people_csv, "-t", "cost", "--grid", "auto"],
        *["--model", "sklearn.dummy:DummyRegressor"],
    )
    assert result.code == 2
    assert "DummyRegressor" in result.err


def test_proposals_of_the_command_line_are_those_of_the_search(cvst, job, people_csv):
    """Same data, seed and number: same winner and score."""
    words = ["--model", "ridge", "--grid", "auto", "--n-iter", "8"]
    result = cvst(
        *["search", people_csv, "-t", "cost", "--drop", "ill", *words, "--json"]
    )
    summary = json.loads(result.out)
    made = job(*words)
    made.search.fit(*made.arrays)
    prefix = made.prepared.prefix
    best = made.search.best_params_
    assert summary["winner"]["params"] == {
        name.removeprefix(prefix): value for name, value in best.items()
    }
    assert summary["winner"]["score"] == pytest.approx(made.search.best_score_)
    assert summary["strategy"] == "propose_and_confirm"
    assert "8 configurations proposed while racing" in summary["heading"][-1]


def test_a_budget_decides_how_many_are_proposed(cvst, people_csv):
    result = cvst(
        *["search", people_csv, "-t", "cost", "--model", "ridge", "--grid", "auto"],
        *["--time-budget", "3s", "--quiet"],
    )
    assert result.code == 0
    assert "configurations proposed while racing: suggested ranges of" in result.out
    assert "Winner: " in result.out
