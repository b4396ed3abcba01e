"""Chunks of work side by side: one BLAS thread each, whichever library it is."""

from __future__ import annotations

import importlib
import pickle
import shutil
import threading
import warnings
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import joblib
import numpy as np
import pytest
from blas_pools import blas_threads
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from cvst.exceptions import InvalidInputError
from cvst.parallel import (
    Crew,
    _files,
    filtered_warnings,
    in_chunks,
    on_file,
    run_chunks,
    whereabouts,
    without_warnings,
)
from cvst.parallel._pickling import pickling


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_chunk_has_one_blas_thread(n_jobs):
    """The limit holds during the work, again in a second look, and not afterwards."""
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        for _ in range(2):
            for during in run_chunks(blas_threads, [0, 1], n_jobs, "threads"):
                assert set(during.values()) == {1}
            assert blas_threads() == before


@pytest.mark.parametrize("prefer", ["threads", "processes"])
def test_the_number_of_workers_may_come_from_joblibs_context(prefer):
    """It counts for threads too, for which joblib itself takes one worker."""

    def both_are_here(chunk):
        # A local function travels by value.
        import time
        from pathlib import Path

        mine, other = (Path(chunk[0]) / str(number) for number in chunk[1:])
        mine.touch()
        end = time.monotonic() + 20
        while not other.exists() and time.monotonic() < end:
            time.sleep(0.01)
        return other.exists()

    with TemporaryDirectory() as folder, joblib.parallel_config(n_jobs=2):
        chunks = [(folder, 0, 1), (folder, 1, 0)]
        found = list(run_chunks(both_are_here, chunks, None, prefer))
        with Crew(None, prefer, lambda chunk: chunk) as crew:
            crew.wake(len)
            assert crew._workers.n_workers == 2
    assert found == [True, True]


def test_worker_processes_have_one_blas_thread_whatever_joblib_says():
    """Else the last bits of a product would depend on the number of workers."""

    def told(_):  # a local function travels by value
        import numpy as np

        np.ones((2, 2)) @ np.ones((2, 2))
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        return [pool["num_threads"] for pool in pools]

    with joblib.parallel_config(backend="loky", inner_max_num_threads=2):
        (outside,) = joblib.Parallel(2)([joblib.delayed(told)(0)])
        found = list(run_chunks(told, [0, 1], 2, "processes"))
    if set(outside) != {2}:
        pytest.skip("one core, or a BLAS whose threads nobody can count")
    assert {n for one in found for n in one} == {1}


def test_a_library_loaded_between_looks_is_limited_too(tmp_path, monkeypatch):
    """A module that brings its own BLAS after the first look finds one thread."""
    list(run_chunks(blas_threads, [0], 1, "threads"))
    original = next(iter(blas_threads()))
    copy = tmp_path / f"libopenblas_late{Path(original).suffix}"
    shutil.copy(original, copy)
    source = f"import ctypes\nlibrary = ctypes.CDLL({str(copy)!r})\n"
    (tmp_path / "late_library.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("late_library")
    with threadpool_limits(limits=2, user_api="blas"):
        (during,) = run_chunks(blas_threads, [0], 1, "threads")
    assert during[str(copy)] == 1


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=80),
    n_workers=st.integers(1, 12),
)
def test_chunks_keep_all_workers_busy(sizes, n_workers):
    """Every group goes out once, in order, and none waits behind a large one."""
    ends = np.cumsum(sizes)
    groups = [
        list(range(end - size, end)) for end, size in zip(ends, sizes, strict=True)
    ]
    chunks = in_chunks(groups, n_workers)
    assert [group for chunk in chunks for group in chunk] == groups
    share = max(1, sum(sizes) // (8 * n_workers))
    for chunk in chunks:
        assert len(chunk) == 1 or sum(map(len, chunk)) <= share
    assert len(chunks) >= min(n_workers, len(groups))


@pytest.mark.parametrize("held", [True, False])
def test_a_value_on_file_travels_as_its_name(held, monkeypatch, tmp_path):
    """And is read once, with its arrays mapped."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    if not held:
        monkeypatch.setattr(_files, "_reaches_held_files", lambda: False)
    elif not _files._reaches_held_files():
        pytest.skip("files need a name here")
    rows = np.arange(300_000.0)
    with on_file({"rows": rows, "names": ["a", "b"]}) as stored:
        sent = pickle.dumps(stored)
        assert len(sent) < 500
        seen = pickle.loads(sent)
        assert seen is pickle.loads(sent)
        assert seen is not stored.value
        assert isinstance(seen["rows"], np.memmap)
        np.testing.assert_array_equal(seen["rows"], rows)
        assert seen["names"] == ["a", "b"]
        assert bool(list(tmp_path.iterdir())) is not held
    assert not list(tmp_path.iterdir())


def test_a_part_of_a_value_on_file_is_taken_where_it_is_read():
    """Only how to take it travels; the rest is as it was."""
    rows = np.arange(300_000.0)
    with on_file(rows) as stored:
        part = stored.changed(itemgetter(slice(2, 5)))
        np.testing.assert_array_equal(part.value, [2, 3, 4])
        sent = pickle.dumps(part)
        assert len(sent) < 500
        np.testing.assert_array_equal(pickle.loads(sent), [2, 3, 4])
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(stored)), rows)


def test_files_of_two_values_are_told_apart():
    """Though the second has the numbers of the first, which is gone."""
    for number in range(2):
        with on_file(np.full(200_000, number)) as stored:
            assert pickle.loads(pickle.dumps(stored))[0] == number


def test_where_the_workers_are():
    """Processes of this machine share files, threads share memory; the backend says."""
    assert whereabouts(1, "processes") == "here"
    assert whereabouts(2, "processes") == "files"
    assert whereabouts(2, "threads") == "threads"
    with joblib.parallel_config(backend="threading"):
        assert whereabouts(2, "processes") == "threads"
    for backend in ("loky", "multiprocessing"):
        with joblib.parallel_config(backend=backend):
            assert whereabouts(2, "threads") == "files"


def test_threads_of_a_fit_that_is_timed_may_filter_warnings():
    """A search may be the estimator of a search; it waited for the outer one for good.

    Outside, filters are as they were, whoever leaves first.
    """
    before = list(warnings.filters)
    done = threading.Event()

    def inner():
        with without_warnings(), filtered_warnings():
            warnings.warn("not heard", UserWarning, stacklevel=1)
        done.set()

    with without_warnings():
        warnings.warn("not heard", UserWarning, stacklevel=1)
        thread = threading.Thread(target=inner, daemon=True)
        thread.start()
        assert done.wait(20)
        warnings.warn("not heard", UserWarning, stacklevel=1)
    thread.join()
    assert warnings.filters == before


def test_warnings_of_one_kind_are_ignored_while_any_thread_wants_it():
    """Filters are put back by the last one, in whatever order threads leave."""
    before = list(warnings.filters)
    first, second = without_warnings(UserWarning), without_warnings(FutureWarning)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with first:
            second.__enter__()
            warnings.warn("not heard", UserWarning, stacklevel=1)
            warnings.warn("heard", DeprecationWarning, stacklevel=1)
        warnings.warn("not heard", FutureWarning, stacklevel=1)
        second.__exit__(None, None, None)
        warnings.warn("heard", FutureWarning, stacklevel=1)
    assert [str(one.message) for one in heard] == ["heard", "heard"]
    assert warnings.filters == before


class SpeechlessError(Exception):
    """Fails to say what it is."""

    def __str__(self):
        raise RuntimeError("no words")


def test_an_error_without_words_is_told_by_its_type():
    told = "cannot be pickled: SpeechlessError"
    with pytest.raises(InvalidInputError, match=told), pickling():
        raise SpeechlessError
