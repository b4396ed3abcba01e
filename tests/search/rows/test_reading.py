"""Data on disk: the same race as in memory, in a fraction of the memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV
from cvst.datasets import open_dataset, stored_rows
from cvst.exceptions import FallbackWarning, InvalidInputError
from cvst.race import TrackAndConfirm

GRID = {"max_depth": [1, 2, 3, 4, 5, 6], "min_samples_leaf": [1, 5, 10, 20, 40]}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(1200, 4))
# The file is sorted by the target, which a prefix of the race must not be.
Y = np.sort(RNG.integers(0, 2, 1200))
X[:, 0] += Y


def fitted(X, y=Y, **settings):
    """Race thirty trees."""
    settings = {"random_state": 0} | settings
    return RaceGridSearchCV(DecisionTreeClassifier(), GRID, **settings).fit(X, y)


def assert_same(one, other):
    """Compare all that a search reports, but times."""
    for name, values in other.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(one.cv_results_[name], values, err_msg=name)
    assert one.best_params_ == other.best_params_


@pytest.fixture
def parquet(tmp_path):
    """Write the rows as a file with many row groups."""
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=Y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    return tmp_path


@pytest.mark.parametrize("settings", [{}, {"strategy": "cvst"}, {"n_jobs": 2}])
def test_a_race_on_parquet_is_that_in_memory(parquet, settings):
    """Bit for bit, and the winner is fitted on the same rows with the same names."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    stored, y = open_dataset(parquet, "y")
    one, other = fitted(stored, y, **settings), fitted(frame)
    if "strategy" not in settings:
        assert_same(one, other)
    assert one.best_estimator_.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(
        one.predict(frame), fitted(frame, **settings).predict(frame)
    )


def test_memory_maps_beyond_the_limit_are_read_as_needed(tmp_path, monkeypatch):
    """Small ones are raced as ever: there is nothing to save."""
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    plain = fitted(X)
    assert_same(fitted(mapped), plain)
    with pytest.warns(FallbackWarning, match="fitted on 600 of 1,200 rows"):
        limited = fitted(stored_rows(mapped, max_rows=600))
    assert limited.race_.problem.n_samples == 600
    # From 38,400 bytes on it counts as large.
    monkeypatch.setattr("cvst.datasets._stored.LARGEST_BYTES", X.nbytes // 2)
    with pytest.warns(FallbackWarning, match="fitted on 600 of 1,200 rows"):
        assert_same(fitted(mapped), limited)


def test_rows_for_the_final_fit_are_drawn_where_the_race_has_fewer():
    """The race is limited by the strategy, the final fit by the memory."""
    strategy = TrackAndConfirm(max_rows=1_000)
    with pytest.warns(FallbackWarning, match="fitted on 1,100 of 1,200 rows"):
        search = fitted(stored_rows(X, max_rows=1_100), strategy=strategy)
    assert search.race_.problem.n_samples == 1_000
    tree = search.best_estimator_.tree_
    assert tree.n_node_samples[0] == 1_100


def test_folds_that_name_rows_do_not_go_with_a_draw():
    """The sentence says what to use instead."""
    cv = [(np.arange(600), np.arange(600, 1200))]
    with pytest.raises(InvalidInputError, match="names single rows, and 600 of 1,200"):
        fitted(stored_rows(X, max_rows=600), cv=cv)


def test_a_checkpoint_knows_its_file(parquet, tmp_path):
    """It goes on with the same rows, and refuses others."""
    path = tmp_path.with_name(f"{tmp_path.name}.cvst")
    stored, y = open_dataset(parquet, "y")
    first = fitted(stored, y, checkpoint=path)
    assert_same(fitted(open_dataset(parquet, "y")[0], y, checkpoint=path), first)
    frame = pd.DataFrame(X + 1, columns=list("abcd")).assign(y=Y)
    frame.to_parquet(parquet / "rows.parquet", row_group_size=100)
    with pytest.raises(InvalidInputError, match=r"X .* does not have the same content"):
        fitted(open_dataset(parquet, "y")[0], y, checkpoint=path)


def test_dask_collections_are_raced_as_they_are():
    """Arrays and frames give the same race as in memory."""
    arrays = pytest.importorskip("dask.array")
    frames = pytest.importorskip("dask.dataframe")
    y = arrays.from_array(Y, chunks=500)
    assert_same(fitted(arrays.from_array(X, chunks=(250, 4)), y), fitted(X))
    frame = pd.DataFrame(X, columns=list("abcd"))
    lazy = frames.from_pandas(frame, npartitions=5)
    assert_same(fitted(lazy, y), fitted(frame))


# --- a process with little memory ---------------------------------------------------

EXTRA_BYTES = 48_000_000


def write_parquet(folder, n_rows, n_columns):
    """Write rows sorted by target, a file at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 2, n_rows))
    for part, rows in enumerate(np.array_split(np.arange(n_rows), 4)):
        table = rng.standard_normal((len(rows), n_columns))
        table[:, :3] += 0.8 * y[rows, None]
        columns = {f"x{number}": table[:, number] for number in range(n_columns)}
        pq.write_table(
            pa.table(columns | {"y": y[rows]}),
            folder / f"{part}.parquet",
            row_group_size=5_000,
            compression="none",
            use_dictionary=False,
        )


def in_process(*arguments):
    """Run the script beside this file, and return what it prints."""
    script = Path(__file__).with_name("limited_memory.py")
    # Arrow's own allocator sets a gibibyte aside beforehand, which hides what it uses.
    environment = os.environ | {
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "MALLOC_ARENA_MAX": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    answer = subprocess.run(
        [sys.executable, str(script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        env=environment,
        check=True,
        timeout=900,
    )
    return json.loads(answer.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory by RLIMIT_DATA")
def test_a_race_on_four_times_the_memory(tmp_path):
    """All rows do not fit, the race does, and it is that of a process without limit."""
    pytest.importorskip("pyarrow")
    write_parquet(tmp_path, 242_000, 100)
    limited = in_process(tmp_path, "--extra", EXTRA_BYTES)
    free = in_process(tmp_path)
    assert free["bytes"] >= 4 * EXTRA_BYTES
    assert limited["all rows"] == "do not fit"
    assert limited["best_params"] == free["best_params"]
    # As text, so that NaN equals NaN.
    assert json.dumps(limited["results"]) == json.dumps(free["results"])
