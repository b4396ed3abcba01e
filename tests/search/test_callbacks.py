"""scikit-learn's callbacks see a race where scikit-learn has them (from 1.9 on)."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvst import CVST, RaceGridSearchCV

callback = pytest.importorskip(
    "sklearn.callback", reason="this scikit-learn has no callbacks"
)

GRID = {"alpha": np.logspace(-3, 3, 7).tolist(), "gamma": [0.1, 1.0, 10.0]}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(200, 1))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=200)


class Diary:
    """Writes down what it is told, and may ask to stop after a number of looks."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.lines: list[tuple[str, str, int]] = []
        self.most: list[int | None] = []
        self.stop_after = stop_after
        self.torn_down = 0

    def setup(self, estimator, context):
        self.most.append(context.max_subtasks)

    def teardown(self, estimator, context):
        self.torn_down += 1

    def on_fit_task_begin(self, estimator, context):
        self.lines.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context):
        self.lines.append(("end", context.task_name, context.task_id))
        done = sum(line[:2] == ("end", "look") for line in self.lines)
        return self.stop_after is not None and done >= self.stop_after


@pytest.mark.parametrize("strategy", ["cvst", "track_and_confirm", "cross_validation"])
def test_every_look_and_the_final_fit_are_tasks(strategy, data):
    diary = Diary()
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"), GRID, strategy=strategy, random_state=0
    )
    search.set_callbacks(diary).fit(*data)
    begun = [name for kind, name, _ in diary.lines if kind == "begin"]
    looks = ["look"] * search.n_looks_
    assert begun == ["fit", *looks, "refit-with-best-params"]
    ended = [name for kind, name, _ in diary.lines if kind == "end"]
    assert ended == [*looks, "refit-with-best-params", "fit"]
    # All that may come was announced, so that a bar knows its length.
    assert diary.most[0] is not None
    assert len(begun) - 1 <= diary.most[0]
    assert diary.torn_down == 1


def test_a_callback_can_end_the_race(data):
    diary = Diary(stop_after=2)
    search = RaceGridSearchCV(KernelRidge(kernel="rbf"), GRID, random_state=0)
    search.set_callbacks(diary).fit(*data)
    assert (search.n_looks_, search.stop_reason_) == (2, "callback")
    assert search.predict(data[0]).shape == (200,)
    search.set_params(time_budget=1000).set_callbacks(Diary(stop_after=2)).fit(*data)
    assert search.budget_settings_["max_looks"] == search.n_looks_ == 2


class Chatty(CVST):
    """Makes more looks than it plans."""

    def planned_looks(self, problem):
        return super().planned_looks(problem)[:2]


def test_more_looks_than_planned_do_not_disturb(data):
    diary = Diary()
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"), GRID, strategy=Chatty(), random_state=0
    )
    search.set_callbacks(diary).fit(*data)
    assert search.n_looks_ > 2
    assert diary.lines[-1] == ("end", "fit", 0)


# As in scikit-learn's own searches, whose final fit passes callbacks on.
@pytest.mark.filterwarnings("ignore:The estimator KernelRidge does not support")
def test_the_progress_bar_of_scikit_learn_reaches_its_end(data, capsys):
    pytest.importorskip("rich")
    search = RaceGridSearchCV(KernelRidge(kernel="rbf"), GRID, random_state=0)
    search.set_callbacks(callback.ProgressBar()).fit(*data)
    shown = capsys.readouterr().out
    assert "RaceGridSearchCV - fit" in shown
    assert "100%" in shown.rsplit("RaceGridSearchCV - fit", 1)[1]


def test_callbacks_of_the_estimator_see_every_fit():
    """A monitor inside a pipeline logs a run per configuration and look."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] + rng.normal(size=150) > 0).astype(int)
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = LogisticRegression().set_callbacks(monitor)
    search = RaceGridSearchCV(
        make_pipeline(StandardScaler(), model),
        {"logisticregression__C": [0.01, 0.1, 1.0]},
        random_state=0,
    ).fit(X, y)
    n_fits = int(search.race_.present.sum()) + 1
    assert len(monitor.get_logs(select="all")) == n_fits
