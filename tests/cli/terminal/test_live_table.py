from __future__ import annotations

import io
import logging
import os
import signal
from unittest import mock

import numpy as np
import pytest
from rich.console import Console
from sklearn.linear_model import Ridge

from cvst import RaceGridSearchCV, RaceSearchCV
from cvst.cli.terminal import RaceView, _live_table, _live_view, live_view
from cvst.cli.terminal._forecast import Forecast
from cvst.cli.terminal._listening import listening
from cvst.race import Look, LookLosses, Problem, RaceState, Verdict
from cvst.search import STRATEGIES

ALPHAS = np.logspace(-2, 5, 15)
N_SAMPLES = 330


def one_look(n_train, seconds, elapsed):
    """Return a race after a look at all, with the seconds of their fits."""
    problem = Problem(len(seconds), N_SAMPLES)
    look = Look(*problem.prefix(n_train), n_train, np.arange(len(seconds)), "folds")
    zeros = np.zeros(len(seconds))
    seen = LookLosses(zeros[:, None], zeros, seconds, zeros, elapsed=elapsed)
    return RaceState(problem).observe(look, seen, Verdict(zeros == 0, zeros))


def new_view():
    return RaceView(["Data: here."], "", len(ALPHAS))


def drawn(view, height=40):
    console = Console(width=100, height=height, file=io.StringIO())
    console.print(view)
    return console.file.getvalue()


def tell(view, **event):
    record = logging.LogRecord("cvst", logging.INFO, "", 0, "", None, None)
    record.cvst = event
    view.emit(record)


def run(strategy="cvst", watch=None):
    """Race with a view listening, and return both."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_SAMPLES, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=N_SAMPLES)
    view = new_view() if watch is None else watch
    search = RaceGridSearchCV(
        Ridge(), {"alpha": ALPHAS}, strategy=strategy, random_state=0
    )
    with listening(view):
        search.fit(X, y)
    return search, view


@pytest.fixture
def race():
    return run()


def test_the_table_is_the_race(race):
    """Rows, survivors, leader and score are those of the fitted search."""
    search, view = race
    state = search.race_
    text = drawn(view)
    assert len(view.rows) == search.n_looks_
    for row, size in zip(view.rows, state.subset_sizes, strict=True):
        assert row.n_train == size
    assert view.rows[-1].n_active == state.active.sum()
    assert view.rows[-1].leader_score == search.best_score_
    assert f"{search.best_score_:.4g}" in text
    assert f"alpha={search.best_params_['alpha']:.4g}" in text
    assert "Data: here." in text
    assert "The winner is fitted on all rows" in text


def test_a_low_terminal_shows_the_latest_steps(race):
    """Whatever the height, the view must not scroll away."""
    search, view = race
    text = drawn(view, height=11)
    assert text.count("alpha=") == 2
    assert text.rstrip("\n").count("\n") < 11 + 1
    assert f"{search.race_.subset_sizes[-1]} " in text


def test_progress_within_a_step_is_shown():
    view = new_view()
    look = {"stage": "race", "max_configurations": 15, "expected_configurations": 15.0}
    looks = [{**look, "n_train": 30 * step} for step in range(1, 11)]
    tell(view, event="start", looks=looks, expected_looks=5, n_samples=N_SAMPLES)
    assert "Look 1 of 10: 15 configurations on 30 rows" in drawn(view)
    known = {"looks": looks[:1], "expected_looks": 1, "n_samples": N_SAMPLES}
    tell(view, event="start", **known, proposes=True)
    assert "Look 1: 15 configurations on 30 rows" in drawn(view)
    tell(view, event="begin", n_train=77, n_configurations=12)
    tell(view, event="progress", done=3, total=12)
    text = drawn(view)
    assert "12 configurations on 77 rows" in text
    assert "25%" in text


def test_an_interrupt_is_said_at_once_and_ends_all_forecasts(race, monkeypatch):
    """Compiled code goes on for seconds before Python itself hears of the signal."""
    _, view = race
    view.final = False
    console = Console(file=io.StringIO(), force_terminal=True)
    monkeypatch.setattr(_live_view, "_console", lambda: console)
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with live_view(view):
            assert "Stopping" not in drawn(view)
            os.kill(os.getpid(), signal.SIGINT)
            text = drawn(view)
    finally:
        signal.signal(signal.SIGINT, before)
    assert "Stopping as soon as the fit that is running is over" in text
    assert "The leader is kept" in text
    for other in ("to the end", "Look 11", "Ctrl-C stops", "is fitted on all rows"):
        assert other not in text
    assert signal.set_wakeup_fd(-1) == -1


@pytest.mark.parametrize("reason", ["interrupted", "failed"])
def test_a_race_that_is_broken_off_announces_no_final_fit(reason, race):
    _, view = race
    tell(view, event="end", reason=reason)
    text = drawn(view)
    assert "The race was broken off: the leader is kept" in text
    assert "final" not in text
    assert "fitted" not in text


class Watcher(RaceView):
    """Keeps what the last line of the view says as every look ends.

    A moment later nothing may be left of what takes a millisecond.
    """

    texts: tuple[str, ...] = ()

    def emit(self, record):
        super().emit(record)
        if getattr(record, "cvst", {}).get("event") == "look":
            with mock.patch.object(
                _live_table, "monotonic", return_value=self.look_began
            ):
                self.texts = (*self.texts, self._times())


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_the_end_is_forecast_for_every_strategy(strategy):
    """From the third look on, or from the first where all looks are as large."""
    watcher = Watcher([], "", len(ALPHAS))
    search, view = run(strategy, watcher)
    assert len(view.texts) == search.n_looks_
    known = view.texts if strategy == "cross_validation" else view.texts[2:]
    assert known
    assert all("to the end" in text.split("step")[-1] for text in known)
    assert len(view.forecast.planned) >= search.n_looks_


def proposing(seconds=None):
    """Race with proposals; return the view and what it said of times and looks."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_SAMPLES, 2))
    watcher = Watcher([], "", 0)
    search = RaceSearchCV(
        Ridge(),
        {"alpha": (1e-3, 1e3)},
        n_iter=6,
        time_budget=seconds,
        random_state=0,
    )
    with listening(watcher):
        search.fit(X, X[:, 0])
    return watcher


def test_the_end_of_a_race_that_proposes_is_not_forecast():
    """The plan ends with its first look; those that follow are not known."""
    view = proposing()
    assert len(view.texts) > 2
    assert not any("to the end" in text.split("look")[-1] for text in view.texts)
    assert view.forecast.about() is None
    assert view.forecast.at_most() is None


def test_a_race_that_proposes_says_what_is_left_of_its_budget():
    view = proposing(seconds=60)
    assert all(text.endswith("of the budget left.") for text in view.texts)
    assert 30 < view.forecast.budget_left(0.0) < 60
    assert view.forecast.budget_left(100.0) == 0.0
    tell(view, event="end")
    assert "of the budget" not in drawn(view)


def test_the_number_of_those_that_are_proposed_next_is_not_made_up():
    """Before the race and between its looks nobody knows who takes part."""
    view = RaceView([], "", 0)
    assert "Look 1: proposing configurations ..." in drawn(view)
    view = proposing()
    view.final = False
    look = len(view.rows) + 1
    assert f"Look {look}: proposing configurations ..." in drawn(view)


def test_the_final_fit_is_no_look(race):
    """What takes longer than expected is not said to be over in 0 s."""
    _, view = race
    view.forecast._each = view.forecast._final_fit = 100.0
    text = drawn(view)
    assert "s to the end of the final fit." in text
    assert "this look" not in text
    view.look_began -= 1e6
    assert "to the end" not in drawn(view)
    view.final = False
    assert "to the end" not in drawn(view)


def test_the_end_is_never_later_than_the_budget():
    """Folds of a second each, of which two fill what is left."""
    view = new_view()
    with mock.patch.object(_live_table, "monotonic", return_value=view.began):
        folds = [{"stage": "folds", "n_train": 300}] * 5
        folds = [
            {**fold, "max_configurations": 15, "expected_configurations": 15.0}
            for fold in folds
        ]
        known = {"looks": folds, "expected_looks": 5, "n_samples": N_SAMPLES}
        tell(view, event="start", **known, seconds=3.0)
        view.forecast.saw(one_look(300, np.full(15, 1 / 15), elapsed=1.0), 1.0)
        view.rows = [None]
        assert view.forecast.at_most() > 4
        assert view._times().endswith("look, at most 2.0 s to the end.")
        view.look_began -= 0.9
        assert view._times().endswith("look, at most 1.1 s to the end.")
        # A look that takes longer than what is left tells nothing of the end.
        view.forecast.seconds = 1.95
        assert "to the end of this look." in view._times()


def test_the_budget_of_a_grid_is_told():
    """What is left of it as the race begins: small fits were timed before."""
    heard = []
    spy = logging.Handler(logging.DEBUG)
    spy.emit = lambda record: heard.append(getattr(record, "cvst", {}))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_SAMPLES, 2))
    with listening(spy):
        RaceGridSearchCV(Ridge(), {"alpha": ALPHAS}, time_budget=30).fit(X, X[:, 0])
    told = next(event for event in heard if event.get("event") == "start")
    assert 20 < told["seconds"] < 30


def test_the_final_fit_takes_what_the_leaders_own_fits_took():
    """It is ten times as slow as the others; its strategy may know still better."""
    seconds = np.where(np.arange(15) == 3, 1.0, 0.1)
    forecast = Forecast()
    state = one_look(165, seconds, elapsed=1.0)
    forecast.saw(state, 1.0, leader=3)
    assert forecast.final_fit() == pytest.approx(N_SAMPLES / 165)
    forecast.saw(state, 1.0, leader=3, refit_seconds=0.16)
    assert forecast.final_fit() == 0.16
    forecast.saw(state, 1.0, leader=3, refit_seconds=np.nan)
    assert forecast.final_fit() is None


def test_the_final_fit_of_a_race_that_proposes_takes_what_its_strategy_expects():
    view = Watcher([], "", 0)
    search = RaceSearchCV(Ridge(), {"alpha": (1e-3, 1e3)}, n_iter=6, random_state=0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_SAMPLES, 2))
    with listening(view):
        search.fit(X, X[:, 0])
    expected = search.strategy_.refit_seconds(search.race_)
    assert view.forecast.final_fit() == pytest.approx(expected)
    assert view._expected_seconds() == pytest.approx(expected)


def test_other_records_of_the_logger_do_no_harm():
    view = new_view()
    before = drawn(view)
    view.emit(logging.LogRecord("cvst", logging.INFO, "", 0, "else", None, None))
    tell(view, event="something new", value=1)
    assert drawn(view).split("so far")[0][:60] == before.split("so far")[0][:60]


def test_without_a_terminal_each_look_is_a_line(capsys):
    """Written when the look is over, not when the race is."""
    seen = []

    class Spy(logging.Handler):
        def emit(self, record):
            if getattr(record, "cvst", {}).get("event") == "look":
                seen.append(capsys.readouterr().err)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_SAMPLES, 2))
    search = RaceGridSearchCV(Ridge(), {"alpha": ALPHAS}, strategy="cvst")
    with live_view(new_view()), listening(Spy()):
        search.fit(X, X[:, 0])
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    assert len(seen) == len(search.race_.observations)
    for number, (text, seen_there) in enumerate(
        zip(seen, search.race_.observations, strict=True), start=1
    ):
        n_train = seen_there.look.n_train
        assert text.startswith(f"Look {number} of 10 (race, {n_train} rows): ")
        assert text.count("\n") == 1
        assert "leader alpha=" in text


def test_nothing_is_shown_without_a_view(capsys):
    with live_view(None):
        run()
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_timing_for_a_budget_is_said_until_the_race_begins(capsys):
    view = RaceView([], "", 15, measuring="Small fits are timed")
    assert "Small fits are timed ..." in drawn(view)
    assert "Look 1" not in drawn(view)
    with live_view(view):
        assert capsys.readouterr().err == "Small fits are timed ...\n"
    tell(view, event="start", looks=[], expected_looks=5, n_samples=N_SAMPLES)
    assert "Small fits are timed" not in drawn(view)
    assert "Look 1: 15 configurations" in drawn(view)


def test_one_configuration_is_singular():
    assert "Look 1: 1 configuration ..." in drawn(RaceView([], "", 1))


def test_long_leaders_are_cut_before_any_number_is():
    """Loss and time stay whole in a narrow terminal."""
    record = logging.LogRecord("cvst", logging.INFO, "", 0, "", None, None)
    record.cvst = {
        "event": "look",
        "look": 11,
        "stage": "confirm",
        "n_train": 12_345,
        "n_configurations": 1_234,
        "n_top": 1_111,
        "n_dropped": 222,
        "n_active": 1_012,
        "leader_score": -0.2345,
        "scoring": "neg_log_loss",
    }
    record.args = {"params": {f"a_long_name_{n}": 0.5 for n in range(9)}}
    view = new_view()
    view.emit(record)
    lines = drawn(view).splitlines()
    line = next(line for line in lines if "12,345" in line)
    for words in ("11", "1,234", "1,111", "222", "1,012", "0.2345", "a_long_name_0="):
        assert words in line
    assert " s " in line
    assert line.rstrip().endswith("…")
    assert max(map(len, lines)) <= 100
