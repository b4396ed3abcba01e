"""A search is a guest in the process of its user: it leaves nothing behind."""

from __future__ import annotations

import gc
import json
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from blas_pools import blas_threads
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_info

from cvst import RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst.parallel import _files, filtered_warnings, on_file, one_blas_thread

pytestmark = pytest.mark.usefixtures("two_blas_threads")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=200)


def process_state():
    """Return what belongs to the whole process."""
    random = np.random.get_state()  # noqa: NPY002 - the global one is the point
    return {
        "filters": list(warnings.filters),
        "errors of NumPy": np.geterr(),
        "random": (random[1].tobytes(), random[2]),
        "environment": dict(os.environ),
        "signals": [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)],
        "threads of BLAS": [
            (pool["filepath"], pool["num_threads"]) for pool in threadpool_info()
        ],
        "logger": (
            logging.getLogger("cvst").level,
            list(logging.getLogger("cvst").handlers),
        ),
        "path": list(sys.path),
        "folder": Path.cwd(),
        "excepthook": (sys.excepthook, threading.excepthook),
        "switch interval": sys.getswitchinterval(),
        "recursion limit": sys.getrecursionlimit(),
    }


SEARCHES = {
    "grid": lambda: RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, random_state=0),
    "trees": lambda: RaceGridSearchCV(
        DecisionTreeRegressor(),
        {"max_depth": [1, 2, 3]},
        strategy="cvst",
        random_state=0,
    ),
    "random": lambda: RaceRandomSearchCV(
        Ridge(), {"alpha": [0.1, 1.0, 2.0]}, n_iter=2, random_state=0, verbose=2
    ),
    "proposals": lambda: RaceSearchCV(
        Ridge(), {"alpha": [0.1, 1.0, 2.0]}, n_iter=3, random_state=0
    ),
    "budget": lambda: RaceGridSearchCV(
        Ridge(), {"alpha": [0.1, 1.0]}, time_budget=60.0, random_state=0
    ),
    "refused": lambda: RaceGridSearchCV(Ridge(), {"beta": [1]}, random_state=0),
    "failed": lambda: RaceGridSearchCV(Ridge(), {"alpha": [-1, -2]}, random_state=0),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_nothing_is_left_behind_in_the_process(name, capsys):
    process_state()  # loads what looking at it loads
    before, rows = process_state(), (X.tobytes(), Y.tobytes())
    try:
        SEARCHES[name]().fit(X, Y)
    except ValueError:
        assert name in ("refused", "failed")
    assert process_state() == before
    assert (X.tobytes(), Y.tobytes()) == rows


def open_files():
    """Return how many files the process has open."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def child_processes():
    """Return the numbers of the processes that this one has started."""
    found = set()
    for one in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = one.read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                found.add(one.parent.name)
    return found


def named_semaphores():
    """Return those that joblib has made for this process."""
    return {one.name for one in Path("/dev/shm").glob(f"sem.loky-{os.getpid()}-*")}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc here")
def test_many_fits_leak_no_threads_files_maps_processes_or_semaphores(
    tmp_path, monkeypatch
):
    """Two hundred, some with threads or processes as workers or a large file."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rows = np.zeros((500, 300))
    for name in ("grid", "trees"):  # by threads, by processes
        SEARCHES[name]().set_params(n_jobs=2).fit(X, Y)
    threads, files = threading.active_count(), open_files()
    children, semaphores = child_processes(), named_semaphores()
    for number in range(200):
        n_jobs = 2 if number % 20 == 0 else None
        SEARCHES["grid"]().set_params(n_jobs=n_jobs, cv=2, refit=False).fit(
            X[:30], Y[:30]
        )
        with on_file(rows) as stored:
            assert stored.value is rows
        if number % 50 == 0:
            SEARCHES["trees"]().set_params(n_jobs=2).fit(X, Y)
    assert threading.active_count() <= threads + 2  # joblib keeps its pool for a while
    assert open_files() <= files + 5
    # joblib keeps its two workers, or starts others in their place.
    assert len(child_processes()) <= len(children)
    assert semaphores
    assert len(named_semaphores()) <= len(semaphores)
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    assert str(tmp_path) not in maps
    assert not list(tmp_path.iterdir())


# --- folders that killed searches leave -----------------------------------------------

HOLD = """
import sys, time, tempfile
tempfile.tempdir = sys.argv[1]
from cvst.parallel import _files, on_file
_files._reaches_held_files = lambda: False  # as where files need a name
with on_file(list(range(9))):
    print("holding", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files in use stay there")
def test_copies_of_killed_searches_are_removed_by_the_next(tmp_path, monkeypatch):
    """Those of living ones are not, nor what only looks like it."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "holding\n"
    (left,) = tmp_path.iterdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fresh = tmp_path / f"{_files.PREFIX}fresh"
    fresh.mkdir()
    target = tmp_path / "precious"
    target.mkdir()
    link = tmp_path / f"{_files.PREFIX}link"
    link.symlink_to(target)
    with on_file(1):
        assert left.exists()
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with on_file(1):
        assert not left.exists()
    assert fresh.exists()
    assert target.exists()
    assert link.is_symlink()
    os.utime(fresh, (0, 0))
    with on_file(1):
        assert not fresh.exists()


KILLED_WITH_WORKERS = """
import json, os, signal, sys, tempfile, time
from pathlib import Path
import numpy as np
from sklearn.tree import DecisionTreeRegressor
from cvst import RaceGridSearchCV
tempfile.tempdir = sys.argv[1]
owner, folder = os.getpid(), sys.argv[1]

class Killer(DecisionTreeRegressor):
    def fit(self, X, y):
        if os.getpid() != owner:
            (Path(folder) / f"worker {os.getpid()}").touch()
            maps = Path("/proc/self/maps").read_text()
            assert folder in maps, "rows are not mapped"
            os.kill(owner, signal.SIGKILL)
            time.sleep(600)
        return super().fit(X, y)

X = np.random.default_rng(0).normal(size=(50_000, 3))
options = json.loads(sys.argv[2])
search = RaceGridSearchCV(Killer(), {"max_depth": [1, 2, 3]}, random_state=0, **options)
search.fit(X, X[:, 0])
"""


@pytest.mark.skipif(not _files._reaches_held_files(), reason="files need a name here")
@pytest.mark.parametrize("options", [{"n_jobs": 2}, {"fit_timeout": 900}], ids=str)
def test_a_killed_search_leaves_no_copies_of_the_rows(options, tmp_path):
    """Its workers map files without a name, and end soon after it, in mid-fit."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            KILLED_WITH_WORKERS,
            str(tmp_path),
            json.dumps(options),
        ],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
        timeout=600,
    )
    assert done.returncode == -signal.SIGKILL
    names = [one.name for one in tmp_path.iterdir()]
    assert not [name for name in names if name.startswith(_files.PREFIX)]
    workers = [Path("/proc") / name.removeprefix("worker ") for name in names]
    assert workers
    for _ in range(3000):
        # Nobody may be there to ask how an orphan has ended.
        if not any("Z" not in state_of(worker) for worker in workers):
            return
        time.sleep(0.1)
    pytest.fail(f"{workers} are still there")


def state_of(process):
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


# --- two at a time --------------------------------------------------------------------


def test_limits_and_filters_by_turns_are_put_back():
    """First in, first out: the order in which saved values mislead."""
    before, filters = blas_threads(), list(warnings.filters)
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads().values()) <= {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before

    inside = threading.Event()

    def other():
        inside.wait()
        with filtered_warnings():
            warnings.simplefilter("error")

    thread = threading.Thread(target=other)
    thread.start()
    with filtered_warnings():
        warnings.simplefilter("ignore")
        inside.set()
        time.sleep(0.1)  # the other one would enter now
    thread.join()
    assert list(warnings.filters) == filters


INSIDE = {"first": threading.Event(), "second": threading.Event()}


class Turns(DecisionTreeRegressor):
    """Changes filters in its first fit, as checks of scikit-learn do in each."""

    outside = threading.Event()

    def __init__(self, who="first", max_depth=None):
        super().__init__(max_depth=max_depth)
        self.who = who

    def fit(self, X, y):
        """Fit; the second changes filters before the first puts them back."""
        if not INSIDE[self.who].is_set():
            if self.who == "second":
                assert INSIDE["first"].wait(60)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnicodeWarning)
                INSIDE[self.who].set()
                if self.who == "first":
                    assert INSIDE["second"].wait(60)
                else:
                    assert self.outside.wait(60)
            self.outside.set()
        return super().fit(X, y)


def test_learners_that_change_filters_by_turns_leave_them_alone():
    """The second one puts back what the first had set, unless the search does more."""
    filters = list(warnings.filters)
    searches = [
        RaceGridSearchCV(Turns(who), {"max_depth": [1, 2]}, cv=2, random_state=0)
        for who in ("first", "second")
    ]
    threads = [threading.Thread(target=one.fit, args=(X, Y)) for one in searches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Turns.outside.is_set()
    assert all(hasattr(one, "best_index_") for one in searches)
    assert list(warnings.filters) == filters


# --- daemons --------------------------------------------------------------------------


def races_in_a_daemon(queue):
    """Daemons may have no children; joblib then works with threads or alone."""
    searches = [
        RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2, n_jobs=2),
        # These would be fitted in processes, of joblib and of our own.
        RaceGridSearchCV(
            DecisionTreeRegressor(), {"max_depth": [1, 4]}, cv=2, n_jobs=2
        ),
        RaceGridSearchCV(
            DecisionTreeRegressor(), {"max_depth": [1, 4]}, cv=2, fit_timeout=60
        ),
    ]
    try:
        warnings.simplefilter("ignore")
        fitted = [one.set_params(random_state=0).fit(X, Y) for one in searches]
        queue.put([repr(one.race_.mean_losses.tolist()) for one in fitted])
    except BaseException as error:
        queue.put(repr(error))


@pytest.mark.skipif(sys.platform == "win32", reason="daemons are forked here")
def test_workers_are_asked_for_inside_a_daemon():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    daemon = context.Process(target=races_in_a_daemon, args=(queue,), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        daemon.start()
    found = queue.get(timeout=900)
    daemon.join()
    plain = [
        RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2, random_state=0),
        RaceGridSearchCV(
            DecisionTreeRegressor(), {"max_depth": [1, 4]}, cv=2, random_state=0
        ),
    ]
    losses = [one.fit(X, Y).race_.mean_losses for one in plain]
    linear, trees = [repr(one.tolist()) for one in losses]
    assert found == [linear, trees, trees]
