"""Looks that overlap: each group is kept as it finishes, and not done again."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import uniform
from sklearn.base import BaseEstimator, RegressorMixin

from cvst import RaceSearchCV, load_checkpoint
from cvst.race.machinery import ProposeAndConfirm
from cvst.search.checkpoint import _journal, _pace, _recorder
from cvst.search.checkpoint._records import Reading, read_records
from cvst.search.checkpoint._story import Story

pytestmark = pytest.mark.xdist_group("beside")  # broken off once

# Configurations of a look, and fits after which the search may be broken off: by the
# first of these numbers it is in the middle of looks that overlap, on most machines.
TOGETHER, N_FITS = 6, range(17, 41, 3)


class Shifted(RegressorMixin, BaseEstimator):
    """Predicts the mean plus a shift, and writes its fits to a file.

    After as many as another file says it presses Ctrl-C, once.
    """

    def __init__(self, shift=0.0, log=None):
        self.shift = shift
        self.log = log

    def fit(self, X, y):
        with Path(self.log).open("a") as log:
            log.write(f"{self.shift!r} {float(np.sum(y))!r}\n")
        time.sleep(0.02)
        pressed = Path(f"{self.log}.pressed")
        n_fits = int(Path(f"{self.log}.most").read_text())
        if len(fits(self.log)) >= n_fits and not pressed.exists():
            pressed.touch()
            raise KeyboardInterrupt
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_ + self.shift)


def fits(log):
    """Return the fits so far: shift, and the sum of the targets for the rows."""
    return [tuple(line.split()) for line in Path(log).read_text().splitlines()]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 2)), rng.normal(size=200)


@pytest.fixture(scope="module", params=["threads", "processes"])
def workers(request):
    """Return workers: threads, which tell of each group, or processes, which cannot."""
    # It counts from the moment that it is made.
    threads = request.param == "threads"
    return lambda: parallel_config("threading") if threads else nullcontext()


@pytest.fixture(scope="module", autouse=True)
def _looks_of_several():
    """Have several groups in each look, as where proposing takes longer than fits."""
    several = lambda self, state, rung=None: TOGETHER  # noqa: E731
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProposeAndConfirm, "_n_together", several)
        # On a busy machine saving seems slow, and would be put off.
        patch.setattr(_pace, "SHARE", float("inf"))
        yield


def search(log, path, **options):
    options = {"time_budget": 600.0, "n_iter": 31, "n_jobs": 2, **options}
    return RaceSearchCV(
        Shifted(log=str(log)),
        {"shift": uniform(-1, 2)},
        random_state=0,
        checkpoint=path,
        n_folds=2,
        **options,
    )


def story_of(path):
    return Story.of(path, read_records(path, Reading()), {})


@pytest.fixture(scope="module")
def left(data, workers, tmp_path_factory):
    """Break a search off while looks overlap; return its folder and what it left."""
    for n_fits in N_FITS:
        folder = tmp_path_factory.mktemp("broken")
        (folder / "log.most").write_text(f"{n_fits}")
        with workers(), pytest.raises(KeyboardInterrupt):
            search(folder / "log", folder / "race").fit(*data)
        done, total = load_checkpoint(folder / "race").n_under_way
        if 0 < done < total:
            return folder, {one.name: one.read_bytes() for one in folder.iterdir()}
    raise AssertionError(f"no look was under way after any of {list(N_FITS)} fits")


@pytest.fixture
def broken(left, workers):
    """Return the log and the file of that search, as it left them."""
    folder, files = left
    for one in folder.iterdir():
        one.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with workers():
        yield folder / "log", folder / "race"


@pytest.mark.parametrize("n_jobs", [2, 1])
def test_finished_groups_of_looks_that_overlap_are_not_done_again(data, broken, n_jobs):
    """Whether or not looks overlap when the race goes on."""
    log, path = broken
    story = story_of(path)
    shifts = [0.0, *(one["shift"] for batch in story.batches for one in batch)]
    known = {
        int(one["configuration"]): one
        for group in story.beside.values()
        for one in group.outcomes
    }
    # At least one look was broken off between two of its groups.
    assert len(known) % TOGETHER
    before = fits(log)

    found = search(log, path, n_jobs=n_jobs).fit(*data)

    names = {repr(shifts[number]) for number in known}
    done = {(shift, rows) for shift, rows in before if shift in names}
    assert len(done) == len(known)
    assert done.isdisjoint(fits(log)[len(before) :])
    state = found.race_
    assert [one["shift"] for one in state.configurations[: len(shifts)]] == shifts
    for number, one in known.items():
        (seen,) = [
            seen
            for seen in state.observations
            if number in seen.look.configurations and not seen.look.fold
        ]
        (place,) = np.flatnonzero(seen.look.configurations == number)
        assert seen.mean_losses[place] == np.mean(one["losses"])


def test_a_reader_sees_how_far_looks_are_that_overlap(broken):
    done, total = load_checkpoint(broken[1]).n_under_way
    assert 0 < done < total
    assert total % TOGETHER == 0


def test_what_is_known_of_a_look_is_forgotten_once_it_is_over(data, broken):
    log, path = broken
    search(log, path).fit(*data)
    assert story_of(path).beside == {}


def test_groups_of_looks_under_way_stay_when_the_file_is_tidied(
    data, broken, monkeypatch
):
    """Looks that are over leave theirs behind; those of others may be needed."""
    log, path = broken
    # As often as it can be: when waste outweighs the rest depends on the machine.
    tidy_at_once = lambda self, waste: waste > 0  # noqa: E731
    monkeypatch.setattr(_journal.Journal, "_is_worth_it", tidy_at_once)
    tidied = []
    tidy = _journal.Journal.tidy

    def checked(self, tickets=()):
        before = story_of(path)
        size = path.stat().st_size
        tidy(self, tickets)
        if path.stat().st_size < size:
            after = story_of(path)
            assert after.beside.keys() == before.beside.keys()
            tidied.append(len(after.beside))

    monkeypatch.setattr(_recorder.Journal, "tidy", checked)
    search(log, path).fit(*data)
    assert max(tidied) > 0
