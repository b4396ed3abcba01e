"""The same result, to the last bit, however a search is run.

Whatever the workers are, whatever Python hashes to, with and without a compiler, broken
off or not: all evaluators, searches and strategies in one matrix.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import joblib
import pytest
from sklearn.svm import SVC, SVR

from cvst.evaluation import _dispatch, batch_evaluator_for
from cvst.evaluation.svm import _fits as _svm_fits
from cvst.search.checkpoint import _pace
from cvst.search.checkpoint._recorder import Recorder

pytestmark = pytest.mark.xdist_group("same result")  # one quiet run for all

SCRIPT = Path(__file__).parent / "same_result.py"
sys.path.insert(0, str(SCRIPT.parent))

import same_result  # noqa: E402 - after the path
from same_result import GRIDS, SEARCHES  # noqa: E402

# What another process is told: its environment, and the number of workers.
OTHERS = {
    "two processes, another hash seed": ({"PYTHONHASHSEED": "1"}, 2),
    "numba is not installed, a third hash seed": ({"PYTHONHASHSEED": "2"}, 1),
}

# Found before the real one.
ABSENT = """raise ModuleNotFoundError("No module named 'numba'", name="numba")"""


@cache
def quiet():
    """Return the digests of searches with one worker, in this process."""
    return same_result.digests()


@pytest.mark.parametrize("how", OTHERS)
def test_other_processes_find_the_same(how, tmp_path):
    environment, n_jobs = OTHERS[how]
    if "numba" in how:
        (tmp_path / "numba.py").write_text(ABSENT, encoding="utf-8")
        paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
        environment = environment | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(n_jobs)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=900,
    )
    assert json.loads(done.stdout) == quiet()


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_find_the_same(n_jobs):
    with joblib.parallel_config(backend="threading"):
        assert same_result.digests(n_jobs=n_jobs) == quiet()


@pytest.mark.parametrize("compiled", [False, True], ids=["libsvm", "compiled"])
def test_either_solver_of_support_vectors_finds_the_same(compiled, monkeypatch):
    """Races as short as these would all be left to libsvm, with and without numba."""
    if compiled and not _svm_fits.has_compiled_solver():
        pytest.skip("numba is not installed, or switched off")
    n_fits, fit = [], _svm_fits.libsvm_fit

    def counted(*args, **options):
        n_fits.append(1)
        return fit(*args, **options)

    monkeypatch.setattr(_svm_fits, "libsvm_fit", counted)
    seconds = _svm_fits.COMPILE_SECONDS if compiled else float("-inf")
    monkeypatch.setattr(_svm_fits._break_even, "seconds", seconds)
    names = [name for name in SEARCHES if isinstance(machine_of(name), SVC | SVR)]
    assert len(names) == 3
    for name in names:
        assert same_result.digest(*same_result.fitted(name)) == quiet()[name]
    assert bool(n_fits) is not compiled


def machine_of(name):
    return SEARCHES[name]().estimator


class Break:
    """Interrupts a race after the given number of groups."""

    def __init__(self, n_groups, keep):
        self.left = n_groups
        self._keep = keep

    def __call__(self, recorder, *told):
        self._keep(recorder, *told)
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("name", SEARCHES)
def test_broken_off_searches_end_the_same(name, tmp_path, monkeypatch):
    """Broken off within the second look, they go on with two threads."""
    monkeypatch.setattr(_pace, "SHARE", float("inf"))
    with monkeypatch.context() as patched:
        broken = Break(3, Recorder.keep)
        patched.setattr(Recorder, "keep", lambda *args: broken(*args))
        with pytest.raises(KeyboardInterrupt):
            same_result.fitted(name, checkpoint=tmp_path / "race")
    with joblib.parallel_config(backend="threading"):
        search, X = same_result.fitted(name, checkpoint=tmp_path / "race", n_jobs=2)
    assert same_result.digest(search, X) == quiet()[name]


def test_a_digest_sees_one_bit():
    """Another seed or another last bit is another digest."""
    search, X = same_result.fitted("ridge")
    before = same_result.digest(search, X)
    assert before == quiet()["ridge"]
    search.race_.observations[0].mean_losses.flags.writeable = True
    search.race_.observations[0].mean_losses[0] *= 1 + 1e-15
    assert same_result.digest(search, X) != before


LIBRARIES = {"sklearn", "cvst", "lightgbm", "xgboost", "catboost"}


def test_every_evaluator_takes_part():
    """A new family of estimators must join the matrix."""
    classes = {
        kind
        for kind in batch_evaluator_for.registry
        # Other tests register estimators of their own.
        if kind.__module__.split(".")[0] in LIBRARIES
    }
    kinds = {type(_evaluator(kind)) for kind in classes}
    kinds |= {type(one) for one in _dispatch._BY_NAME.values()}
    present = {type(batch_evaluator_for(model)) for model, _, _ in GRIDS.values()}
    missing = {kind.__name__ for kind in kinds - present}
    # Fits on Dask's workers are compared with plain ones in tests/clusters.
    assert missing <= {"CatBoostRounds", "OnDask"}


def _evaluator(kind):
    same = [model for model, _, _ in GRIDS.values() if type(model) is kind]
    return batch_evaluator_for(same[0] if same else kind.__new__(kind))
