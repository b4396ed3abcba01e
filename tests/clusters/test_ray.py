"""Races on a real Ray cluster of two processes, one of which dies."""

from __future__ import annotations

import logging
import sys

import joblib
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

ray = pytest.importorskip("ray")

# Ray warns of its own affairs, in any thread.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(sys.platform == "win32", reason="workers are killed by signals"),
]


@pytest.fixture(scope="module")
def _on_ray():
    from ray.util.joblib import register_ray

    quiet = {"include_dashboard": False, "log_to_driver": False}
    ray.init(num_cpus=2, logging_level=logging.ERROR, **quiet)
    register_ray()
    with joblib.parallel_config(backend="ray"):
        yield
    ray.shutdown()


@pytest.mark.usefixtures("_on_ray")
def test_same_race_as_in_this_process(rows, race_of, serial, assert_same, monkeypatch):
    """And the rows are put into the object store once per race."""
    put, sizes = ray.put, []

    def counted(value):
        sizes.append(len(ray.cloudpickle.dumps(value)))
        return put(value)

    monkeypatch.setattr(ray, "put", counted)
    search = race_of(DecisionTreeClassifier()).fit(*rows)
    assert_same(search, serial)
    # One for the rows; looks, and those of the estimate, send numbers of rows at most.
    assert len(sizes) > search.race_.n_looks
    assert sum(size > rows[0].nbytes / 2 for size in sizes) == 1


@pytest.mark.usefixtures("_on_ray")
def test_one_group_is_split_by_folds(rows, race_of, assert_same):
    """One group of configurations; idle workers do the folds to come."""
    forest, grid = RandomForestClassifier(max_depth=3), {"n_estimators": [2, 4, 8]}
    with joblib.parallel_config(backend="threading", n_jobs=1):
        alone = race_of(forest, grid).fit(*rows)
    assert_same(race_of(forest, grid).fit(*rows), alone)


@pytest.mark.usefixtures("_on_ray")
def test_a_worker_killed_in_mid_race(
    rows, race_of, serial, assert_same, trees, tmp_path
):
    """Its process ends by SIGKILL during a fit; the group runs elsewhere."""
    flag = tmp_path / "killed"
    search = race_of(trees["mortal"](flag=str(flag))).fit(*rows)
    assert flag.exists()
    assert_same(search, serial)


@pytest.mark.usefixtures("_on_ray")
def test_errors_of_fits_come_back(rows, race_of):
    search = race_of(DecisionTreeClassifier(), {"max_depth": [-1, -2]})
    with pytest.raises(ValueError, match="max_depth"):
        search.fit(*rows)
