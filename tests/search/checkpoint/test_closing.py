"""The file of a checkpoint is closed once, whatever comes at that moment."""

from __future__ import annotations

import os

import pytest

from cvst import RaceGridSearchCV, load_checkpoint
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
