"""Races on a real Dask cluster: processes on loopback, some of which die."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from cvst.exceptions import InvalidInputError
from cvst.parallel import Cluster

distributed = pytest.importorskip("distributed")

# Dask and what it stands on warn of their own affairs, in any thread.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.xdist_group("dask"),  # one cluster for all
    pytest.mark.skipif(sys.platform == "win32", reason="workers are killed by signals"),
]


def started(n_workers):
    """Start a cluster of single-threaded processes."""
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )


class TwoWorkers:
    """A cluster of two, and a new one if Dask does not bring back who was killed."""

    def __init__(self):
        self.open = contextlib.ExitStack()
        self.client = None

    def connected(self):
        if self.client is not None:
            try:
                self.client.wait_for_workers(2, timeout=120)
            except TimeoutError:
                self.open.close()
            else:
                return self.client
        cluster = self.open.enter_context(started(2))
        self.client = self.open.enter_context(distributed.Client(cluster))
        self.client.wait_for_workers(2, timeout=600)
        return self.client


@pytest.fixture(scope="module")
def two_workers():
    """Start no cluster before it is asked for."""
    workers = TwoWorkers()
    with workers.open:
        yield workers


@pytest.fixture
def on_dask(two_workers):
    """Make the cluster joblib's backend, with two workers that are up."""
    client = two_workers.connected()
    with joblib.parallel_config(backend="dask"):
        yield client


@pytest.mark.usefixtures("on_dask")
def test_same_race_as_in_this_process(rows, race_of, serial, assert_same):
    assert_same(race_of(DecisionTreeClassifier()).fit(*rows), serial)


@pytest.mark.usefixtures("on_dask")
@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (KNeighborsClassifier(), {"n_neighbors": list(range(1, 30, 2))}),
        (RandomForestClassifier(max_depth=3), {"n_estimators": [2, 4, 8]}),
    ],
)
def test_one_group_is_split_by_folds(rows, race_of, assert_same, model, grid):
    """One group of configurations; idle workers do the folds to come."""
    with joblib.parallel_config(backend="threading", n_jobs=1):
        alone = race_of(model, grid).fit(*rows)
    assert_same(race_of(model, grid).fit(*rows), alone)


@pytest.mark.usefixtures("on_dask")
def test_a_worker_killed_in_mid_race(
    rows, race_of, serial, assert_same, trees, tmp_path
):
    """Its process ends by SIGKILL during a fit; the group runs elsewhere."""
    flag = tmp_path / "killed"
    search = race_of(trees["mortal"](flag=str(flag))).fit(*rows)
    assert flag.exists()
    assert_same(search, serial)


def test_all_workers_killed_in_mid_race(
    on_dask, rows, race_of, serial, assert_same, monkeypatch, caplog
):
    """The scattered rows are gone with them, and are sent again."""
    victims = [list(on_dask.run(os.getpid).values())]
    run = Cluster.run

    def deadly(self, *args, **options):
        for result in run(self, *args, **options):
            for pid in victims.pop() if victims else ():
                os.kill(pid, signal.SIGKILL)
            yield result

    monkeypatch.setattr(Cluster, "run", deadly)
    assert_same(race_of(DecisionTreeClassifier()).fit(*rows), serial)
    assert not victims
    assert "the rows are sent again" in caplog.text


@pytest.mark.usefixtures("on_dask")
def test_errors_of_fits_come_back(rows, race_of):
    search = race_of(DecisionTreeClassifier(), {"max_depth": [-1, -2]})
    with pytest.raises(ValueError, match="max_depth"):
        search.fit(*rows)


@pytest.mark.usefixtures("on_dask")
def test_options_that_need_this_machine_are_refused(rows, race_of):
    search = race_of(DecisionTreeClassifier(), fit_timeout=5)
    with pytest.raises(InvalidInputError, match="fit_timeout=5 needs processes of"):
        search.fit(*rows)


def test_bytes_on_the_wire(on_dask, race_of, monkeypatch):
    """The rows leave this process once for the scheduler and once for each worker.

    Client and scheduler are both in this process, so all but the traffic between
    workers is counted. With the rows in each task it would be 20 times as much.
    """
    sent = []
    write = distributed.comm.tcp.TCP.write

    async def counted(self, *args, **kwargs):
        n_bytes = await write(self, *args, **kwargs)
        sent.append(n_bytes)
        return n_bytes

    monkeypatch.setattr(distributed.comm.tcp.TCP, "write", counted)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 100))
    y = X[:, 0] + rng.normal(size=8000) > 0
    search = race_of(DecisionTreeClassifier(max_features=2), {"max_depth": [1, 2, 3]})
    search.fit(X, y)
    n_looks = search.race_.n_looks
    # Indices of the rows of a look, and losses that come back through the scheduler.
    per_look = 16 * len(X) * (1 + len(on_dask.nthreads()))
    bound = X.nbytes * (1 + len(on_dask.nthreads())) + n_looks * per_look
    assert X.nbytes < sum(sent) < 1.2 * bound + 1_000_000


def test_a_search_inside_a_worker(on_dask, rows, race_of, serial, assert_same):
    """It gives its place to the fits that it asks for, so nothing waits for ever."""
    distributed_fits = [
        on_dask.submit(fit_inside, race_of(DecisionTreeClassifier()), rows, pure=False)
        for _ in range(2)
    ]
    for future in distributed_fits:
        results, best = future.result(timeout=900)
        assert best == serial.best_index_
        np.testing.assert_array_equal(
            results["mean_test_score"], serial.cv_results_["mean_test_score"]
        )


def fit_inside(search, rows):
    """Fit in a worker, with the cluster that it belongs to."""
    with joblib.parallel_config(backend="dask"):
        search.fit(*rows)
    return search.cv_results_, search.best_index_


def test_a_worker_that_joins_late_gets_work(rows, race_of, trees, tmp_path):
    """Fits wait for a second process, which starts after the first fit began."""
    folder = tmp_path / "begun"
    folder.mkdir()
    grid = {"max_depth": [1, 2, 3, 4]}
    with started(1) as cluster, distributed.Client(cluster):
        joined = []

        def join():
            while not list(folder.iterdir()):
                time.sleep(0.01)
            cluster.scale(2)
            joined.append(True)

        thread = threading.Thread(target=join)
        thread.start()
        with joblib.parallel_config(backend="dask"):
            race_of(trees["patient"](flag=str(folder)), grid).fit(*rows)
        thread.join()
    assert joined
    assert len(list(folder.iterdir())) >= 2
