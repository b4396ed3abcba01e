"""Files and names that others have made: one sentence each, nothing executed."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from cvst.cli._printing import harmless, say
from cvst.cli.commands import _chosen_search, _report_run
from cvst.cli.grid import _files
from cvst.cli.results import _folder
from cvst.cli.table import _reading

RIDGE = ["-m", "ridge", "-g", "alpha=[1, 10]", "--max-looks", "1"]


@pytest.fixture
def table(people, tmp_path, monkeypatch):
    """Write a small table into the current folder."""
    monkeypatch.chdir(tmp_path)
    people[["age", "income", "cost"]].to_csv("people.csv", index=False)
    return "people.csv"


def refusal(result):
    """Return the one sentence with which a command ends."""
    assert result.code == 2
    assert result.out == ""
    assert "Traceback" not in result.err
    assert result.err.count("\n") in (1, 3)  # with a line and a caret for a grid
    return result.err


ALIASES = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{level}: &a{level} {{<<: [{', '.join([f'*a{level - 1}'] * 9)}]}}\n"
    for level in range(1, 9)
)
LONG = "w" * 5000
GRIDS = {
    "merges.yaml": (MERGES, "holds more than 100,000 values"),
    "bomb.yaml": (ALIASES, "holds more than 100,000 values"),
    "self.yaml": ("a: &a [*a]", "is nested more than 20 deep"),
    "deep.yaml": (f"a: {'[' * 20_000}", "is nested more than 20 deep"),
    "deep.json": (f'{{"a": {"[" * 200_000}', "is nested too deeply"),
    "deep.toml": (f"a = {'[' * 20_000}", "is nested too deeply"),
    # The parser stands these, but not those who follow the lists down.
    "down.json": (
        f'{{"alpha": {"[" * 700}1{"]" * 700}}}',
        "is nested more than 20 deep",
    ),
    "down.toml": (
        f"alpha = {'[' * 150}1{']' * 150}",
        "is nested more than 20 deep",
    ),
    "keys.json": ('{"a":' * 400 + "1" + "}" * 400, "is nested more than 20 deep"),
    "keys.toml": (f"{'.'.join('a' * 3000)} = 1", "is nested more than 20 deep"),
    "table.toml": (f"[{'.'.join('a' * 3000)}]", "is nested more than 20 deep"),
    "both.toml": (
        f"[{'.'.join('a' * 12)}]\n{'.'.join('b' * 12)} = 1",
        "is nested more than 20 deep",
    ),
    "long.yaml": (f"alpha: [{'9' * 400}]", "is more than a number can hold"),
    "long.json": (f'{{"alpha": [{"9" * 400}]}}', "is more than a number can hold"),
    "long.toml": (f"alpha = [{'9' * 400}]", "is more than a number can hold"),
    "longer.yaml": (f"alpha: [{'9' * 5000}]", "is more than a number can hold"),
    "longer.json": (f'{{"alpha": [{"9" * 5000}]}}', "is not valid JSON"),
    "longer.toml": (f"alpha = [{'9' * 5000}]", "is not valid TOML"),
    "hex.toml": (f"alpha = [0x{'f' * 5000}]", "is more than a number can hold"),
    "code.yaml": ("alpha: !!python/object/apply:os.abort []", "empty list"),
}


@pytest.mark.parametrize("name", GRIDS)
def test_grid_files_that_attack_are_refused(name, table, cvst):
    content, words = GRIDS[name]
    Path(name).write_text(content, encoding="utf-8")
    result = cvst("search", table, "-t", "cost", "-m", "ridge", "-g", name)
    assert words in refusal(result)


@pytest.mark.parametrize(
    "content",
    [
        f'{{"{LONG}": [1]}}',
        f'{{"{LONG}": []}}',
        f'{{"{LONG}": 1, "{LONG}": 2}}',
        f'{{"{LONG}": [{{"{LONG}": 1}}]}}',
        f'{{"{LONG}": ["{LONG}("]}}',
        f'{{"alpha": ["uniform(0, 1){" " * 5000}"]}}',
    ],
)
def test_long_names_in_a_grid_file_are_cut(content, table, cvst):
    Path("long.json").write_text(content, encoding="utf-8")
    result = cvst("search", table, "-t", "cost", "-m", "ridge", "-g", "long.json")
    assert len(refusal(result)) < 800


@pytest.mark.parametrize("value", ["x" * 100_000, 9])
def test_a_long_value_that_fails_is_cut(value, table, cvst):
    """All fail, or the first of two does."""
    values = json.dumps({"alpha": ["x" * 100_000, value]})
    Path("long.json").write_text(values, encoding="utf-8")
    result = cvst("search", table, "-t", "cost", "-m", "ridge", "-g", "long.json")
    assert result.code == (0 if value == 9 else 2)
    assert "failed" in result.out + result.err
    assert len(result.out + result.err) < 5000


@pytest.mark.parametrize("values", ["1, " * 60, "[[[], []]], " * 20])
def test_a_long_yaml_is_refused_before_it_is_put_together(
    values, table, cvst, monkeypatch
):
    """That takes many seconds for each megabyte."""
    monkeypatch.setattr(_files, "MOST_VALUES", 50)
    monkeypatch.delattr("yaml.compose")
    Path("long.yaml").write_text(f"alpha: [{values}]", encoding="utf-8")
    result = cvst("search", table, "-t", "cost", "-m", "ridge", "-g", "long.yaml")
    assert "holds more than 50 values" in refusal(result)


@pytest.mark.parametrize(
    "grid",
    [
        f"alpha={'9' * 400}",
        f"alpha=[1, -{'9' * 400}]",
        f"alpha=logspace(0, {'9' * 400}, 3)",
        f"alpha={'9' * 5000}",
    ],
)
def test_numbers_beyond_all_bounds_are_refused(grid, table, cvst):
    result = cvst("search", table, "-t", "cost", "-m", "ridge", "-g", grid)
    assert "is more than a number can hold" in refusal(result)


def test_a_grid_that_fills_the_memory_is_refused_but_can_be_drawn_from(table, cvst):
    """Ten billion configurations by two ranges: too many to list, not to sample."""
    grid = "alpha=linspace(1, 2, 100000) tol=linspace(0.001, 0.002, 100000)"
    command = ["search", table, "-t", "cost", "-m", "ridge", "-g", grid]
    assert "10,000,000,000 configurations" in refusal(cvst(*command))
    drawn = cvst(*command, "--n-iter", 5, "--json")
    assert json.loads(drawn.out)["n_configurations"] == 5


def test_the_largest_grid_may_race(table, cvst, monkeypatch):
    monkeypatch.setattr(_chosen_search, "MOST_CONFIGURATIONS", 2)
    command = ["search", table, "-t", "cost", "-m", "ridge", "-g"]
    assert cvst(*command, "alpha=[1, 2]").code == 0
    assert "The grid has 3 configurations" in refusal(cvst(*command, "alpha=[1, 2, 3]"))


@pytest.mark.parametrize(
    "model",
    ["..:x", ".:x", ":x", "a..b:x", "os.:x", "os:", "os:path.join", "1:2", "a b:c"],
)
def test_what_is_not_an_import_path_is_said_so(model, table, cvst):
    result = cvst("search", table, "-t", "cost", "-m", model, "-g", "alpha=1")
    assert "is not an import path" in refusal(result)


def test_a_model_whose_module_fails_is_said_so(table, cvst):
    Path("broken_model.py").write_text("1 / 0", encoding="utf-8")
    result = cvst("search", table, "-t", "cost", "-m", "broken_model:M", "-g", "a=1")
    assert "ZeroDivisionError: division by zero" in refusal(result)


# --- data ---------------------------------------------------------------------------


def test_a_gzip_that_explodes_is_refused(table, cvst, monkeypatch):
    """The limit is lowered, not the bomb enlarged."""
    monkeypatch.setattr(_reading, "MOST_BYTES", 100_000)
    Path("bomb.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * 100_000))
    assert Path("bomb.csv.gz").stat().st_size < 2000
    result = cvst("search", "bomb.csv.gz", "-t", "a", *RIDGE)
    assert "more than 100,000 bytes when unpacked" in refusal(result)


def test_endless_files_are_refused(table, cvst):
    Path("zero.csv").symlink_to("/dev/zero")
    Path("zero.yaml").symlink_to("/dev/zero")
    data = cvst("search", "zero.csv", "-t", "a", *RIDGE)
    grid = cvst("search", table, "-t", "cost", "-m", "ridge", "-g", "zero.yaml")
    plain = cvst("search", "/dev/zero", "-t", "a", *RIDGE)
    assert "is not a regular file" in refusal(data)
    assert "is not a regular file" in refusal(grid)
    assert "has no known ending" in refusal(plain)


@pytest.mark.parametrize("place", [3, 12, 40, -6, -2])
def test_a_damaged_gzip_is_refused(place, table, cvst):
    """A wrong byte anywhere: in the header, the data, the checksum, the length."""
    content = bytearray(gzip.compress(Path(table).read_bytes(), mtime=0))
    content[place] ^= 0xFF
    Path("damaged.csv.gz").write_bytes(content)
    result = cvst("search", "damaged.csv.gz", "-t", "cost", *RIDGE)
    assert "damaged.csv.gz" in refusal(result)


def test_a_damaged_or_huge_document_is_refused(table, cvst, monkeypatch):
    assert cvst("search", table, "-t", "cost", *RIDGE, "--out", "results").code == 0
    document = Path("results/summary.json")
    content = document.read_text(encoding="utf-8")
    document.write_text("[" * 200_000, encoding="utf-8")
    assert "is damaged" in refusal(cvst("report", "results"))
    document.write_text(content, encoding="utf-8")
    monkeypatch.setattr(_report_run, "MOST_BYTES", 100)
    assert "more than 100 bytes" in refusal(cvst("report", "results"))


# --- what is printed and exported ---------------------------------------------------


def test_names_cannot_speak_to_the_terminal(table, cvst):
    """Control sequences in names and classes are shown, not obeyed."""
    frame = pd.read_csv(table)
    frame["\x1b[2Jcolour"] = ["\x1b]0;title\x07", "b\u202e"] * (len(frame) // 2)
    frame.to_csv("evil.csv", index=False)
    target = ["-t", "\x1b[2Jcolour"]
    told = cvst("search", "evil.csv", *target, *RIDGE)
    wrong = cvst("search", "evil.csv", "-t", "\x1b[31mno", *RIDGE)
    assert told.code == 0
    assert r"\x1b]0;title\x07" in told.out
    for text in (told.out, told.err, refusal(wrong)):
        assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_only_harmful_characters_are_escaped():
    assert harmless("Köln, 東京, 👩\u200d🔬\n\tx") == "Köln, 東京, 👩\u200d🔬\n\tx"
    assert harmless("\r\x00\x9b\u2028\ud800") == r"\r\x00\x9b\u2028\ud800"


def test_what_a_terminal_cannot_encode_is_escaped(tmp_path):
    with (tmp_path / "ascii").open("w", encoding="ascii") as stream:
        say("Köln", stream)
    assert (tmp_path / "ascii").read_bytes() == b"K\\xf6ln\n"


def test_exported_cells_are_no_formulas(table, cvst):
    """Spreadsheets must not run what stands in a grid; numbers stay numbers."""
    grid = "solver=['=cmd()', '@x', '+1', '-1', auto] alpha=[1, -1]"
    command = ["search", table, "-t", "cost", "-m", "ridge", "-g", grid]
    assert cvst(*command, "--out", "results").code == 0
    rows = pd.read_csv("results/cv_results.csv", dtype=str, keep_default_na=False)
    assert set(rows["param_model__solver"]) == {"'=cmd()", "'@x", "'+1", "'-1", "auto"}
    assert set(rows["param_model__alpha"]) == {"1", "-1"}
    scores = rows["mean_test_score"]
    assert not scores[scores != ""].str.startswith("'").any()


# --- imports ------------------------------------------------------------------------

# Standard error of a helper process may be nobody's.
TRAP = "open('executed', 'w').close()\nraise SystemExit('executed')"
TRAPS = ["skops", "plotly", "jinja2", "rich", "pyarrow", "yaml", "numba", "lightgbm"]
# Of what starts processes, too.
TRAPS += ["signal", "random", "pickle", "joblib", "cloudpickle", "sklearn"]
OWN = """
import helper_of_own
from sklearn.linear_model import Ridge

class Own(Ridge):
    def fit(self, X, y):
        helper_of_own.check()
        return super().fit(X, y)
"""
CONSOLE = "import sys; from cvst.cli import main; sys.exit(main())"


@pytest.mark.parametrize(
    ("start", "model", "workers"),
    [
        (["-m", "cvst"], "own:Own", "2"),
        (["-c", CONSOLE], "own:Own", "1"),
        (["-m", "cvst"], "ridge", "1"),
    ],
    ids=["module", "console", "module, model of ours"],
)
def test_modules_beside_the_data_are_not_imported(
    start, model, workers, table, environment, tmp_path
):
    """Only the model that was asked for, and what it imports, comes from there."""
    for name in TRAPS:
        Path(f"{name}.py").write_text(TRAP, encoding="utf-8")
    Path("own.py").write_text(OWN, encoding="utf-8")
    Path("helper_of_own.py").write_text("def check(): pass", encoding="utf-8")
    if start[0] == "-c":
        start = ["-P", *start]  # as a console script, whose folder is another
    command = ["search", table, "-t", "cost", "-m", model, "-g", "alpha=[1, 10]"]
    done = subprocess.run(
        [sys.executable, *start, *command, "--n-jobs", workers, "--out", "results"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert "executed" not in done.stderr
    assert not Path("executed").exists()
    assert done.returncode == 0, done.stderr
    assert "Winner: alpha=" in done.stdout
    assert Path("results/model.skops").exists()


TREE = ["-m", "sklearn.tree:DecisionTreeRegressor", "-g", "max_depth=[1, 2, 3]"]

BAGGING = ["-m", "sklearn.ensemble:BaggingRegressor"]


@pytest.mark.parametrize(
    "command",
    [
        [*TREE, "--n-jobs", "2", "--plan"],
        [*BAGGING, "-g", "n_jobs=[2] n_estimators=3", "--max-looks", "1"],
    ],
    ids=["plan", "workers of the model"],
)
def test_processes_of_any_kind_do_not_import_what_lies_there(
    command, table, environment, tmp_path
):
    """Not only those of a race: a plan has some, and a model may."""
    for name in TRAPS:
        Path(f"{name}.py").write_text(TRAP, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-c", CONSOLE, "search", table, "-t", "cost", *command],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert not Path("executed").exists()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("value", [None, "", "2"])
def test_the_environment_is_left_as_it_was(value, cvst, monkeypatch):
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if value is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", value)
    assert cvst("datasets").code == 0
    assert os.environ.get("PYTHONSAFEPATH") == value


def test_the_current_folder_is_not_left_on_the_path(table, cvst, monkeypatch):
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", os.curdir)])
    Path("my_model.py").write_text(
        "from sklearn.linear_model import Ridge", encoding="utf-8"
    )
    result = cvst(
        "search", table, "-t", "cost", "-m", "my_model:Ridge", "-g", "alpha=1"
    )
    assert result.code == 0
    here = Path.cwd()
    assert here not in [Path(folder).absolute() for folder in sys.path]


# --- nothing is lost at the end -----------------------------------------------------


def test_a_full_disk_still_tells_the_winner(table, cvst, monkeypatch):
    """Exit code 2 and a sentence, but the result of the race is printed."""

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    command = ["search", table, "-t", "cost", *RIDGE, "--out", "results", "--quiet"]
    result = cvst(*command)
    machine = cvst(*command, "--json")
    assert result.code == machine.code == 2
    assert "Winner: alpha=" in result.out
    assert "Load the model" not in result.out
    assert json.loads(machine.out)["files"] == []
    assert result.err == (
        "cvst search: The results could not be written to 'results': No space left on "
        "device. What was there before is unchanged.\n"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_real_full_device_is_one_sentence(environment):
    """Printing itself may fail."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cvst", "plan"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            check=False,
        )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "No space left on device" in done.stderr


UNSAVED = """
import threading
from sklearn.linear_model import Ridge

class Locked(Ridge):
    def fit(self, X, y):
        super().fit(X, y)
        self.lock_ = threading.Lock()
        return self

class Hidden(Ridge):
    def fit(self, X, y):
        super().fit(X, y)
        self.function_ = lambda value: value
        return self
"""


@pytest.mark.parametrize("name", ["Locked", "Hidden"])
def test_a_model_that_cannot_be_saved_is_one_note(name, table, cvst, monkeypatch):
    """A lock cannot be written; a lambda can, but not be read back."""
    Path("unsaved.py").write_text(UNSAVED, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "unsaved", raising=False)
    model = ["-m", f"unsaved:{name}", "-g", "alpha=[1, 10]"]
    command = ["search", table, "-t", "cost", *model, "--out", "results"]
    done = cvst(*command)
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    assert done.out.count("There is no model.skops: skops cannot") == 1
    assert "Load the model" not in done.out
    files = {path.name for path in Path("results").iterdir()}
    assert files == set(_folder.FILES) - {"model.skops"}


LATE = """
from sklearn.linear_model import Ridge

class Late(Ridge):
    n_fits = 0

    def fit(self, X, y):
        type(self).n_fits += 1
        if self.n_fits > 5:
            raise MemoryError("no more")
        return super().fit(X, y)

class Large(Ridge):
    def fit(self, X, y):
        if len(X) == 240:
            raise MemoryError("no more")
        return super().fit(X, y)

class Panic(BaseException):
    pass

class Panics(Ridge):
    n_fits = 0
    def fit(self, X, y):
        Panics.n_fits += 1
        if Panics.n_fits > 5:
            raise Panic("index out of bounds")
        return super().fit(X, y)

class Exits(Ridge):
    def fit(self, X, y):
        if len(X) == 240:
            raise SystemExit(3)
        return super().fit(X, y)
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Late", "The race ended early: All 2 configurations failed on "),
        ("Large", "The winner could not be fitted on all rows: MemoryError: no more"),
        ("Panics", "The race ended early: Panic: index out of bounds"),
        ("Exits", "The winner could not be fitted on all rows: SystemExit: 3"),
    ],
)
def test_what_ends_a_race_still_tells_the_leader(
    name, words, table, people, cvst, monkeypatch
):
    """In a later look or in the final fit: the looks before are not lost."""
    assert len(people) == 240
    Path("too_late.py").write_text(LATE, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "too_late", raising=False)
    model = ["-m", f"too_late:{name}", "-g", "alpha=[1, 10]"]
    command = ["search", table, "-t", "cost", *model]
    strategy = ["--strategy", "cross_validation", "--quiet"]
    done = cvst(*command, *strategy, "--out", "results")
    assert done.code == 2
    assert re.search(r"^(Winner|Leader).*: alpha=", done.out, re.MULTILINE)
    assert words in done.err
    assert done.err.count("\n") == 1
    assert json.loads(Path("results/winner.json").read_text(encoding="utf-8"))
    assert not Path("results/model.skops").exists()


def test_a_report_replaces_no_other_file_unasked(table, cvst):
    assert cvst("search", table, "-t", "cost", *RIDGE, "--out", "results").code == 0
    Path("thesis.html").write_text("years of work", encoding="utf-8")
    command = ["report", "results", "--html", "thesis.html"]
    assert "thesis.html' exists already" in refusal(cvst(*command))
    assert Path("thesis.html").read_text(encoding="utf-8") == "years of work"
    assert cvst(*command, "--overwrite").code == 0
    assert "<html" in Path("thesis.html").read_text(encoding="utf-8")


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no such files here")
def test_a_report_replaces_nothing_but_files(table, cvst):
    """Not even if it is allowed to overwrite: it could be a device."""
    assert cvst("search", table, "-t", "cost", *RIDGE, "--out", "results").code == 0
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door")
        result = cvst("report", "results", "--html", "door", "--overwrite")
    assert "--html 'door' is not a regular file" in refusal(result)
    assert Path("door").is_socket()


def test_a_reader_of_errors_who_leaves_is_no_error(environment, tmp_path):
    """Neither on standard output nor on standard error."""
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m cvst fly 2>&1 >/dev/null | true; echo ok"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert done.stdout == "ok\n"
    assert done.stderr == ""
