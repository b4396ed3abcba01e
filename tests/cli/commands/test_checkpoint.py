"""``--checkpoint``, ``cvst report`` of one, and SIGTERM."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from cvst import RaceSearchCV
from cvst.search.checkpoint import _pace
from cvst.search.checkpoint._records import (
    PREFIX,
    PREFIX_BYTES,
    Reading,
    Writer,
    first_line,
    read_records,
)

pytestmark = pytest.mark.xdist_group("checkpoint")  # one search for all

SEARCH = ("-t", "cost", "-m", "ridge", "--drop", "ill", "--quiet")


def search(cvst, table, *more):
    return cvst("search", table, *SEARCH, *more)


def told(result):
    """Return what was found, without the time it took."""
    document = json.loads(result.out)
    looks = [{**one, "seconds": None} for one in document["looks"]]
    return document["winner"], looks, document["stop_reason"]


@pytest.fixture(scope="module")
def kept(cvst_once, shared_people_csv, tmp_path_factory):
    """Search once with a checkpoint; return its file and what was printed."""
    file = tmp_path_factory.mktemp("kept") / "people.race"
    result = search(cvst_once, shared_people_csv, "--json", "--checkpoint", file)
    assert result.code == 0
    return file, result


@pytest.fixture
def file(kept, tmp_path):
    """Return a copy of that file, which a test may change."""
    return shutil.copy(kept[0], tmp_path / "people.race")


def test_a_search_from_forged_values_is_one_sentence(cvst, file, shared_people_csv):
    """Its checksums are good: whoever changed it has made new ones."""
    writer, parts = Writer(), [first_line()]
    for record in read_records(Path(file), Reading()):
        if record.kind == "looks":
            record.fields["looks"][0]["seen"]["elapsed"] = []
        sizes = [len(one) for one in record.arrays]
        values = {"kind": record.kind, "fields": record.fields, "bytes": sizes}
        text = json.dumps(values).encode()
        parts += writer.framed([struct.pack("<I", len(text)), text, *record.arrays])
    Path(file).write_bytes(b"".join(parts))
    result = search(cvst, shared_people_csv, "--checkpoint", file)
    assert result.code == 2
    assert result.out == ""
    assert f"'{file}' is damaged" in result.err
    assert result.err.count("\n") == 1


def test_the_same_command_goes_on(cvst, kept, shared_people_csv):
    file, first = kept
    quiet = search(cvst, shared_people_csv, "--json")
    again = search(cvst, shared_people_csv, "--json", "--checkpoint", file)
    assert told(first) == told(again) == told(quiet)
    assert json.loads(first.out)["checkpoint"] == str(file)
    assert "--checkpoint" not in json.loads(first.out)["repeat"]


def test_another_command_is_refused_in_a_sentence(cvst, file, shared_people_csv):
    result = search(cvst, shared_people_csv, "--checkpoint", file, "--random-state", 1)
    assert result.code == 2
    assert "belongs to another search: random_state was 0, and is 1 now" in result.err
    assert result.err.count("\n") == 1


def test_report_tells_of_a_checkpoint(cvst, kept, file, tmp_path):
    winner = json.loads(kept[1].out)
    result = cvst("report", file)
    assert result.code == 0
    assert "Winner: " in result.out
    assert f"Files: {file}.html" in result.out
    assert "</html>" in (tmp_path / "people.race.html").read_text(encoding="utf-8")
    document = json.loads(cvst("report", file, "--json").out)
    assert document["score"] == winner["winner"]["score"]
    assert document["n_looks"] == len(winner["looks"])
    (tmp_path / "page.html").touch()
    assert (
        "exists already" in cvst("report", file, "--html", tmp_path / "page.html").err
    )


def test_a_damaged_checkpoint_is_refused_in_a_sentence(cvst, file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    result = cvst("report", file)
    assert result.code == 2
    assert "was changed: its record" in result.err
    assert result.err.count("\n") == 1


def forged(file, kind, *path):
    """Take a field out of the records of a kind, with checksums that are right."""
    content, writer, parts = file.read_bytes(), Writer(), [first_line()]
    start = len(first_line())
    while start < len(content):
        _, _, _, length = PREFIX.unpack_from(content, start)
        body = content[start + PREFIX_BYTES :][:length]
        start += PREFIX_BYTES + length
        (n_text,) = struct.unpack_from("<I", body)
        document = json.loads(body[4 : 4 + n_text])
        if document["kind"] == kind:
            inner = document["fields"]
            for name in path[:-1]:
                inner = inner[name]
            del inner[path[-1]]
        text = json.dumps(document).encode()
        parts += writer.framed([struct.pack("<I", len(text)), text, body[4 + n_text :]])
    file.write_bytes(b"".join(parts))


@pytest.mark.parametrize(
    "what",
    [("begin", "strategy", "window"), ("looks", "looks", 0, "seen", "fit_seconds")],
)
def test_a_forged_checkpoint_is_refused_in_a_sentence(what, cvst, people_csv, tmp_path):
    """Whoever can write a file can write checksums too."""
    file = tmp_path / "people.race"
    search(cvst, people_csv, "--checkpoint", file)
    forged(file, *what)
    result = cvst("report", file)
    assert result.code == 2
    assert "is damaged: " in result.err
    assert result.err.count("\n") == 1
    assert list(tmp_path.glob("*.html")) == []


# Its eighth fit, in the third look, waits for a file. All before it is saved at once:
# on a busy machine saving seems slow, and would be put off.
SLOW = """
import time
from itertools import count
from pathlib import Path
from sklearn.linear_model import Ridge
from cvst.search.checkpoint import _pace

_pace.SHARE = float("inf")
FITS = count(1)

class Slow(Ridge):
    def fit(self, X, y):
        while next(FITS) >= 8 and not Path("go").exists():
            time.sleep(0.1)
        return super().fit(X, y)
"""


COMMAND = [
    "search", "table.csv", "-t", "y", "-m", "slow_model:Slow",
    "-g", "alpha=[0.1, 1, 10]", "--quiet", "--json",
    "--strategy", "cross_validation", "--checkpoint", "race",
]  # fmt: skip


@pytest.fixture
def slow(environment, tmp_path, monkeypatch):
    """Start a search that waits in its third look; return its process."""
    monkeypatch.chdir(tmp_path)
    # The same command in this process imports the model, which changes this.
    monkeypatch.setattr(_pace, "SHARE", _pace.SHARE)
    monkeypatch.delitem(sys.modules, "slow_model", raising=False)
    Path("slow_model.py").write_text(SLOW)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3)).round(3).tolist()
    lines = ["a,b,y", *(",".join(map(str, row)) for row in rows)]
    Path("table.csv").write_text("\n".join(lines))
    with subprocess.Popen(
        [sys.executable, "-m", "cvst", *COMMAND],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        yield process
        process.kill()


def wait_for_looks(cvst, file, n_looks):
    """Read the checkpoint until it has some looks: the race runs meanwhile."""
    for _ in range(3000):
        result = cvst("report", file, "--json") if file.exists() else None
        if result is not None and result.code == 0:
            document = json.loads(result.out)
            if document["n_looks"] >= n_looks:
                return document
        time.sleep(0.1)
    raise AssertionError("the race did not get there")


@pytest.mark.skipif(os.name == "nt", reason="no SIGTERM there")
def test_sigterm_keeps_the_leader_and_the_race(slow, cvst, tmp_path):
    """Like Ctrl-C; the same command then ends as one that was left alone."""
    file = tmp_path / "race"
    seen = wait_for_looks(cvst, file, 2)
    assert seen["stop_reason"] is None
    assert seen["n_looks"] == 2
    assert seen["leader"]
    slow.send_signal(signal.SIGTERM)
    out, err = slow.communicate(timeout=600)
    assert slow.returncode == 130, err
    document = json.loads(out)
    assert document["stop_reason"] == "interrupted"
    assert document["winner"]["params"]
    assert not file.with_name("race.lock").exists()

    Path("go").touch()
    result = cvst(*COMMAND)
    assert result.code == 0, result.err
    again = json.loads(result.out)
    assert again["looks"][: len(document["looks"])] == document["looks"]
    file.unlink()
    quiet = json.loads(cvst(*COMMAND).out)
    assert again["winner"] == quiet["winner"]
    assert again["stop_reason"] == quiet["stop_reason"] != "interrupted"


def test_a_second_process_is_refused_while_the_first_runs(slow, cvst, tmp_path):
    wait_for_looks(cvst, tmp_path / "race", 1)
    second = cvst(*COMMAND)
    assert second.code == 2
    assert f"is in use by process {slow.pid}, which is still running" in second.err
    assert "cannot be written" not in second.err
    slow.kill()
    slow.communicate()
    report = "report", tmp_path / "race", "--json"
    for _ in range(2):  # its own page may be replaced
        assert not json.loads(cvst(*report).out)["stop_reason"]
    page = tmp_path / "race.html"
    page.write_text("years of work", encoding="utf-8")
    assert "race.html' exists already" in cvst(*report).err
    assert page.read_text(encoding="utf-8") == "years of work"


ODD = """
import os
from pathlib import Path
from sklearn.linear_model import Ridge

class Panic(BaseException):
    "As extensions written in Rust raise it."

ERRORS = {
    "exit": SystemExit(0),
    "panic": Panic("index out of bounds"),
    "generator": GeneratorExit(),
}

class Odd(Ridge):
    def fit(self, X, y, sample_weight=None):
        fits, error = Path("fits"), Path("error")
        with fits.open("a") as file:
            file.write("x")
        kind, number = os.environ["ODD"].split()
        if fits.stat().st_size == int(number):
            raise ERRORS[kind]
        return super().fit(X, y)
"""

# Three fits in each of five looks, and the last one.
N_FITS = 16


@pytest.mark.parametrize(
    ("kind", "number"),
    [("exit", 2), ("generator", 8), ("panic", 16)],
    ids=["first look", "later look", "last fit"],
)
def test_what_is_no_exception_keeps_the_leader_and_the_race(
    kind, number, environment, tmp_path
):
    """As Ctrl-C does; even an exit with 0 is no success."""
    (tmp_path / "odd_model.py").write_text(ODD)
    rows = np.random.default_rng(0).normal(size=(60, 3)).round(3).tolist()
    lines = ["a,b,y", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    command = [one.replace("slow_model:Slow", "odd_model:Odd") for one in COMMAND]

    def ended():
        return subprocess.run(
            [sys.executable, "-m", "cvst", *command],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**environment, "ODD": f"{kind} {number}"},
        )

    first = ended()
    assert first.returncode == 2
    assert "Traceback" not in first.stderr
    assert first.stderr.count("\n") == 1
    assert not (tmp_path / "race.lock").exists()
    if number == 2:
        assert first.stdout == ""
        assert "The same command goes on with 'race'" in first.stderr
    else:
        told = json.loads(first.stdout)
        assert len(told["looks"]) == min(5, (number - 1) // 3)
        assert told["winner"]["params"]
    # All fits but that one were kept.
    again = ended()
    assert again.returncode == 0, again.stderr
    assert len((tmp_path / "fits").read_text()) == N_FITS + 1
    assert json.loads(again.stdout)["stop_reason"] == "all_folds"


def test_a_checkpoint_tells_how_many_were_not_looked_at(cvst, tmp_path):
    """Witness: the state of the search."""
    file = tmp_path / "iris.race"
    search = RaceSearchCV(
        KNeighborsClassifier(), max_looks=1, random_state=0, checkpoint=file
    )
    state = search.fit(*load_iris(return_X_y=True)).race_
    assert state.n_waiting > 0
    told = (
        f"{state.n_left} of {state.n_configurations} configurations are left, "
        f"{state.n_waiting} not looked at"
    )
    assert told in cvst("report", file).out
