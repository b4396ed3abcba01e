"""Searches with workers in places that libraries forget: limits, forks, notebooks."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import textwrap
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import cvst
from cvst import RaceGridSearchCV
from cvst.exceptions import FallbackWarning

ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}


def run(script, *arguments, timeout=900):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        env=ONE_THREAD,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


# --- a limit on memory that the system keeps ------------------------------------------

LIMITED = """
    import ctypes, json, resource, warnings
    import numpy as np
    from sklearn.linear_model import Ridge
    from cvst import RaceGridSearchCV

    # Workers inherit it: whatever asks for more is refused by the system.
    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, resource.RLIM_INFINITY))

    class Hungry(Ridge):
        def __init__(self, alpha=1.0, eats="nothing"):
            super().__init__(alpha)
            self.eats = eats

        def fit(self, X, y):
            if self.eats == "numpy":
                np.ones(2**31)
            if self.eats == "native":  # C code that does not ask whether it got any
                libc = ctypes.CDLL(None)
                libc.malloc.restype = ctypes.c_void_p
                place = libc.malloc(ctypes.c_size_t(2**34))
                ctypes.memset(place or 0, 0, 2**34)
            return super().fit(X, y)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = X[:, 0] + rng.normal(size=90)
    warnings.simplefilter("ignore")
    found = []
    for grid in ({"alpha": [0.1, 10.0]}, [{"alpha": [0.1, 10.0]},
                                          {"eats": ["numpy", "native"]}]):
        search = RaceGridSearchCV(Hungry(), grid, n_jobs=2, cv=2, max_looks=1,
                                  strategy="cross_validation", random_state=0)
        search.fit(X, y)
        results = search.cv_results_
        found.append([results["failure"].tolist(), search.best_params_,
                      results["mean_test_score"].tolist()[:2]])
    print(json.dumps(found))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is not kept elsewhere")
def test_fits_that_get_no_memory_fail_alone():
    """One is refused its array; one does not ask, and its worker dies of it."""
    plain, hungry = run(LIMITED)
    assert hungry[1:] == plain[1:]
    assert hungry[0][:2] == ["", ""]
    assert "MemoryError" in hungry[0][2]
    assert "WorkerDied" in hungry[0][3]
    assert "SIGSEGV" in hungry[0][3]


# --- a server that forks --------------------------------------------------------------

FORKED = """
    import json, os, sys
    import numpy as np
    from sklearn.tree import DecisionTreeRegressor
    from cvst import RaceGridSearchCV

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)

    def answer(n_jobs):
        grid = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5]}
        search = RaceGridSearchCV(DecisionTreeRegressor(), grid, n_jobs=n_jobs,
                                  random_state=0).fit(X, y)
        return [str(search.best_params_), repr(search.race_.mean_losses.tolist())]

    # As servers do: everything is imported, then a child answers a request.
    child = os.fork()
    if not child:
        with open(sys.argv[1], "w") as file:
            json.dump(answer(2), file)
        sys.exit()
    assert os.waitpid(child, 0)[1] == 0
    with open(sys.argv[1]) as file:
        print(json.dumps([json.load(file), answer(1)]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_children_of_a_forking_server_use_workers(tmp_path):
    of_child, of_parent = run(FORKED, tmp_path / "answer")
    assert of_child == of_parent


# --- pytest-xdist ---------------------------------------------------------------------

INSIDE = """
    import numpy as np
    from sklearn.tree import DecisionTreeRegressor
    from cvst import RaceGridSearchCV

    class Local(DecisionTreeRegressor):
        pass

    def test_search():
        X = np.random.default_rng(0).normal(size=(120, 2))
        grid = {"max_depth": [1, 3], "min_samples_leaf": [1, 5]}
        make = lambda n: RaceGridSearchCV(Local(), grid, n_jobs=n, random_state=0)
        one, two = (make(n).fit(X, X[:, 0]) for n in (1, 2))
        np.testing.assert_array_equal(one.race_.mean_losses, two.race_.mean_losses)
"""


def test_workers_inside_workers_of_pytest(tmp_path):
    pytest.importorskip("xdist")
    (tmp_path / "test_inside.py").write_text(textwrap.dedent(INSIDE), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "1",
        "-p",
        "no:cacheprovider",
    ]
    # Not as a part of the run that this test belongs to.
    environment = {k: v for k, v in ONE_THREAD.items() if "PYTEST" not in k}
    done = subprocess.run(
        [*command, str(tmp_path)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


# --- a notebook -----------------------------------------------------------------------

CELLS = (
    """
    import numpy as np
    from sklearn.base import BaseEstimator, RegressorMixin
    from cvst import RaceGridSearchCV
    from cvst.evaluation import PointwiseLoss

    class Shifted(RegressorMixin, BaseEstimator):
        def __init__(self, shift=0.0):
            self.shift = shift
        def fit(self, X, y):
            self.mean_ = np.mean(y) + self.shift
            return self
        def predict(self, X):
            return np.full(len(X), self.mean_)

    def squared(y, predicted):
        return (y - predicted) ** 2

    X = np.random.default_rng(0).normal(size=(90, 2))
    """,
    """
    search = RaceGridSearchCV(
        Shifted(), {"shift": [0.0, 1.0, 2.0]}, scoring=PointwiseLoss(squared), n_jobs=2,
        random_state=0, verbose=1,
    ).fit(X, X[:, 0])
    search
    """,
    """
    # A class that is written anew and run again in the same kernel.
    class Shifted(Shifted):
        def fit(self, X, y):
            self.mean_ = np.mean(y) + self.shift - 1.0
            return self

    again = RaceGridSearchCV(
        Shifted(), {"shift": [0.0, 1.0, 2.0]}, scoring=PointwiseLoss(squared), n_jobs=2,
        fit_timeout=60, random_state=0,
    ).fit(X, X[:, 0])
    print(search.best_params_["shift"], again.best_params_["shift"])
    """,
)


def test_a_real_notebook_with_classes_of_its_own():
    """In a kernel of Jupyter, with workers, a progress bar and the search as output."""
    pytest.importorskip("ipykernel")
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(textwrap.dedent(one)) for one in CELLS]
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbclient.NotebookClient(book, timeout=900, startup_timeout=900).execute()
    shown = [output.get("data", {}) for output in book.cells[1].outputs]
    assert any("text/html" in data for data in shown)
    # A kernel sends what is printed whenever it likes, a line in two parts as well.
    outputs = [one for one in book.cells[2].outputs if one.output_type == "stream"]
    printed = "".join(one.text for one in outputs if one.name == "stdout")
    assert printed.split() == ["0.0", "1.0"]


# --- clocks ---------------------------------------------------------------------------


def test_only_the_age_of_folders_is_read_off_the_time_of_day():
    """All else is measured by clocks that the system never sets back."""
    package = Path(cvst.__file__).parent
    readers = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and _is_time_of_day(node):
                readers.add(path.relative_to(package).as_posix())
            if isinstance(node, ast.ImportFrom) and node.module == "time":
                assert "time" not in {one.name for one in node.names}, path
    assert readers <= {"parallel/_files.py"}


def _is_time_of_day(node):
    owner = getattr(node.value, "id", getattr(node.value, "attr", ""))
    return (owner, node.attr) in {
        ("time", "time"),
        ("time", "time_ns"),
        ("datetime", "now"),
        ("datetime", "utcnow"),
        ("datetime", "today"),
        ("date", "today"),
    }


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_even_those_may_jump(jump, monkeypatch):
    """As on a virtual machine that was moved: the search ends, with a winner.

    An hour more leaves the race its own tenth of the budget, and a warning says so.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    readings = []

    def clock():
        readings.append(0.01 * len(readings) + (jump if len(readings) > 40 else 0.0))
        return readings[-1]

    monkeypatch.setattr("cvst.search._base.BaseRaceSearch._clock", staticmethod(clock))
    grid = {"alpha": np.logspace(-3, 3, 8)}
    search = RaceGridSearchCV(Ridge(), grid, time_budget=1000.0, random_state=0)
    late = pytest.warns(FallbackWarning, match="in turn") if jump > 0 else nullcontext()
    with late:
        search.fit(X, y)
    assert len(readings) > 41
    assert search.best_params_["alpha"] in grid["alpha"]
    if jump < 0:
        plain = RaceGridSearchCV(Ridge(), grid, random_state=0).fit(X, y)
        assert search.best_params_ == plain.best_params_
