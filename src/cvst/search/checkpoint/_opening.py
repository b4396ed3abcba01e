"""Opening the checkpoint of a search: whose it is, whether it is whole and in use."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from time import perf_counter
from typing import Any

from cvst._sklearn_compat import own_parameters
from cvst._users_line import users_line
from cvst.exceptions import (
    CheckpointError,
    CheckpointWarning,
    CVSTError,
    InvalidInputError,
)
from cvst.report.machinery import score_name
from cvst.search._setup import Setup
from cvst.search._wording import described
from cvst.search.checkpoint._checks import check_fits
from cvst.search.checkpoint._digest import digest
from cvst.search.checkpoint._doubt import doubted
from cvst.search.checkpoint._fingerprint import (
    SavedSearch,
    difference,
    fingerprint,
)
from cvst.search.checkpoint._journal import Journal, create
from cvst.search.checkpoint._lock import Lock
from cvst.search.checkpoint._recorder import Recorder
from cvst.search.checkpoint._records import Reading, read_records
from cvst.search.checkpoint._story import Story
from cvst.search.rows import Inputs

__all__ = ["recorded"]


@contextmanager
def recorded(
    search: SavedSearch, inputs: Inputs, setup: Setup, now: Callable[[], float]
) -> Iterator[Recorder]:
    """Open the checkpoint of a search, or make it; without one nothing is recorded.

    Raises
    ------
    CheckpointError
        If another process uses it, it is damaged, or it belongs to another search.
    """
    # By identity, since configurations may hold arrays or estimators without a hash.
    numbers = {id(one): n for n, one in enumerate(setup.problem.configurations)}
    if search.checkpoint is None:
        yield Recorder(None, Story(), now, numbers)
        return
    path, began = Path(search.checkpoint), perf_counter()
    # Before the lock: a refusal must not leave a file behind.
    try:
        _check(search, path)
        lock = Lock(path)
    except (OSError, ValueError) as error:
        if isinstance(error, CVSTError):
            raise
        # Of a name that is too long, or with a NUL or half a character pair in it.
        raise _unwritable(path, error) from error
    try:
        _take(lock, path)
        journal, story = _open(search, path, inputs, setup)
        opening = perf_counter() - began
        recorder = Recorder(journal, story, now, numbers, opening)
        try:
            yield recorder
        finally:
            # Ctrl-C may come at the very call that closes it, and at that of the lock.
            try:
                recorder.close()
            except BaseException:
                recorder.close()
                raise
    finally:
        try:
            lock.release()
        except BaseException:
            lock.release()
            raise


def _take(lock: Lock, path: Path) -> None:
    try:
        lock.take()
    except CheckpointError:
        raise  # in use, and it says by whom
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def _open(
    search: SavedSearch, path: Path, inputs: Inputs, setup: Setup
) -> tuple[Journal, Story]:
    """Make the file, or read it if it is that of this search."""
    parts = fingerprint(search, inputs, setup)
    # An empty file is one whose search died before its first record.
    if path.exists() and path.stat().st_size:
        reading = Reading()
        story = _read(path, reading, search._space_values())
        if reading.n_records:
            _compare(path, story, parts)
            if story.begin is not None:
                with doubted(path):
                    check_fits(story.begin, setup.problem.n_configurations)
            return _opened(path, reading), story
        _check_cut(path, reading)
    return _opened(path, create(path, _header(search, parts))), Story()


def _check_cut(path: Path, reading: Reading) -> None:
    """Say that a file is so short that nothing of a race is left in it."""
    if not reading.is_cut:
        raise CheckpointError(
            f"'{path}' is damaged: its first record does not have the checksum it was "
            "written with. Copy the file again, delete it, or name another file to "
            "begin anew."
        )
    warnings.warn(
        f"'{path}' ends within its first record, as after a crash or an incomplete "
        "copy: it holds nothing of a race, and a new one begins there.",
        CheckpointWarning,
        stacklevel=users_line(),
    )


def _opened(path: Path, reading: Reading) -> Journal:
    try:
        return Journal(path, reading)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError | ValueError) -> CheckpointError:
    why = getattr(error, "strerror", None) or error
    return CheckpointError(
        f"checkpoint={str(path)!r} cannot be written: {why}. Name a file in a folder "
        "that exists and may be written to."
    )


def _check(search: SavedSearch, path: Path) -> None:
    if path.is_dir():
        raise CheckpointError(
            f"checkpoint='{path}' is a folder. Name a file, which may not exist yet."
        )
    # A new file takes the place of the old one. Of /dev/null, too, if root asks.
    if path.exists() and not path.is_file():
        raise CheckpointError(
            f"checkpoint='{path}' is not a regular file. Name one, which may not exist "
            "yet."
        )
    if not isinstance(search.random_state, Integral):
        raise InvalidInputError(
            f"checkpoint='{path}' with random_state={search.random_state!r}: the "
            "search, run again, would be another one. Set random_state to a number."
        )
    if getattr(search, "warm_start", False) and hasattr(search, "race_"):
        raise InvalidInputError(
            f"checkpoint='{path}' with warm_start=True after a first fit: the race "
            "would go on from two places. Set one of the two."
        )


def _read(path: Path, reading: Reading, values: Sequence[Any]) -> Story:
    known = {digest(value): value for value in values}
    try:
        story = Story.of(path, read_records(path, reading), known)
    except OSError as error:
        raise CheckpointError(
            f"'{path}' cannot be read: {error.strerror or error}. Name another file to "
            "begin anew."
        ) from error
    if reading.torn and reading.n_records:
        warnings.warn(
            f"'{path}' ends within a record, as after a crash: its last "
            f"{reading.torn:,} bytes are dropped, and what they held is done again.",
            CheckpointWarning,
            stacklevel=users_line(),
        )
    return story


def _compare(path: Path, story: Story, parts: dict[str, Any]) -> None:
    differs = difference(story.header.get("parts", {}), parts)
    if differs:
        raise CheckpointError(
            f"'{path}' belongs to another search: {differs}. Run the search it belongs "
            "to, or name another file to begin anew."
        )


def _header(search: SavedSearch, parts: dict[str, Any]) -> dict[str, Any]:
    settings = own_parameters(search)
    return {
        "parts": parts,
        "search": {
            "kind": type(search).__name__,
            "estimator": described(search.estimator, 300),
            "error_score": settings["error_score"],
            "scoring": described(settings["scoring"], 100),
            "score": score_name(search),
            "random_state": int(search.random_state),
        },
    }
