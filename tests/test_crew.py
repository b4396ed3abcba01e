"""Workers that get one chunk after the other: the first to end comes back first."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from blas_pools import blas_threads
from threadpoolctl import threadpool_limits

from cvst.parallel import Crew, run_chunks


def lost(chunk, reason):
    return [(chunk, reason)]


def test_who_is_done_first_comes_back_first():
    """The first chunk waits for the second one, and does not hold it up."""
    other_is_done = threading.Event()

    def work(chunk):
        if chunk == [[0]]:
            assert other_is_done.wait(30)
        return chunk

    with Crew(2, "threads", lost) as crew:
        crew.begin("slow", work, [[0]])
        crew.begin("quick", work, [[1]])
        assert crew.take() == ("quick", [[1]])
        other_is_done.set()
        assert crew.take() == ("slow", [[0]])


def test_each_worker_has_one_blas_thread():
    with threadpool_limits(limits=2, user_api="blas"), Crew(2, "threads", lost) as crew:
        assert set(blas_threads().values()) == {2}
        crew.begin(0, blas_threads, [[0]])
        key, during = crew.take()
    assert key == 0
    assert set(during.values()) == {1}


def dies_with_7(chunk):
    if [7] in chunk:
        os._exit(3)
    return [n for group in chunk for n in group]


def test_a_worker_that_dies_costs_its_configuration_alone():
    """Whoever was under way beside it is done again, and the others go on."""
    with Crew(2, "processes", lost) as crew:
        crew.begin("bad", dies_with_7, [[6], [7]])
        crew.begin("good", dies_with_7, [[1]])
        answers = dict(crew.take() for _ in range(2))
        crew.begin("later", dies_with_7, [[2]])
        answers |= dict([crew.take()])
    assert answers["good"] == [1]
    assert answers["later"] == [2]
    number, (chunk, reason) = answers["bad"]
    assert number == 6
    assert chunk == [[7]]
    assert reason.startswith("WorkerDied")


def raises(chunk):
    raise KeyError(chunk[0][0])


@pytest.mark.parametrize("prefer", ["threads", "processes"])
def test_errors_come_back_as_they_are(prefer):
    with Crew(2, prefer, lost) as crew:
        crew.begin(0, raises, [[5]])
        with pytest.raises(KeyError, match="5"):
            crew.take()


def interrupted(chunk):
    raise KeyboardInterrupt


def test_an_interrupt_of_a_worker_is_one_of_the_race():
    with Crew(2, "processes", lost) as crew:
        crew.begin(0, interrupted, [[0]])
        with pytest.raises(KeyboardInterrupt):
            crew.take()


def waits_for(chunk):
    """Wait for a file that never comes, and leave another one if it does."""
    folder = Path(chunk[0][0])
    (folder / "begun").touch()
    while not (folder / "go").exists():
        pass
    (folder / "ended").touch()
    return []


def test_who_leaves_does_not_wait_for_the_others(tmp_path):
    """Processes that are at work are ended, or they would go on for hours."""
    with Crew(2, "processes", lost) as crew:
        crew.begin(0, waits_for, [[str(tmp_path)]])
        while not (tmp_path / "begun").exists():
            pass
    (tmp_path / "go").touch()
    with Crew(2, "processes", lost) as crew:
        crew.begin(0, dies_with_7, [[1]])
        assert crew.take() == (0, [1])
    assert not (tmp_path / "ended").exists()


def pid(chunk):
    del chunk
    return os.getpid()


def pid_beside_another(folder):
    """Wait for another worker: one of them alone may be quick enough for all chunks."""
    (Path(folder) / str(os.getpid())).touch()
    while len(list(Path(folder).iterdir())) < 2:
        pass
    return os.getpid()


def test_all_workers_are_woken(tmp_path):
    """And those that were are the ones that work, here and in other looks."""
    with Crew(2, "processes", lost) as crew:
        crew.wake(pid)
        crew.begin(0, pid, [[0]])
        first = crew.take()[1]
        others = list(
            run_chunks(pid_beside_another, [str(tmp_path)] * 2, 2, "processes")
        )
    assert first in others
    assert len(set(others)) == 2
    assert os.getpid() not in others


def test_workers_that_it_cannot_lead():
    assert not Crew.works(1, "processes")
    assert Crew.works(2, "processes")
    assert Crew.works(2, "threads")
