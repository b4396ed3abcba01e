"""Pools of processes: one for each thread, and none is blamed for another's deaths."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import joblib
import pytest

from cvst.parallel import Crew, run_chunks
from cvst.parallel._processes import in_order, leased

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no such signals here")


def lost(chunk, reason):
    return [(chunk[0][0], reason)]


def pids(chunk):
    return [os.getpid() for group in chunk for _ in group]


def dies_or_waits(chunk):
    """Die at once, or be at work while others die."""
    (number,) = chunk[0]
    if number < 0:
        os._exit(3)
    time.sleep(0.02)
    return [(number, "done")]


def in_two_threads(first, second):
    with ThreadPoolExecutor(2) as threads:
        # Both are begun before the first is waited for.
        begun = [threads.submit(one) for one in (first, second)]
        return [one.result(timeout=300) for one in begun]


def run(chunks, n_jobs=2):
    done = run_chunks(
        dies_or_waits, [[[one]] for one in chunks], n_jobs, "processes", lost=lost
    )
    return [one for results in done for one in results]


def test_a_death_in_one_thread_is_no_fault_of_another():
    """Of a pool that is shared nobody knows whose chunk has broken it."""
    dying = [-1, 0]
    calm = list(range(60))
    found, others = in_two_threads(lambda: run(dying), lambda: run(calm))
    assert others == [(one, "done") for one in calm]
    assert [one for one in found if one[1] == "done"] == [(0, "done")]
    assert [number for number, why in found if "WorkerDied" in why] == [-1]
    assert all("EXIT(3)" in why for _, why in found if why != "done")


def test_two_threads_never_have_the_same_processes():
    meeting = threading.Barrier(2)

    def pool():
        with leased(2) as mine:
            meeting.wait(timeout=300)  # until both have one
            return mine

    first, second = in_two_threads(pool, pool)
    assert first is not second


def test_different_numbers_of_workers_in_two_threads_do_not_wait_for_each_other():
    """In one pool, each would change its size while the other is at work."""

    def often(n_jobs):
        return [run(range(6), n_jobs) for _ in range(5)]

    few, many = in_two_threads(lambda: often(2), lambda: often(3))
    assert few == many == [[(one, "done") for one in range(6)]] * 5


def test_joblib_keeps_its_own_pool():
    """A search beside GridSearchCV does not resize or break its workers."""
    others = joblib.Parallel(3)(joblib.delayed(pids)([[0]]) for _ in range(9))
    theirs = {one for done in others for one in done}
    ours = {
        one for done in run_chunks(pids, [[[0]]] * 9, 2, "processes") for one in done
    }
    assert not ours & theirs


def test_a_thread_keeps_its_processes_from_look_to_look():
    def workers():
        return {
            one
            for done in run_chunks(pids, [[[0]]] * 20, 2, "processes")
            for one in done
        }

    with leased(2):
        assert workers() & workers()


def test_an_idle_worker_that_dies_is_replaced():
    first = run(range(4))
    with leased(2) as pool:
        executor = pool.started()
        for pid in executor.submit(pids, [[0], [0]]).result():
            os.kill(pid, signal.SIGKILL)
    assert run(range(4)) == first


def test_who_sees_enough_ends_those_at_work(tmp_path):
    """And the next one does not get a pool that is busy."""
    chunks = ([[str(tmp_path / str(number))]] for number in range(100))
    results = run_chunks(touches, chunks, 2, "processes", lost=lost)
    next(results)
    results.close()
    known = len(list(tmp_path.iterdir()))
    assert run([1]) == [(1, "done")]
    time.sleep(0.2)
    assert len(list(tmp_path.iterdir())) == known < 100


def touches(chunk):
    time.sleep(0.05)
    Path(chunk[0][0]).touch()
    return []


def test_an_error_among_the_chunks_comes_out():
    """Also where a thread of the pool has asked for the next one."""

    def chunks():
        for number in range(6):
            yield [[number]]
        raise RuntimeError("no more")

    results = run_chunks(dies_or_waits, chunks(), 2, "processes", lost=lost)
    for number in range(6):
        assert next(results) == [(number, "done")]
    with pytest.raises(RuntimeError, match="no more"):
        next(results)


def test_a_process_that_an_earlier_chunk_has_spoilt_is_not_held_against_a_chunk():
    """Chunks that are done alone share a process until one dies in it."""
    spoilt = [[[number]] for number in (7, 0, 0)]
    assert [
        one
        for done in run_chunks(spoils, spoilt, 2, "processes", lost=lost)
        for one in done
    ] == ["spoilt", "whole", "whole"]


_SPOILT = []


def spoils(chunk):
    """Die if a chunk was here that leaves something behind."""
    if _SPOILT:
        os._exit(5)
    if chunk == [[7]]:
        _SPOILT.append(True)
        return ["spoilt"]
    time.sleep(0.05)
    return ["whole"]


FORKED = """
import os, sys
from cvst.parallel import run_chunks

def pids(chunk):
    return [os.getpid()]

if __name__ == "__main__":
    known = {one for r in run_chunks(pids, [[[0]]] * 4, 2, "processes") for one in r}
    child = os.fork()
    if not child:
        mine = {one for r in run_chunks(pids, [[[0]]] * 4, 2, "processes") for one in r}
        print("child", bool(mine & known), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    again = {one for r in run_chunks(pids, [[[0]]] * 4, 2, "processes") for one in r}
    print("parent", bool(again & known), flush=True)
"""


def test_a_forked_process_has_its_own(tmp_path):
    script = tmp_path / "forked.py"
    script.write_text(FORKED)
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == ["child False", "parent True"]


@pytest.mark.parametrize("lead", ["chunks", "crew"])
def test_multiprocessing_of_joblib_does_not_wait_for_dead_workers(lead):
    """Its pool replaces a worker that died, and forgets what that one was to do."""
    with joblib.parallel_config(backend="multiprocessing"):
        if lead == "chunks":
            found = run([0, -1, 1])
        else:
            with Crew(2, "processes", lost) as crew:
                for number in (0, -1, 1):
                    crew.begin(number, dies_or_waits, [[number]])
                found = [crew.take()[1][0] for _ in range(3)]
    assert {number: why == "done" for number, why in found} == {
        0: True,
        -1: False,
        1: True,
    }


def test_what_a_user_tells_joblib_of_workers_holds():
    with joblib.parallel_config(
        backend="loky", initializer=os.putenv, initargs=("GREETING", "hello")
    ):
        found = [
            one
            for done in run_chunks(greetings, [[[0]]], 2, "processes")
            for one in done
        ]
    assert found == ["hello"]


def greetings(chunk):
    del chunk
    return [subprocess.check_output(["printenv", "GREETING"], text=True).strip()]


def test_idle_pools_do_not_pile_up():
    before = threading.active_count()
    for n_jobs in (2, 3, 2):
        run(range(3), n_jobs)
    # A thread leads a pool and another one feeds it.
    assert threading.active_count() <= before + 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no parents of that kind here")
@pytest.mark.parametrize(("owner", "code"), [("os.getppid()", 0), ("-1", 1)])
def test_a_worker_whose_process_is_gone_does_not_stay(owner, code):
    """It may have ended while this one was starting."""
    begin = f"import os; from cvst.parallel import _processes as p; p._begin({owner}, "
    done = subprocess.run([sys.executable, "-c", f"{begin}None, ())"], check=False)
    assert done.returncode == code


HELD = []


def grows(chunk):
    """Hold 100 MB more each time: loky replaces workers that grow by 300."""
    HELD.append(bytearray(os.urandom(1)) * 10**8)
    time.sleep(0.4)
    return [(number, os.getpid()) for group in chunk for number in group]


def by_chunks(n_chunks):
    chunks = [[[number]] for number in range(n_chunks)]
    done = run_chunks(grows, chunks, 2, "processes", lost=lost)
    return [one for results in done for one in results]


def by_crew(n_chunks):
    with Crew(2, "processes", lost) as crew:
        for number in range(n_chunks):
            crew.begin(number, grows, [[number]])
        return sorted(one for _ in range(n_chunks) for one in crew.take()[1])


@pytest.mark.parametrize("work", [by_chunks, by_crew])
def test_warnings_as_errors_do_not_end_in_waiting_for_ever(work, monkeypatch):
    """That of a replaced worker then ends the thread that hands out the work."""
    psutil = pytest.importorskip("psutil")  # loky asks it how large workers are
    ended = []
    monkeypatch.setattr(threading, "excepthook", ended.append)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numbers, workers = zip(*work(20), strict=True)
    assert numbers == tuple(range(20))
    assert any("A worker stopped" in str(one.exc_value) for one in ended)
    # None is left behind but those of the pool that is kept.
    assert sum(map(psutil.pid_exists, set(workers))) <= 2


def waits(seconds):
    time.sleep(seconds)
    return seconds


# Python 3.12 and later warn of forks beside threads, which is the point.
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_that_was_forked_ends_no_workers_of_its_parent():
    """Its thread that hands out work is not there, and yet they have not deserted."""
    found = []
    with leased(2) as pool:
        executor = pool.started()
        for place, result in enumerate(
            in_order(pool, waits, [0.05] * 2 + [0.5] * 4, 4)
        ):
            if place == 0:
                child = os.fork()
                if not child:
                    # What unwinding does there.
                    with suppress(BaseException):
                        pool.end(executor)
                    os._exit(0)
                os.waitpid(child, 0)
            found.append(result)
    assert found == [0.05] * 2 + [0.5] * 4
