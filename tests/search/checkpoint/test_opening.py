"""Whose checkpoint it is, and what happens to a file that cannot be used or written."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from cvst import CVST, RaceGridSearchCV, RaceSearchCV, load_checkpoint
from cvst.exceptions import CheckpointError, CheckpointWarning, InvalidInputError
from cvst.search._setup import prepare
from cvst.search.checkpoint import _fingerprint, _journal, _opening
from cvst.search.checkpoint._records import (
    PREFIX_BYTES,
    Reading,
    first_line,
    read_records,
)

from .conftest import Told, exact_result

GRID = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 20]}


def search(path, **options):
    options = {"random_state": 0, "max_looks": 2, "checkpoint": path, **options}
    return RaceGridSearchCV(Told(), options.pop("grid", GRID), **options)


@pytest.fixture
def path(tmp_path, rows):
    """Return the checkpoint of a finished race."""
    path = tmp_path / "race"
    search(path).fit(*rows)
    return path


DIFFERENT = {
    "grid": (
        {"grid": {**GRID, "max_depth": [1, 2, 4]}},
        r"param_grid\['max_depth'\] was \[1, 2, 3\], and is \[1, 2, 4\] now",
    ),
    "parameter": (
        {"grid": {"max_depth": [1, 2, 3]}},
        r"param_grid\['min_samples_leaf'\] was .*, and there is none now",
    ),
    "strategy": (
        {"strategy": CVST(max_steps=9)},
        "strategy was track_and_confirm, and is CVST",
    ),
    "seed": ({"random_state": 1}, "random_state was 0, and is 1 now"),
    "looks": ({"max_looks": 3}, "max_looks was 2, and is 3 now"),
    "score": (
        {"scoring": "neg_mean_absolute_error"},
        "scoring was None, and is neg_mean_absolute_error now",
    ),
    "folds": ({"cv": KFold(4)}, "cv was None, and is KFold"),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_another_search_is_refused_and_told_why(name, path, rows):
    options, message = DIFFERENT[name]
    content = path.read_bytes()
    with pytest.raises(CheckpointError, match=f"belongs to another search: {message}"):
        search(path, **options).fit(*rows)
    assert path.read_bytes() == content


def test_another_estimator_is_refused(path, rows):
    other = RaceGridSearchCV(
        Told(criterion="absolute_error"), GRID, random_state=0, max_looks=2,
        checkpoint=path,
    )  # fmt: skip
    with pytest.raises(CheckpointError, match="criterion of the estimator was squared"):
        other.fit(*rows)
    other.set_params(estimator=Ridge(), param_grid={"alpha": [1, 2]})
    with pytest.raises(CheckpointError, match="another search: "):
        other.fit(*rows)


SCRIPT = """
import sys
from sklearn.datasets import make_regression
from sklearn.linear_model import Ridge
from cvst import RaceGridSearchCV

class Own(Ridge):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, {target}, sample_weight)

class Score:
    def __call__(self, model, X, y):
        return {sign} * model.score(X, y)

search = RaceGridSearchCV(
    Own(), {{"alpha": [1, 2]}}, scoring=Score(), random_state=0,
    checkpoint=sys.argv[1]
)
search.fit(*make_regression(60, 3, random_state=0))
"""


def test_a_class_of_the_script_that_was_edited_is_refused(tmp_path):
    """Its own methods count, whether it is the estimator or what scores it."""

    def run(target="y", sign="1"):
        script = SCRIPT.format(target=target, sign=sign)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script, tmp_path / "race"],
            check=False,
            capture_output=True,
            text=True,
        )
        return done.stderr.strip().split("\n")[-1]

    assert run() == ""
    assert run() == ""
    assert "the estimator (Own) does not have the same content" in run(target="2 * y")
    assert "scoring was <__main__.Score" in run(sign="-1")


def other_data(rows):
    X, y = rows
    changed, swapped = X.copy(), y.copy()
    changed[5, 1] += 1e-12
    swapped[[0, 1]] = swapped[[1, 0]]
    weights = np.ones(len(y))
    return {
        "X": ((changed, y), {}, r"X \(240 by 3\) does not have the same content"),
        "y": ((X, swapped), {}, r"y \(240\) does not have the same content"),
        "fewer rows": ((X[:-1], y[:-1]), {}, "X was 240 by 3, and is 239 by 3 now"),
        "weights": ((X, y), {"sample_weight": weights}, "there was no sample_weight"),
        "groups": ((X, y), {"groups": np.arange(240) // 2}, "there was no groups"),
        "test set": ((X, y), {"X_val": X, "y_val": y}, "there was no X_val"),
    }


@pytest.mark.parametrize("name", other_data((np.zeros((240, 3)), np.zeros(240))))
def test_other_data_are_refused(name, path, rows):
    data, params, message = other_data(rows)[name]
    with pytest.raises(CheckpointError, match=message):
        search(path).fit(*data, **params)


def test_a_table_and_its_values_are_not_the_same(tmp_path, rows):
    """A model may use the names of columns."""
    X, y = rows
    path = tmp_path / "table"
    search(path).fit(pd.DataFrame(X, columns=list("abc")), y)
    search(path).fit(pd.DataFrame(X.copy(), columns=list("abc")), y)
    with pytest.raises(CheckpointError, match=r"X .* does not have the same content"):
        search(path).fit(pd.DataFrame(X, columns=list("abd")), y)


@pytest.mark.parametrize("name", ["the version of numpy", "the version of cvst"])
def test_another_version_is_refused(name, path, rows, monkeypatch):
    real = _fingerprint._versions

    def later(*args):
        for key, part in real(*args):
            yield key, _fingerprint._shown_part("99.0") if key == name else part

    monkeypatch.setattr(_fingerprint, "_versions", later)
    with pytest.raises(CheckpointError, match=rf"{name} was \S+, and is 99.0 now"):
        search(path).fit(*rows)


def test_folds_that_are_never_the_same_are_refused(tmp_path, rows):
    path = tmp_path / "race"
    search(path, cv=KFold(5, shuffle=True), max_looks=9).fit(*rows)
    with pytest.raises(CheckpointError, match="the order of the rows and their folds"):
        search(path, cv=KFold(5, shuffle=True), max_looks=9).fit(*rows)


@pytest.mark.parametrize("seed", [None, np.random.RandomState(0)])
def test_a_search_without_a_seed_is_refused_at_once(seed, tmp_path, rows):
    with pytest.raises(InvalidInputError, match="Set random_state to a number"):
        search(tmp_path / "race", random_state=seed).fit(*rows)
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_written_are_refused_at_once(tmp_path, rows):
    with pytest.raises(CheckpointError, match="is a folder"):
        search(tmp_path).fit(*rows)
    with pytest.raises(CheckpointError, match="cannot be written: No such file"):
        search(tmp_path / "nowhere" / "race").fit(*rows)
    with pytest.raises(CheckpointError, match="cannot be written: File name too long"):
        search(tmp_path / ("x" * 300)).fit(*rows)
    file = tmp_path / "notes.txt"
    file.write_text("do not touch")
    with pytest.raises(CheckpointError, match="is not a checkpoint of cvst"):
        search(file).fit(*rows)
    assert file.read_text() == "do not touch"
    assert [one.name for one in tmp_path.iterdir()] == ["notes.txt"]


def test_a_file_that_cannot_be_read_is_refused(path, rows, monkeypatch):
    def broken(path, reading):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(_opening, "read_records", broken)
    with pytest.raises(CheckpointError, match="cannot be read: Input/output error"):
        search(path).fit(*rows)
    assert not path.with_name(path.name + ".lock").exists()


def test_a_link_stays_a_link(tmp_path, rows):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "race")
    found = search(link).fit(*rows)
    assert link.is_symlink()
    assert load_checkpoint(tmp_path / "race").best_params_ == found.best_params_


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "left by a crash"])
def test_what_stands_where_a_new_file_is_written_is_not_followed(kind, tmp_path):
    path, victim = tmp_path / "race", tmp_path / "victim"
    fresh = path.with_name("race.new")
    if kind == "pipe":
        os.mkfifo(fresh)
    elif kind == "left by a crash":
        fresh.write_bytes(_journal.first_line() + b"half of a header")
    else:
        fresh.symlink_to(victim)
    if kind == "link":
        victim.write_bytes(b"dear")
    _journal.create(path, {"parts": {}})
    assert path.is_file()
    assert not path.is_symlink()
    assert not fresh.is_symlink()
    assert not fresh.exists()
    assert victim.exists() == (kind == "link")
    assert kind != "link" or victim.read_bytes() == b"dear"


def test_a_file_of_somebodys_where_a_new_one_is_written_is_left_alone(tmp_path):
    """It may be called so by chance; a race without room for a new file goes on."""
    path, dear = tmp_path / "race", tmp_path / "race.new"
    dear.write_bytes(b"years of work")
    with pytest.raises(CheckpointError, match=r"'race\.new' is in its way"):
        _journal.create(path, {"parts": {}})
    assert list(tmp_path.iterdir()) == [dear]
    dear.rename(tmp_path / "elsewhere")
    journal = opened(path)
    (tmp_path / "elsewhere").rename(dear)
    with pytest.raises(FileExistsError, match="is no checkpoint"):
        journal._write_anew([True] * 3)
    journal.close()
    _journal.Journal(path, _read_again(path)).close()
    assert dear.read_bytes() == b"years of work"


def _read_again(path):
    reading = Reading()
    assert len(list(read_records(path, reading))) == 3
    return reading


def opened(path):
    journal = _journal.Journal(path, _journal.create(path, {"parts": {}}))
    journal.append("begin", {"first": 1}, lasts=True)
    journal.append("groups", {"second": 2}, lasts=False)
    return journal


@pytest.mark.skipif(os.name == "nt", reason="open files cannot be removed there")
def test_a_file_that_was_removed_is_written_anew(tmp_path):
    """What is written to a file without a name is lost at the end."""
    journal = opened(tmp_path / "race")
    (tmp_path / "race").unlink()
    with pytest.warns(CheckpointWarning, match="was removed .* is written anew"):
        journal.sync()
    journal.append("looks", {"third": 3}, lasts=True)
    journal.sync()
    journal.close()
    kinds = [one.kind for one in read_records(tmp_path / "race", Reading())]
    assert kinds == ["header", "begin", "groups", "looks"]


@pytest.mark.skipif(os.name == "nt", reason="open files cannot be removed there")
def test_a_file_that_took_the_name_is_left_alone(tmp_path):
    journal = opened(tmp_path / "race")
    (tmp_path / "race").unlink()
    (tmp_path / "race").write_bytes(b"dear")
    with pytest.raises(OSError, match="another file has its name"):
        journal.sync()
    journal.close()
    assert (tmp_path / "race").read_bytes() == b"dear"


@pytest.mark.skipif(os.name == "nt", reason="open files cannot be removed there")
@pytest.mark.parametrize("gone", ["file", "folder"])
def test_a_race_whose_file_is_removed_says_so_once(gone, tmp_path, rows, fits):
    (tmp_path / "sub").mkdir()
    path = tmp_path / "sub" / "race"

    def remove():
        path.unlink()
        if gone == "folder":
            shutil.rmtree(path.parent)

    alone = exact_result(search(None).fit(*rows), rows[0])
    fits.count, fits.at = 0, {8: remove}
    with pytest.warns(CheckpointWarning) as told:
        fitted = search(path).fit(*rows)
    assert exact_result(fitted, rows[0]) == alone
    said = [str(one.message) for one in told]
    if gone == "file":
        assert len(said) == 1
        assert "written anew" in said[0]
        assert load_checkpoint(path).best_params_ == fitted.best_params_
    else:
        assert "cannot be written any more: No such file or directory" in said[0]


def test_a_fit_that_goes_to_another_folder_takes_no_file_along(
    tmp_path, rows, fits, monkeypatch
):
    """The file and its lock are where they were when the search began."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_journal, "MOST_WASTE", 100)
    fits.at[3] = lambda: os.chdir("elsewhere")
    search("race").fit(*rows)
    assert {one.name for one in tmp_path.iterdir()} == {"elsewhere", "race"}
    assert not list((tmp_path / "elsewhere").iterdir())
    assert load_checkpoint(tmp_path / "race").stop_reason_ is not None


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no such files here")
def test_what_is_no_regular_file_is_not_replaced(tmp_path, rows, monkeypatch):
    """A race of root would otherwise put its file in the place of a device."""
    monkeypatch.chdir(tmp_path)  # paths of sockets must be short
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door")
        with pytest.raises(CheckpointError, match="'door' is not a regular file"):
            search("door").fit(*rows)
    assert [one.name for one in tmp_path.iterdir()] == ["door"]


def test_a_refusal_leaves_an_earlier_fit_alone(path, rows):
    other = search(path)
    other.fit(*rows)
    before = exact_result(other, rows[0])
    with pytest.raises(CheckpointError):
        other.fit(rows[0] + 1, rows[1])
    assert exact_result(other, rows[0]) == before


def test_a_torn_tail_is_dropped_and_said(path, rows, fits):
    quiet = exact_result(search(None).fit(*rows), rows[0])
    content = path.read_bytes()
    path.write_bytes(content[:-100])
    with pytest.warns(CheckpointWarning, match=r"last [\d,]+ bytes are dropped"):
        again = search(path).fit(*rows)
    assert exact_result(again, rows[0]) == quiet
    # What was written over the tear is whole.
    assert load_checkpoint(path).stop_reason_ == "max_looks"


def header_end(path):
    """Return where the first record ends."""
    reading = Reading()
    next(read_records(path, reading))
    return reading.places[0].stop


def test_a_file_cut_within_its_header_is_begun_anew(path, rows, tmp_path):
    """Wherever it was cut: nothing of a race was in it, and nobody is locked out."""
    content, cut = path.read_bytes(), tmp_path / "cut"
    end, line = header_end(path), len(first_line())
    for size in range(1, end):
        # One byte more: to write it anew each time would wait for the disk.
        with cut.open("ab") as file:
            file.write(content[size - 1 : size])
        reading = Reading()
        assert list(read_records(cut, reading)) == []
        assert reading.is_cut
    X, y = rows
    inputs, options = search(cut)._read(X, y, {}), search(cut)._options()
    setup = prepare(options, list(search(cut)._configurations()), inputs)
    for size in (1, line - 1, line, line + 1, line + PREFIX_BYTES, end - 1):
        cut.write_bytes(content[:size])
        with pytest.raises(CheckpointError, match="holds no race yet"):
            load_checkpoint(cut)
        with pytest.warns(CheckpointWarning, match="ends within its first record"):
            journal, story = _opening._open(search(cut), cut, inputs, setup)
        journal.close()
        assert story.begin is None
        assert cut.read_bytes() == content[:end]


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_race_ends_as_usual_in_a_file_that_was_cut_in_its_header(path, rows, share):
    quiet = exact_result(search(None).fit(*rows), rows[0])
    size = 1 + int(share * (header_end(path) - 2))
    path.write_bytes(path.read_bytes()[:size])
    with pytest.warns(CheckpointWarning, match="a new one begins there"):
        again = search(path).fit(*rows)
    assert exact_result(again, rows[0]) == quiet
    assert load_checkpoint(path).stop_reason_ == "max_looks"


@pytest.mark.parametrize("alone", [True, False])
def test_a_header_that_was_changed_is_refused(path, rows, alone):
    """One that is as long as it was is not cut, and the file stays as it is."""
    end = header_end(path)
    content = bytearray(path.read_bytes()[: end if alone else None])
    content[end - 5] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"is damaged|was changed"):
        search(path).fit(*rows)
    assert path.read_bytes() == content


def test_a_changed_byte_is_refused(path, rows):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"was changed: its record \d+, at byte"):
        search(path).fit(*rows)
    with pytest.raises(CheckpointError, match="was changed"):
        load_checkpoint(path)


def test_a_search_cannot_go_on_from_two_places(tmp_path, rows):
    one = RaceSearchCV(
        Told(), {"max_depth": [1, 2, 3]}, n_iter=3, random_state=0, warm_start=True,
        checkpoint=tmp_path / "race",
    )  # fmt: skip
    one.fit(*rows)
    with pytest.raises(InvalidInputError, match="go on from two places"):
        one.resume(*rows, n_iter=3)


def test_what_does_not_change_the_result_may_change(path, rows):
    search(path, n_jobs=2, verbose=0, on_interrupt="return").fit(*rows)


FULL = """
    import json, resource, signal, sys, warnings
    from pathlib import Path
    import numpy as np
    from sklearn.tree import DecisionTreeRegressor
    from cvst import RaceGridSearchCV

    # What a full disk does to a file: writing beyond a place fails.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] + rng.normal(size=400)
    race = sys.argv[1]
    found = []
    for path, most in [(race, 12_000), (race, 10**9), (None, 10**9)]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
        search = RaceGridSearchCV(
            DecisionTreeRegressor(), {"max_depth": [1, 2, 3, 4]}, random_state=0,
            checkpoint=path,
        )
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            search.fit(X, y)
        left = [(one.name, one.stat().st_size) for one in Path(race).parent.iterdir()]
        found.append([[str(one.message) for one in told], search.best_score_, left])
    print(json.dumps(found))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="no limit on files here")
def test_a_full_disk_does_not_end_the_race(tmp_path):
    """There is one warning; with more room the same file goes on."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FULL), str(tmp_path / "race")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    full, roomy, plain = json.loads(done.stdout)
    warned, score, left = full
    assert len(warned) == 1
    assert re.search(
        "cannot be written any more: File too large. The race goes", warned[0]
    )
    [(name, size)] = left  # and no lock
    assert name == "race"
    assert 0 < size <= 12_000
    assert roomy[:2] == plain[:2] == [[], score]


def mounted(folder):
    """Return whether a small file system could be mounted here."""
    if os.name != "posix" or os.geteuid() != 0:
        return False
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def test_a_full_file_system_does_not_end_the_race(tmp_path, rows):
    folder = tmp_path / "small"
    folder.mkdir()
    if not mounted(folder):
        pytest.skip("no file system can be mounted here")
    try:
        quiet = exact_result(search(None, max_looks=9).fit(*rows), rows[0])
        path = folder / "race"
        (folder / "filling").write_bytes(bytes(40_000))
        with pytest.warns(CheckpointWarning, match="No space left on device"):
            first = search(path, max_looks=9, return_pointwise=True).fit(*rows)
        (folder / "filling").unlink()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = search(path, max_looks=9, return_pointwise=True).fit(*rows)
        for one in (first, again):
            result = exact_result(one, rows[0])
            assert {**result, "pointwise": []} == quiet
    finally:
        subprocess.run(["umount", str(folder)], check=True)
