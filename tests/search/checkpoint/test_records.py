"""Torn tails are told from changed bytes."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

from cvst.exceptions import CheckpointError
from cvst.search.checkpoint import _journal as journal_module
from cvst.search.checkpoint._journal import Journal, create
from cvst.search.checkpoint._records import Reading, read_records


@pytest.fixture
def file(tmp_path):
    """Write a header and two records, and say where each ends."""
    path = tmp_path / "race"
    journal = Journal(path, create(path, {"who": "me"}))
    ends = [path.stat().st_size]
    for number in range(2):
        fields = {"number": number, "losses": np.full(5, number + 0.5)}
        journal.append("looks", fields, lasts=True)
        journal.sync()
        ends.append(path.stat().st_size)
    journal.close()
    return path, ends


def read(path):
    reading = Reading()
    return [one.fields for one in read_records(path, reading)], reading


def test_records_come_back(file):
    path, ends = file
    records, reading = read(path)
    assert records[0] == {"who": "me"}
    assert [one["number"] for one in records[1:]] == [0, 1]
    assert [place.stop for place in reading.places] == ends
    assert reading.torn == 0


def test_a_torn_tail_is_left_out_wherever_it_was_torn(file):
    path, ends = file
    content = path.read_bytes()
    for size in range(ends[0], len(content)):
        path.write_bytes(content[:size])
        records, reading = read(path)
        n_whole = sum(end <= size for end in ends)
        assert len(records) == n_whole
        assert reading.torn == size - ends[n_whole - 1]


def test_a_tail_of_zeros_is_torn(file):
    """Some systems make a file longer before they write what belongs there."""
    path, ends = file
    content = path.read_bytes()
    path.write_bytes(content[: ends[1]] + bytes(len(content) - ends[1]))
    assert len(read(path)[0]) == 2


def test_a_changed_byte_is_found_and_named(file):
    """In any record that others follow; in the last one it is dropped like a tear."""
    path, ends = file
    content = path.read_bytes()
    for place in range(18, len(content)):
        changed = bytearray(content)
        changed[place] ^= 4
        path.write_bytes(changed)
        if place < ends[1]:
            record = 1 + sum(end <= place for end in ends)
            with pytest.raises(CheckpointError, match=f"its record {record}, at byte"):
                read(path)
        else:
            records, reading = read(path)
            assert len(records) == 2
            assert reading.torn == len(content) - ends[1]


@pytest.mark.parametrize("n_synced", [0, 1, 2, 3])
def test_records_the_disk_had_not_taken_are_lost_in_any_order(tmp_path, n_synced):
    """After a power failure a hole among them is a tear; before them it is a change."""
    path = tmp_path / "race"
    journal = Journal(path, create(path, {}))
    ends = [path.stat().st_size]
    for number in range(4):
        if number == n_synced:
            journal.sync()
        journal.append("looks", {"number": number}, lasts=True)
        ends.append(path.stat().st_size)
    journal.close()
    content = path.read_bytes()
    for hole in range(3):
        path.write_bytes(
            content[: ends[hole]]
            + bytes(ends[hole + 1] - ends[hole])
            + content[ends[hole + 1] :]
        )
        if hole < n_synced:
            with pytest.raises(CheckpointError, match=f"its record {hole + 2}, at"):
                read(path)
        else:
            records, reading = read(path)
            assert len(records) == hole + 1
            assert reading.torn == len(content) - ends[hole]
            assert reading.n_synced <= n_synced + 1


def test_a_disk_that_failed_once_is_not_trusted(tmp_path, monkeypatch):
    """A later sync that succeeds does not bring back what an earlier one lost."""
    path = tmp_path / "race"
    journal = Journal(path, create(path, {}))
    end = path.stat().st_size
    journal.append("looks", {"number": 0}, lasts=True)

    def broken(handle):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", broken)
        with pytest.raises(OSError, match="Input/output"):
            journal.sync()
    journal.sync()
    assert not journal.is_synced
    lost_end = path.stat().st_size
    journal.append("looks", {"number": 1}, lasts=True)
    journal.close()
    content = path.read_bytes()
    path.write_bytes(content[:end] + bytes(lost_end - end) + content[lost_end:])
    assert len(read(path)[0]) == 1


def test_the_name_of_a_file_reaches_the_disk_with_its_first_records(
    tmp_path, monkeypatch
):
    """After them, and once: to wait for a disk takes longer than a short look."""
    path, synced, fsync = tmp_path / "race", [], os.fsync

    def heard(handle):
        synced.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    monkeypatch.setattr("os.fsync", heard)
    journal = Journal(path, create(path, {}))
    assert synced == []
    for number in range(2):
        journal.append("looks", {"number": number}, lasts=True)
        journal.sync()
    journal.close()
    assert synced == ["file", "folder", "file"]


def test_a_record_cannot_be_taken_out(file):
    path, ends = file
    content = path.read_bytes()
    path.write_bytes(content[: ends[0]] + content[ends[1] :])
    with pytest.raises(CheckpointError, match="was changed: its record 2"):
        read(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04", "is not a checkpoint"),
        (b"cvst checkpoint one\n", "is not a checkpoint"),
        (
            b"cvst checkpoint 1\n",
            "has format 1, and this version of cvst reads format 3",
        ),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=message):
        read(path)


def test_what_finished_looks_leave_behind_is_removed(tmp_path, monkeypatch):
    """A file does not keep the pointwise losses of every look that was long."""
    monkeypatch.setattr(journal_module, "MOST_WASTE", 10_000)
    rng = np.random.default_rng(0)
    path = tmp_path / "race"
    journal = Journal(path, create(path, {}))
    for number in range(6):
        for _ in range(3):
            journal.append("groups", {"losses": rng.random(500)}, lasts=False)
        journal.append("looks", {"number": number}, lasts=True)
        journal.tidy()
    journal.append("looks", {"number": 6}, lasts=True)
    journal.close()
    assert path.stat().st_size < 40_000
    records = list(read_records(path, Reading()))
    looks = [one.fields["number"] for one in records if one.kind == "looks"]
    assert looks == list(range(7))
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_look_of_a_long_race_goes_through_no_old_records(tmp_path):
    """What saving takes grows with what is new, not with all that was saved."""

    class Unread(list):
        def __iter__(self):
            raise AssertionError("all records were gone through")

    path = tmp_path / "race"
    journal = Journal(path, create(path, {}))
    for number in range(9):
        journal.append("groups", {"losses": np.arange(50.0)}, lasts=False)
        journal._places = Unread(journal._places)
        journal.append("looks", {"number": number}, lasts=True)
        journal.tidy()
        journal._places = journal._places[:]
    journal.close()
    assert len(read(path)[0]) == 19


def test_a_file_that_was_removed_is_written_anew(tmp_path, monkeypatch):
    """What is left out is left out of our own bytes, not of those under its name."""
    monkeypatch.setattr(journal_module, "MOST_WASTE", 10_000)
    path = tmp_path / "race"
    journal = Journal(path, create(path, {"who": "me"}))
    journal.append("groups", {"losses": np.arange(5000.0)}, lasts=False)
    path.unlink()
    journal.tidy()
    journal.append("looks", {"number": 1}, lasts=True)
    journal.close()
    records, reading = read(path)
    assert records == [{"who": "me"}, {"number": 1}]
    assert not reading.torn


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_file_that_took_the_name_is_not_replaced(tmp_path, monkeypatch, meanwhile):
    """Before what finished looks need is written anew, or while it is written."""
    monkeypatch.setattr(journal_module, "MOST_WASTE", 10_000)
    path = tmp_path / "race"
    journal = Journal(path, create(path, {"who": "me"}))
    journal.append("groups", {"losses": np.arange(5000.0)}, lasts=False)

    def take_the_name(handle=None):
        path.unlink()
        path.write_bytes(b"dear")

    if meanwhile:
        monkeypatch.setattr(journal_module.os, "fsync", take_the_name)
    else:
        take_the_name()
    journal.tidy()
    monkeypatch.undo()
    journal.append("looks", {"number": 1}, lasts=True)
    with pytest.raises(OSError, match="another file has its name"):
        journal.sync()
    journal.close()
    assert path.read_bytes() == b"dear"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_opened_again_leaves_no_number_behind(
    tmp_path, monkeypatch
):
    """The number of a file that was closed belongs to the next one that is opened."""
    monkeypatch.setattr(journal_module, "MOST_WASTE", 10_000)
    path = tmp_path / "race"
    journal = Journal(path, create(path, {"who": "me"}))
    journal.append("groups", {"losses": np.arange(5000.0)}, lasts=False)

    def too_many(path):
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(journal_module, "_open", too_many)
        journal.tidy()
    with (tmp_path / "other").open("wb") as other:
        journal.append("looks", {"number": 1}, lasts=True)
        journal.sync()
        assert os.fstat(other.fileno()).st_size == 0
    journal.close()
    assert read(path)[0] == [{"who": "me"}]


def test_what_a_killed_process_left_half_written_is_removed(tmp_path):
    path, left = tmp_path / "race", tmp_path / "race.new"
    reading = create(path, {})
    left.write_bytes(b"cvst")
    Journal(path, reading).close()
    assert not left.exists()
