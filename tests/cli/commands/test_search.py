from __future__ import annotations

import html
import json
import shlex

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cvst import CVST, RaceGridSearchCV
from cvst.cli import main
from cvst.report import read_race

GRID = "alpha=logspace(-2, 4, 7)"
ALPHAS = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0]
RIDGE = ["--model", "ridge", "--grid", GRID]


def by_hand(people, **options):
    """Run the search that the command line stands for, written out in Python."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    preparation = make_column_transformer(
        (numbers, ["age", "income", "clinic"]),
        (OneHotEncoder(sparse_output=False), ["city", "member"]),
    )
    search = RaceGridSearchCV(
        make_pipeline(preparation, Ridge()), {"ridge__alpha": ALPHAS}, **options
    )
    features = people[["age", "income", "city", "member", "clinic"]]
    return search.fit(features, people["cost"].to_numpy())


@pytest.fixture
def command(people_csv):
    return ["search", people_csv, "--target", "cost", "--drop", "ill", *RIDGE]


def test_a_device_does_not_change_the_winner(command, cvst):
    """The batched solvers on NumPy stand for a card."""
    host = json.loads(cvst(*command, "--json").out)
    other = json.loads(cvst(*command, "--json", "--device", "numpy").out)

    assert other["winner"]["params"] == host["winner"]["params"]
    assert other["winner"]["score"] == pytest.approx(host["winner"]["score"])


SLEEPER = """
import time
from sklearn.linear_model import Ridge


class Sleeper(Ridge):
    def __init__(self, alpha=1.0, rest=0):
        super().__init__(alpha)
        self.rest = rest

    def fit(self, X, y):
        time.sleep(self.rest)
        return super().fit(X, y)
"""


def test_a_fit_that_hangs_is_ended(cvst_process, people_csv, tmp_path):
    """Without an end the sleeping fits would take ten minutes."""
    (tmp_path / "sleepers.py").write_text(SLEEPER, encoding="utf-8")
    result = cvst_process(
        *["search", people_csv, "-t", "cost", "--drop", "ill", "--max-looks", 1],
        *["-m", "sleepers:Sleeper", "-g", "rest=[0, 600]", "--fit-timeout", "15s"],
        *["--json"],
    )
    document = json.loads(result.out)

    assert result.code == 0
    assert document["winner"]["params"] == {"rest": 0}
    assert "--fit-timeout 15s" in document["repeat"]


def test_the_command_is_the_search_written_out(command, people, cvst):
    """Winner, score, steps and survivors are those of a search in Python."""
    search = by_hand(people, random_state=3, scoring="neg_mean_absolute_error")
    result = cvst(
        *command, "--random-state", 3, "--scoring", "neg_mean_absolute_error", "--json"
    )
    summary = json.loads(result.out)

    assert result.code == 0
    assert result.err == ""
    assert summary["winner"]["params"] == {"alpha": search.best_params_["ridge__alpha"]}
    assert summary["winner"]["score"] == pytest.approx(search.best_score_)
    assert summary["stop_reason"] == search.stop_reason_
    assert summary["n_survivors"] == len(search.surviving_params_)
    assert [look["rows"] for look in summary["looks"]] == list(
        search.race_.subset_sizes
    )
    for name, expected in {
        "tested": search.race_.present.sum(axis=0),
        "top": search.race_.traces.sum(axis=0),
        "dropped": [len(seen.drops) for seen in search.race_.observations],
    }.items():
        assert [look[name] for look in summary["looks"]] == list(expected)
    assert summary["looks"][-1]["leader"] == summary["winner"]["params"]


def test_steps_and_window_reach_the_strategy(command, people, cvst):
    strategy = CVST(max_steps=12, stopping_window=5)
    search = by_hand(people, random_state=0, strategy=strategy)
    result = cvst(*command, "--max-steps", 12, "--stopping-window", 5, "--json")
    looks = json.loads(result.out)["looks"]
    assert [look["rows"] for look in looks] == list(search.race_.subset_sizes)


def test_the_folder_holds_what_is_needed_to_use_and_repeat_it(
    command, people, cvst, tmp_path
):
    folder = tmp_path / "results"
    first = cvst(*command, "--out", folder)
    winner = json.loads((folder / "winner.json").read_text(encoding="utf-8"))
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))

    assert sorted(path.name for path in folder.iterdir()) == [
        "command.txt",
        "cv_results.csv",
        "model.skops",
        "race.json.gz",
        "report.html",
        "summary.json",
        "winner.json",
    ]
    table = pd.read_csv(folder / "cv_results.csv")
    assert json.loads(table["params"][0]) == {
        f"model__{name}": value for name, value in winner["params"].items()
    }

    # The saved pipeline takes the table as it was read, and predicts well.
    model = skops.io.load(folder / "model.skops", trusted=summary["untrusted_types"])
    assert model.score(people.drop(columns=["cost"]), people["cost"]) > 0.8

    # Command line and report say the same of a plain search.
    stored = read_race(folder / "race.json.gz").page["plain_search"]
    assert summary["plain_search"] == {
        "n_folds": stored["n_folds"],
        "estimated_seconds": stored["seconds"],
    }

    # The page names the command that repeats it.
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert summary["repeat"] in html.unescape(page)

    # Repeating the command gives the same results.
    words = shlex.split((folder / "command.txt").read_text(encoding="utf-8"))
    assert words[0] == "cvst"
    second = cvst(*words[1:], "--overwrite")
    again = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert again["winner"] == summary["winner"]
    assert first.code == second.code == 0


def test_the_text_says_what_was_recognised_and_what_happened(command, cvst):
    text = cvst(*command).out
    for words in (
        "240 rows, 5 columns to learn from",
        "Regression: 'cost' has 240 distinct values",
        "Numbers (3 columns): gaps filled with the median, scaled.",
        f"Model: ridge, 7 configurations: {GRID}",
        "Note: Column 'name' is different in nearly every row",
        "Winner: alpha=",
        "Expected on new rows: r2 ",
        "Score: r2 ",
    ):
        assert words in text
    assert text.index("Expected on new rows") < text.index("Score: r2 ")
    assert text.index("look  rows") < text.index("The race ended after")


def test_a_random_search_draws_as_often_as_told(people_csv, cvst):
    options = ["search", people_csv, "-t", "cost", "--drop", "ill", "-m", "ridge"]
    drawn = json.loads(
        cvst(*options, "-g", "alpha=loguniform(1e-3, 1e4)", "--n-iter", 9, "--json").out
    )
    sampled = json.loads(cvst(*options, "-g", GRID, "--n-iter", 3, "--json").out)
    assert drawn["n_configurations"] == 9
    assert 1e-3 <= drawn["winner"]["params"]["alpha"] <= 1e4
    assert sampled["n_configurations"] == 3
    assert sampled["winner"]["params"]["alpha"] in ALPHAS


def test_the_score_that_is_raced_is_named(people_csv, cvst):
    """That of a Poisson regression is the explained deviance, not r2."""
    poisson = "sklearn.linear_model:PoissonRegressor"
    result = cvst(
        *["search", people_csv, "-t", "cost", "--drop", "ill", "--json"],
        *["-m", poisson, "-g", "alpha=[0.1, 1]", "--strategy", "cross_validation"],
    )
    assert json.loads(result.out)["scoring"] == "d2_tweedie"


def test_groups_are_never_split(people, people_csv, cvst):
    """Each subset is a union of whole clinics."""
    result = cvst(
        *["search", people_csv, "-t", "ill", "--drop", "cost", "-m", "ridge"],
        *["-g", GRID, "--groups", "clinic", "--json"],
    )
    counts = people["clinic"].value_counts().to_numpy()
    reachable = {0}
    for count in counts:
        reachable |= {total + count for total in reachable}
    rows = [look["rows"] for look in json.loads(result.out)["looks"]]
    plain = [240 * step // 11 for step in range(1, len(rows) + 1)]
    assert set(rows) <= reachable
    assert rows != plain


def test_groups_are_named_in_the_text(people, people_csv, cvst):
    text = cvst(
        *["search", people_csv, "-t", "ill", "--drop", "cost", "-m", "ridge"],
        *["-g", GRID, "--groups", "clinic"],
    ).out
    n_groups = people["clinic"].nunique()
    assert f"{n_groups} groups by 'clinic': none of them is split." in text


def test_time_order_keeps_the_past_before_the_future(cvst, tmp_path):
    """The target jumps at the end: a race in order of time never trains on that."""
    n_rows = 300
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"hour": np.arange(n_rows), "x": rng.normal(size=n_rows)})
    table["y"] = table["x"] + 100.0 * (table["hour"] >= 290)
    path = tmp_path / "load.csv"
    table.sample(frac=1, random_state=0).to_csv(path, index=False)
    options = ["search", path, "-t", "y", *RIDGE, "--scoring", "neg_mean_squared_error"]
    ordered = json.loads(cvst(*options, "--time-order", "hour", "--json").out)
    shuffled = json.loads(cvst(*options, "--drop", "hour", "--json").out)
    # All ten jumps are among the test rows: their share of the error is known.
    first = ordered["looks"][0]
    n_test = n_rows - first["rows"]
    assert -first["score"] == pytest.approx(100.0**2 * 10 / n_test, rel=0.05)
    assert ordered["looks"][0]["score"] != shuffled["looks"][0]["score"]


def test_a_race_under_a_clock_can_be_repeated_without_it(command, cvst):
    """The command that is told chooses the same race and the same winner."""
    first = json.loads(
        cvst(*command, "--strategy=cvst", "--time-budget", "1m", "--json").out
    )
    words = shlex.split(first["repeat"])
    second = json.loads(cvst(*words[1:]).out)
    assert "--time-budget" not in words
    assert "--max-steps" in words
    assert second["winner"] == first["winner"]
    rows = [[look["rows"] for look in told["looks"]] for told in (first, second)]
    assert rows[0] == rows[1]


def test_a_plan_races_nothing(command, cvst, tmp_path):
    folder = tmp_path / "results"
    text = cvst(*command, "--plan", "--out", folder).out
    plan = json.loads(cvst(*command, "--plan", "--max-steps", 20, "--json").out)
    assert "Plan: 7 configurations, 240 rows" in text
    assert "Winner" not in text
    assert not folder.exists()
    assert [look["n_train"] for look in plan["looks"]] == [
        step * 240 // 21 for step in range(1, 21)
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-t", "cst", *RIDGE], "no column 'cst'. Did you mean 'cost'?"),
        (["-t", "cost", "-m", "rigde"], "Did you mean 'ridge'?"),
        (["-t", "cost", "-m", "svm", "-g", "c=1"], "Did you mean 'C'?"),
        (["-t", "cost", "-m", "klr"], "model is for classification"),
        (["-t", "cost", "-m", "ridge", "-g", "alpha=[1"], "column 9"),
        (["-t", "cost", *RIDGE, "--scoring", "roc_auc"], "roc_auc"),
        (["-t", "cost", *RIDGE, "--scoring", "nonsense"], "nonsense"),
        (["-t", "cost", *RIDGE, "--strategy", "nonsense"], "choice: 'nonsense'"),
        (["-t", "cost", *RIDGE, "--max-steps", "3"], "max_steps=3 is too few"),
        (["-t", "cost", *RIDGE, "--stopping-window", "11"], "stopping_window=11"),
        (["-t", "cost", *RIDGE, "--loser-level", "2"], "loser_level=2"),
        (["-t", "cost", *RIDGE, "--time-budget", "soon"], "'soon' is not a time"),
        (["-t", "cost", *RIDGE, "--time-budget", "1e-9", "--quiet"], "too small"),
        (["-t", "cost", *RIDGE, "--max-looks", "0"], "max_looks"),
        (["-t", "cost", *RIDGE, "--fit-timeout", "soon"], "'soon' is not a time"),
        (["-t", "cost", *RIDGE, "--fit-timeout", "0"], "fit-timeout"),
        (["-t", "cost", *RIDGE, "--max-memory", "much"], "not an amount of memory"),
        (["-t", "cost", *RIDGE, "--max-memory", "1kB"], "max_memory='1kB' is too li"),
        (["-t", "cost", *RIDGE, "--device", "gpu"], "device='gpu' is not known"),
        (["-t", "cost", *RIDGE, "--n-jobs", "0"], "'0' is not a number of workers"),
        (["-t", "cost", *RIDGE, "--n-jobs", "two"], "'two' is not a number of workers"),
        (
            [
                "-t",
                "cost",
                *RIDGE,
                "--strategy",
                "cross_validation",
                "--max-steps",
                "9",
            ],
            "--max-steps belongs to the paper's race, not to",
        ),
        (["-t", "cost", *RIDGE, "--raw"], "holds text, which --raw"),
        (["-t", "cost", *RIDGE, "--n-iter", "0"], "n_iter"),
        (
            ["-t", "cost", *RIDGE, "--groups", "clinic", "--time-order"],
            "cannot be combined",
        ),
        (["-t", "cost", *RIDGE, "--out", "people.csv"], "is a file, not a folder"),
        (
            ["-t", "cost", "-m", "svm", "-g", "C=[-1, -2]"],
            "All 2 configurations failed",
        ),
        (["-t", "cost"], "the following arguments are required: -m/--model"),
    ],
)
def test_mistakes_end_with_one_sentence_and_exit_code_2(
    options, words, people_csv, cvst, monkeypatch
):
    monkeypatch.chdir(people_csv.parent)
    result = cvst("search", "people.csv", *options)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("cvst search: ")
    assert words in result.err
    assert "Traceback" not in result.err
    # A grid that cannot be read is followed by the line and a caret under the place.
    assert result.err.count("\n") in (1, 3)


def test_a_traceback_is_shown_on_demand(people_csv, cvst):
    with pytest.raises(ValueError, match="no column"):
        cvst("search", people_csv, "-t", "zzz", *RIDGE, "--traceback")


def test_too_few_rows_are_noted_not_hidden(people, cvst, tmp_path):
    path = tmp_path / "few.csv"
    people.head(15).drop(columns=["name", "ill"]).to_csv(path, index=False)
    result = cvst("search", path, "-t", "cost", "--strategy", "cvst", *RIDGE)
    assert result.code == 0
    assert "Note: 15 rows are too few to race" in result.out


def test_options_of_the_papers_race_choose_it(command, cvst):
    """Steps are the paper's; without them the default strategy decides."""
    default = json.loads(cvst(*command, "--json").out)
    steps = json.loads(cvst(*command, "--max-steps", "9", "--json").out)
    assert default["strategy"] == "track_and_confirm"
    assert steps["strategy"] == "cvst"
    assert steps["looks"][0]["rows"] == 240 // 10


def test_few_rows_still_have_a_score(people, cvst, tmp_path):
    """Folds of at least two rows, so that r2 is a number."""
    path = tmp_path / "few.csv"
    people.head(15).drop(columns=["name", "ill"]).to_csv(path, index=False)
    told = json.loads(cvst("search", path, "-t", "cost", *RIDGE, "--json").out)
    assert np.isfinite(told["winner"]["score"])


NET = ("sklearn.neural_network:MLPRegressor", "max_iter=[3, 4]", "Iteration 1")
MACHINE = ("sklearn.svm:SVR", "C=[1, 4]", "[LibSVM]")


def printing(people_csv, model, grid):
    return [
        *["search", people_csv, "-t", "cost", "-m", model, "--max-looks", 1],
        *["-g", f"verbose=[true]; {grid}", "--json"],
    ]


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize(
    ("model", "grid", "printed", "more"), [(*NET, ["--plan"]), (*MACHINE, [])]
)
def test_what_models_print_does_not_get_into_the_document(
    capfd, people_csv, model, grid, printed, more
):
    """Python prints the lines of the one, and compiled code those of the other."""
    command = [*printing(people_csv, model, grid), *more]
    assert main([str(word) for word in command]) == 0
    out, err = capfd.readouterr()
    assert isinstance(json.loads(out), dict)
    assert printed in err


def test_what_workers_print_does_not_get_into_the_document(cvst_process, people_csv):
    model, grid, printed = NET
    result = cvst_process(*printing(people_csv, model, grid), "-j", "2")
    assert isinstance(json.loads(result.out), dict)
    assert printed in result.err
