"""The file of a checkpoint is closed once, whatever comes at that moment."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from cvst import RaceGridSearchCV, load_checkpoint
from cvst.exceptions import CheckpointWarning
from cvst.search.checkpoint._journal import Journal

from .conftest import Told


def test_an_interrupt_at_the_close_spares_the_next_file(rows, tmp_path, monkeypatch):
    """The number of a file that was closed belongs to the next one that is opened.

    A second attempt must not write to that file, wait for it or close it.
    """
    path, other = tmp_path / "race", tmp_path / "other"
    close, opened = Journal.close, []

    def interrupted(journal):
        close(journal)
        if not opened:
            opened.append(os.open(other, os.O_CREAT | os.O_RDWR))
            assert opened == [journal._handle]
            raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "close", interrupted)
    search = RaceGridSearchCV(
        Told(), {"max_depth": [1, 2, 4]}, random_state=0, checkpoint=path
    )
    with pytest.raises(KeyboardInterrupt):
        search.fit(*rows)
    # Raises if somebody has closed it.
    assert os.fstat(opened[0]).st_size == 0
    os.close(opened[0])
    assert load_checkpoint(path).stop_reason_ == "tie"
    assert not path.with_name("race.lock").exists()


@pytest.mark.parametrize("what", ["close", "lock"])
def test_a_disk_that_fails_at_the_very_end_costs_no_race(
    what, rows, tmp_path, monkeypatch
):
    """Network disks tell of a full one at the close; failing ones become read-only."""
    path = tmp_path / "race"
    close, unlink = Journal.close, Path.unlink

    def full(journal):
        close(journal)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def read_only(file, **options):
        if file.suffix == ".lock":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        unlink(file, **options)

    message = "cannot be written any more: No space left"
    if what == "close":
        monkeypatch.setattr(Journal, "close", full)
    else:
        monkeypatch.setattr(Path, "unlink", read_only)
        message = "race.lock' cannot be removed: Read-only file system"
    search = RaceGridSearchCV(
        Told(), {"max_depth": [1, 2, 4]}, random_state=0, checkpoint=path
    )
    with pytest.warns(CheckpointWarning, match=message):
        search.fit(*rows)
    assert search.best_estimator_.predict(rows[0]).shape == (240,)
    assert load_checkpoint(path).best_params_ == search.best_params_
