"""A bar that follows a race, and lines where none can be drawn."""

from __future__ import annotations

import io
import logging
import re
import sys
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.neural_network import MLPRegressor

from cvst import RaceGridSearchCV
from cvst.report.machinery import stop_sentence
from cvst.search import _progress as progress
from cvst.search._progress import RaceBar, new_bar, verbose_logging


class Drawn:
    """Remembers what it was asked to draw."""

    def __init__(self):
        self.shown = []
        self.closed = False

    def show(self, done, total, text):
        self.shown.append((done, total, text))

    def close(self):
        self.closed = True


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    return X, X[:, 0] + rng.normal(size=400)


@pytest.mark.parametrize("strategy", ["track_and_confirm", "cvst", "cross_validation"])
@pytest.mark.parametrize("n_configurations", [1, 7, 40])
def test_the_bar_counts_the_fits_of_the_race(rows, strategy, n_configurations):
    """It never runs back, and ends at what was fitted."""
    grid = {"alpha": np.logspace(-2, 3, n_configurations).tolist()}
    search = RaceGridSearchCV(Ridge(), grid, strategy=strategy)
    bar = Drawn()
    alone = pytest.warns(UserWarning, match="one configuration")
    expected = alone if n_configurations == 1 else nullcontext()
    with expected, verbose_logging(1, lambda: bar):
        search.fit(*rows)
    done = [shown[0] for shown in bar.shown]
    assert done == sorted(done)
    assert all(shown[0] <= shown[1] for shown in bar.shown)
    last = bar.shown[-1]
    assert last[0] == last[1] == search.race_.present.sum()
    assert "over" in last[2]
    assert bar.closed
    assert not any(
        isinstance(one, RaceBar) for one in logging.getLogger("cvst").handlers
    )


def test_the_bar_shows_the_score_that_was_asked_for(rows):
    bar = Drawn()
    grid = {"alpha": [0.1, 1.0, 10.0]}
    search = RaceGridSearchCV(Ridge(), grid, scoring="neg_mean_squared_error")
    with verbose_logging(1, lambda: bar):
        search.fit(*rows)
    assert f"mean_squared_error {-search.best_score_:.4g}" in bar.shown[-2][2]


class Closing(Drawn):
    """Marks on standard output where it closed."""

    def close(self):
        sys.stdout.write("<closed>\n")


@pytest.mark.parametrize("max_looks", [None, 2])
def test_why_the_race_ended_is_said_under_the_bar(rows, max_looks, capsys):
    """Also that it is a tie: the bar has room for one word of it."""
    grid = {"fit_intercept": [True, False]}
    search = RaceGridSearchCV(Ridge(), grid, max_looks=max_looks, random_state=0)
    with verbose_logging(1, Closing):
        search.fit(*rows)
    before, after = capsys.readouterr().out.split("<closed>\n")
    told = stop_sentence(
        search.stop_reason_, search.n_looks_, search.strategy_, search.tie_
    )
    assert search.tie_ is not None
    assert search.tie_.text in told
    winner = f"fit_intercept={search.best_params_['fit_intercept']}"
    assert (before, after) == ("", f"[cvst] {told} The winner is {winner}.\n")


def test_without_a_terminal_there_are_lines(rows, capsys):
    """Whole numbers, no names of NumPy's types, no NaN."""
    grid = {"alpha": np.array([0.1, 1.0, 10.0])}
    RaceGridSearchCV(Ridge(), grid, verbose=1).fit(*rows)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert all(line.startswith("[cvst] look") for line in lines[:-1])
    assert "r2 0." in lines[0]
    text = "\n".join(lines)
    assert "np.float64" not in text
    assert "nan" not in text


def test_lines_of_progress_say_something_new(rows, capsys):
    """Not that none or all of a look are done, which other lines say."""
    model, grid = MLPRegressor(max_iter=3), {"alpha": [0.1, 1.0, 10.0]}
    with pytest.warns(ConvergenceWarning):
        RaceGridSearchCV(model, grid, verbose=2).fit(*rows)
    lines = capsys.readouterr().out.splitlines()
    told = [line for line in lines if re.match(r"\[cvst\] \d+ of", line)]
    assert told[:2] == ["[cvst] 1 of 3 configurations", "[cvst] 2 of 3 configurations"]
    assert not any(re.match(r"\[cvst\] (0|3) of", line) for line in told)
    assert any("begins with 3 configurations" in line for line in lines)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("missing", [(), ("tqdm",), ("tqdm", "rich")])
def test_a_terminal_gets_the_bar_that_is_installed(rows, missing, monkeypatch):
    """tqdm, else rich, else lines."""
    pytest.importorskip("tqdm")
    pytest.importorskip("rich")
    for name in missing:
        for module in [*sys.modules]:
            if module == name or module.startswith(f"{name}."):
                monkeypatch.setitem(sys.modules, module, None)
        for module in (name, f"{name}.auto", f"{name}.progress"):
            monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(sys, "stdout", Terminal())
    bar = new_bar()
    kinds = {(): "tqdm", ("tqdm",): "rich"}
    drawn_by = {kind.__module__.split(".")[0] for kind in type(bar).__mro__}
    wanted = {kinds[missing]} if missing in kinds else set()
    assert drawn_by & {"tqdm", "rich"} == wanted
    if bar is not None:
        bar.show(3, 10, "confirm: 2 left")
        bar.close()


def test_a_notebook_is_known_by_its_kernel(monkeypatch):
    class Shell:
        kernel = object()

    class IPython:
        get_ipython = staticmethod(Shell)

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert progress.in_notebook()
    monkeypatch.setattr(IPython, "get_ipython", staticmethod(lambda: None))
    assert not progress.in_notebook()
