"""The kernel kills for memory, really: a worker is replaced, a search can go on.

Searches run in a control group with a limit on memory, and a fit takes more.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from cvst import RaceGridSearchCV, load_checkpoint

sys.path.insert(0, str(Path(__file__).parent))

from memory_group import NoGroupError, memory_group

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="control groups are Linux's"
)

LIMIT = 900 * 2**20


@pytest.fixture
def group():
    try:
        with memory_group(LIMIT) as made:
            yield made
    except NoGroupError as error:
        pytest.skip(str(error))


# What the search is, in a process of its own: argument 1 is the entrance of the group
# or nothing, 2 are options of the search, 3 is what the hungry do, 4 is how many bytes
# the process itself holds.
SCRIPT = """
    import json, os, sys, warnings
    from pathlib import Path
    if sys.argv[1]:
        Path(sys.argv[1]).write_text(str(os.getpid()))
    import numpy as np
    from sklearn.tree import DecisionTreeRegressor
    from cvst import RaceGridSearchCV
    from cvst.search.checkpoint import _pace

    mood = sys.argv[3]
    # On a quick machine the race is over before a checkpoint would be begun.
    _pace.SHARE = np.inf

    class Hungry(DecisionTreeRegressor):
        def __init__(self, max_depth=None, eats=0):
            super().__init__(max_depth=max_depth, random_state=0)
            self.eats = eats

        def fit(self, X, y):
            if self.eats and len(y) >= self.eats:
                if mood == "raise":
                    raise MemoryError
                if mood == "eat":
                    kept = []
                    while True:  # pages that are written to count
                        kept.append(np.ones(2**20))
            return super().fit(X, y)

    held = np.ones(int(sys.argv[4]) // 8)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=600)
    grid = {"max_depth": [1, 2, 4, 6, 8], "eats": [0]}
    options = json.loads(sys.argv[2])
    hungry = {"max_depth": [5], "eats": [options.pop("eats", 1)]}
    warnings.simplefilter("ignore")
    search = RaceGridSearchCV(Hungry(), [grid, hungry], random_state=0, **options)
    search.fit(X, y)
    results = search.cv_results_
    print(json.dumps({
        "failures": results["failure"].tolist(),
        "best": search.best_params_,
        "scores": [repr(one) for one in results["mean_test_score"].tolist()[:-1]],
        "losses": [repr(one) for one in search.race_.mean_losses[:-1].tolist()],
        "looks": search.n_looks_,
        "predictions": search.predict(X[:5]).tolist(),
    }))
"""


def run(group, options, mood, holds=8):
    """Run the search; return how its process ended and what it found."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            textwrap.dedent(SCRIPT),
            "" if group is None else str(group.entrance),
            json.dumps(options),
            mood,
            str(holds),
        ],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    found = done.stdout.strip().splitlines()
    if done.returncode:
        return done.returncode, done.stderr
    return 0, json.loads(found[-1])


@cache
def without_memory():
    """Return what a search finds that is told of the lack of memory."""
    code, failed = run(None, {}, "raise")
    assert code == 0, failed
    assert "MemoryError" in failed.pop("failures")[-1]
    return failed


@pytest.mark.parametrize(
    ("options", "megabytes", "most"),
    # A third time where the second worker had done something else before.
    [({"n_jobs": 2}, 300, 3), ({"fit_timeout": 900.0}, 360, 2)],
)
def test_a_worker_that_the_kernel_kills_is_a_failed_configuration(
    group, options, megabytes, most
):
    """Twice killed, then a failure; all else is as if the fit had failed by itself.

    The search holds more memory than any worker when the limit is reached.
    """
    code, killed = run(group, options, "eat", holds=megabytes * 2**20)
    assert code == 0, killed
    assert 2 <= group.n_killed <= most
    *good, reason = killed.pop("failures")
    assert good == [""] * 5
    assert "WorkerDied" in reason
    assert "SIGKILL" in reason or "signal 9" in reason
    assert "twice" in reason
    assert killed == without_memory()


def test_a_search_that_the_kernel_kills_goes_on_from_its_checkpoint(group, tmp_path):
    """Without workers it dies of it; what is on disk is enough for the same end."""
    options = {"n_jobs": 1, "eats": 150, "strategy": "cvst"}
    kept = {**options, "checkpoint": str(tmp_path / "race")}
    code, _ = run(group, kept, "eat")
    assert code == -signal.SIGKILL
    assert group.n_killed == 1
    seen = load_checkpoint(tmp_path / "race").n_looks_
    assert seen >= 1
    code, resumed = run(None, kept, "no")
    assert code == 0, resumed
    code, quiet = run(None, options, "no")
    assert code == 0, quiet
    assert resumed == quiet
    assert quiet["looks"] > seen


@pytest.mark.parametrize("options", [{"n_jobs": 2}, {"fit_timeout": 900.0}], ids=str)
def test_workers_are_likelier_victims_than_the_search(options):
    """Where no group can be made this is all that can be seen of it."""
    place = Path("/proc/self/oom_score_adj")
    own = int(place.read_text())

    class Asking(DecisionTreeRegressor):
        def fit(self, X, y):
            told = int(place.read_text())
            assert told == min(own + 300, 1000), f"{told} beside {own}"
            return super().fit(X, y)

    X = np.random.default_rng(0).normal(size=(60, 2))
    grid = {"max_depth": [1, 2]}
    # The last fit would be one of the search itself.
    search = RaceGridSearchCV(Asking(), grid, refit=False, **options)
    search.fit(X, X[:, 0])
    assert search.cv_results_["failure"].tolist() == ["", ""]
    assert int(place.read_text()) == own
