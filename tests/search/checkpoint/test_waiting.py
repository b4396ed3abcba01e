"""Groups that have to wait to be saved, and what a checkpoint does not ask for."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from cvst import RaceGridSearchCV
from cvst.evaluation._scored import Scored
from cvst.race import Look
from cvst.search.checkpoint._journal import Journal, create
from cvst.search.checkpoint._pace import Pace
from cvst.search.checkpoint._recorder import Recorder
from cvst.search.checkpoint._records import Reading, read_records
from cvst.search.checkpoint._story import Story
from cvst.search.rows import _fallback

LOOK = Look(slice(0, 40), np.arange(40, 60), 40, np.arange(9), stage="first")


class Clock:
    """Stands still until it is told the time."""

    now = 0.0

    def __call__(self):
        return self.now


class Thread:
    """Stands for the thread that saves later: it notes when it is asked."""

    def __init__(self):
        self.asked = []

    def within(self, seconds):
        self.asked.append(seconds)

    def stop(self):
        """Nothing runs."""


@pytest.fixture
def recorder(tmp_path):
    """Return one whose first save would take a hundred times its share."""
    path = tmp_path / "race"
    journal = Journal(path, create(path, {"parts": {}, "search": {}}))
    made = Recorder(journal, Story(), lambda: 0.0, {})
    made.clock = Clock()
    made._writes, made._later = Pace(0.01, 1.0, made.clock), Thread()
    made.known(LOOK, [[n] for n in range(9)])
    yield made
    made.close()


def outcomes_in(path):
    story = Story.of(path, read_records(path, Reading()), {})
    return story.outcomes


def test_groups_that_wait_ask_once_and_are_saved_together(recorder):
    for number in range(4):
        recorder.keep([Scored(number, np.full(20, 0.5))])
    assert len(recorder._later.asked) == 1
    recorder._save_late()
    # It was woken too early, for the disk, and asks to be woken again.
    assert outcomes_in(recorder._path) == []
    assert recorder._later.asked[1:2] == [pytest.approx(100, rel=1e-3)]
    recorder.clock.now = 101.0
    recorder._save_late()
    assert [one["configuration"] for one in outcomes_in(recorder._path)] == [0, 1, 2, 3]


def test_a_group_after_a_late_save_is_not_forgotten(recorder):
    """The thread has done what it was asked for: it has to be asked again."""
    recorder.keep([Scored(0, np.full(20, 0.5))])
    recorder.clock.now = 101.0
    recorder._save_late()
    n_asked = len(recorder._later.asked)
    recorder.keep([Scored(1, np.full(20, 0.5))])
    assert len(recorder._later.asked) == n_asked + 1


def test_a_result_is_told_with_its_reason_and_without_errors(recorder):
    """Errors of other scores were told; a failed fit keeps its text, not its error."""
    error = ValueError("no")
    failed = Scored(0, error=error, reason="ValueError: no", details="Traceback")
    partly = Scored(1, np.full(20, 0.5), others={"r2": 0.1}, other_errors={"x": error})
    recorder.keep([failed])
    recorder.keep([partly])
    recorder.clock.now = 101.0
    recorder._save_late()
    first, second = outcomes_in(recorder._path)
    times = {"fit_seconds": 0.0, "score_seconds": 0.0}
    told = {"reason": "ValueError: no", "details": "Traceback"}
    assert first == {"configuration": 0, **told, **times}
    assert set(second) == {"configuration", "losses", "others", *times}
    np.testing.assert_array_equal(second["losses"], np.full(20, 0.5))


def test_a_checkpoint_makes_no_folds_that_the_race_does_not(tmp_path, monkeypatch):
    """A race of two has no final, so nobody needs the folds of one."""
    made = []
    real = _fallback.make_folds
    monkeypatch.setattr(
        _fallback, "make_folds", lambda *a, **k: made.append(a[1]) or real(*a, **k)
    )
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)

    def folds(**options):
        made.clear()
        search = RaceGridSearchCV(
            DecisionTreeRegressor(), {"max_depth": [1, 2]}, random_state=0, **options
        )
        search.fit(X, y)
        return list(made)

    assert folds(checkpoint=tmp_path / "race") == folds()
