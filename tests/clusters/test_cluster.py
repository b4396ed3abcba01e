"""Chunks on a cluster whose engine is a toy: all that travels is pickled and counted.

The toy works when it is asked for results, last come first served, and loses workers
and values on command.
"""

from __future__ import annotations

import pickle

import pytest

from cvst.exceptions import ClusterLostError
from cvst.parallel import Cluster
from cvst.parallel._cluster import SharedLostError, WorkerLostError


class Toy:
    """An engine without workers: calls are run in turn, from pickled arguments."""

    name = "toy"

    def __init__(self, n_workers=2, deadly=(), losses=0, fatal=()):
        self.fatal = set(fatal)
        self.workers = n_workers
        self.deadly = set(deadly)
        self.losses = losses
        self.values = {}
        self.calls = {}
        self.shared_bytes, self.task_bytes, self.most_waiting = [], [], 0
        self.cancelled = []
        self.closed = False

    def n_workers(self):
        return self.workers

    def share(self, value):
        content = pickle.dumps(value)
        self.shared_bytes.append(len(content))
        handle = f"value {len(self.shared_bytes)}"
        self.values[handle] = content
        return handle

    def forget(self, shared):
        self.values.pop(shared, None)

    def submit(self, function, *args):
        number = len(self.task_bytes)
        self.task_bytes.append(len(pickle.dumps(args)))
        self.calls[number] = function, pickle.dumps(args)
        self.most_waiting = max(self.most_waiting, len(self.calls))
        return number

    def finished(self, waiting):
        assert set(waiting) <= set(self.calls)
        return [max(waiting)]

    def result(self, call):
        function, content = self.calls.pop(call)
        work, chunk, rows = pickle.loads(content)
        members = {number for group in chunk for number in group}
        if self.losses or self.fatal & members:
            self.losses = max(0, self.losses - 1)
            self.values.clear()
        if work not in self.values or rows not in self.values:
            raise SharedLostError
        if self.deadly & members:
            raise WorkerLostError("killed")
        work, rows = (pickle.loads(self.values[handle]) for handle in (work, rows))
        return function(work, chunk, rows)

    def cancel(self, waiting):
        self.cancelled += list(waiting)
        for call in waiting:
            self.calls.pop(call, None)

    def close(self):
        self.closed = True


def add_up(chunk, rows):
    """Return each number with the sum of the rows."""
    return [(number, sum(rows)) for group in chunk for number in group]


def lost(chunk, reason):
    """Return each number with the reason."""
    return [(number, reason) for group in chunk for number in group]


def answers(results):
    """Return all answers of some results."""
    return sorted(one for result in results for one in result)


ROWS = list(range(3_000))
CHUNKS = [[[4 * n, 4 * n + 1], [4 * n + 2, 4 * n + 3]] for n in range(10)]
EXPECTED = [(n, sum(ROWS)) for n in range(40)]


def test_rows_travel_once_and_tasks_carry_numbers():
    """Two looks: the rows once, the look once each, and a few bytes per task."""
    toy = Toy()
    cluster = Cluster(toy, ROWS)
    for _ in range(2):
        assert answers(cluster.run(add_up, CHUNKS, lost)) == EXPECTED
    rows, *looks = toy.shared_bytes
    assert rows > 5_000
    assert len(looks) == 2
    assert max(looks) < 1000
    assert len(toy.task_bytes) == 20
    assert max(toy.task_bytes) < 200
    cluster.close()
    assert toy.closed
    assert not toy.values


def test_results_come_as_they_finish():
    """The toy finishes the last chunk first."""
    first = next(Cluster(Toy(), ROWS).run(add_up, CHUNKS, lost))
    assert [number for number, _ in first] == [36, 37, 38, 39]


def test_a_list_goes_out_at_once_and_an_iterator_bit_by_bit():
    """Workers that join find work; a gate that hands out late is asked late."""
    for chunks, options, most in [
        (CHUNKS, {}, 10),
        (iter(CHUNKS), {}, 4),
        (iter(CHUNKS), {"eager": False}, 2),
    ]:
        toy = Toy(n_workers=2)
        assert answers(Cluster(toy, ROWS).run(add_up, chunks, lost, **options)) == (
            EXPECTED
        )
        assert toy.most_waiting == most


def test_a_worker_that_joins_is_given_work():
    """The number of workers is asked again with every result."""
    toy = Toy(n_workers=1)
    results = Cluster(toy, ROWS).run(add_up, iter(CHUNKS), lost, eager=False)
    next(results)
    toy.workers = 3
    next(results)
    next(results)
    assert toy.most_waiting == 3


def test_n_jobs_limits_what_is_under_way():
    toy = Toy(n_workers=8)
    assert answers(Cluster(toy, ROWS, n_jobs=3).run(add_up, CHUNKS, lost)) == EXPECTED
    assert toy.most_waiting == 3


def test_only_what_kills_its_workers_has_failed():
    """A deadly chunk is split into groups, the deadly group into configurations."""
    toy = Toy(deadly=[6])
    found = answers(Cluster(toy, ROWS).run(add_up, CHUNKS, lost))
    assert found == [
        (n, "WorkerDied: killed" if n == 6 else total) for n, total in EXPECTED
    ]


@pytest.mark.parametrize("number", [0, 6, 39])
def test_what_takes_all_workers_and_the_rows_with_it_has_failed(number):
    """Nobody says whose fault a loss is: chunks go out one by one to find out."""
    toy = Toy(fatal=[number])
    found = answers(Cluster(toy, ROWS).run(add_up, CHUNKS, lost))
    assert [n for n, _ in found] == list(range(40))
    failed = {n: reason for n, reason in found if reason != sum(ROWS)}
    assert set(failed) == {number}
    assert "WorkerDied: the process that fitted it ended" in failed[number]


@pytest.mark.parametrize("losses", [1, 3])
def test_rows_that_vanish_are_sent_again(losses):
    toy = Toy(losses=losses)
    assert answers(Cluster(toy, ROWS).run(add_up, CHUNKS, lost)) == EXPECTED
    n_sent = sum(size > 5_000 for size in toy.shared_bytes)
    assert n_sent == 1 + losses


def test_a_cluster_that_only_loses_is_given_up():
    with pytest.raises(ClusterLostError, match="13 times without a result"):
        list(Cluster(Toy(losses=1000), ROWS).run(add_up, CHUNKS, lost))


def test_who_has_seen_enough_leaves_nothing_behind():
    """Calls under way are given up, and the next look is not confused by them."""
    toy = Toy()
    cluster = Cluster(toy, ROWS)
    results = cluster.run(add_up, CHUNKS, lost)
    next(results)
    results.close()
    assert len(toy.cancelled) == 9
    assert answers(cluster.run(add_up, CHUNKS, lost)) == EXPECTED


def test_errors_of_the_function_are_raised():
    def fails(chunk, rows):
        raise ValueError(f"{chunk} of {len(rows)}")

    with pytest.raises(ValueError, match="of 3000"):
        list(Cluster(Toy(), ROWS).run(fails, CHUNKS, lost))
