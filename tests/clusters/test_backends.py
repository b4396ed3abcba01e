"""Races with other backends of joblib: the same race, wherever it runs."""

from __future__ import annotations

import pickle

import joblib
import pytest
from joblib.parallel import ParallelBackendBase
from sklearn.tree import DecisionTreeClassifier

from cvst import parallel
from cvst.parallel._pickling import cloudpickle


class Plain(ParallelBackendBase):
    """A backend that can do the least: no results before the last, no shared rows."""

    supports_retrieve_callback = False
    default_n_jobs = 2
    sent = 0

    def effective_n_jobs(self, n_jobs):
        return 2

    def submit(self, func, callback=None):
        content = cloudpickle.dumps(func)
        type(self).sent += 1
        result = pickle.loads(content)()
        if callback is not None:
            callback(result)
        return Done(result)

    apply_async = submit

    def retrieve_result(self, out, timeout=None):
        return out.get(timeout)


class Done:
    """A result that is there."""

    def __init__(self, value):
        self._value = value

    def get(self, timeout=None):
        return self._value


@pytest.fixture
def _plain():
    joblib.register_parallel_backend("plain", Plain)
    yield
    del joblib.parallel.BACKENDS["plain"]


@pytest.mark.parametrize("backend", ["threading", "multiprocessing", "loky"])
def test_backends_of_joblib_give_the_serial_race(
    backend, rows, race_of, serial, assert_same
):
    with joblib.parallel_config(backend=backend):
        assert_same(race_of(DecisionTreeClassifier(), n_jobs=2).fit(*rows), serial)


@pytest.mark.usefixtures("_plain")
def test_a_backend_of_which_nothing_is_known(rows, race_of, serial, assert_same):
    """It gets the rows with the tasks, and may return all results at the end."""
    with joblib.parallel_config(backend="plain"):
        assert parallel.whereabouts(None, "processes") == "elsewhere"
        assert_same(race_of(DecisionTreeClassifier()).fit(*rows), serial)
    assert Plain.sent > 5


def test_clusters_are_known_by_the_names_of_their_backends(monkeypatch):
    """Without either package: the classes are told by name."""

    class RayBackend(Plain):
        pass

    monkeypatch.setitem(joblib.parallel.BACKENDS, "ray", RayBackend)
    assert not parallel.on_cluster()
    with joblib.parallel_config(backend="ray"):
        assert parallel.on_cluster()
        assert parallel.whereabouts(None, "threads") == "cluster"
        assert parallel.whereabouts(1, "threads") == "here"
        assert parallel.works_here(None)
