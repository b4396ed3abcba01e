"""Tables with types no model reads, and paths that lead elsewhere."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import os
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from cvst.cli.table import _reading, read_table

RIDGE = ["-m", "ridge", "-g", "alpha=[1, 10]", "--max-looks", "1"]


def refusal(result):
    """Return the one sentence with which a command ends."""
    assert result.code == 2, result
    assert result.out == ""
    assert "Traceback" not in result.err
    assert result.err.count("\n") == 1
    return result.err


# --- Parquet and Arrow ----------------------------------------------------------------

N = 40

NESTED = {
    "list": [[1, 2]] * N,
    "list of lists": [[[1], []]] * N,
    "struct": [{"a": 1, "b": {"c": "x"}}] * N,
    "list of structs": [[{"a": 1}]] * N,
    "map": [[("a", 1)]] * N,
    "bytes": [b"\x00\xff"] * N,
    "decimal": [decimal.Decimal("1.50"), decimal.Decimal("2.25")] * (N // 2),
    "time": [dt.time(1, 2)] * N,
    "duration": [dt.timedelta(seconds=5)] * N,
    "null": [None] * N,
}
WORK = {"null"}


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", NESTED)
def test_types_that_no_model_reads_are_one_sentence(
    kind, ending, cvst, tmp_path, monkeypatch
):
    """The column is named, with the way out; the others can still be raced."""
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    given = pyarrow.map_(pyarrow.string(), pyarrow.int64()) if kind == "map" else None
    odd = pyarrow.array(NESTED[kind], type=given)
    table = pyarrow.table({"x": x, "odd": odd, "y": x + rng.normal(size=N)})
    file = f"t.{ending}"
    if ending == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, file)
    else:
        with pyarrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    result = cvst("search", file, "-t", "y", *RIDGE)
    if kind in WORK:
        assert result.code == 0
    else:
        assert "The column 'odd' " in (said := refusal(result))
        assert "--drop 'odd'" in said
    assert cvst("search", file, "-t", "y", *RIDGE, "--drop", "odd").code == 0
    if kind not in WORK:
        refusal(cvst("search", file, "-t", "odd", *RIDGE))


def test_wide_tables_lie_side_by_side_in_memory(tmp_path, monkeypatch):
    """One block of numbers, not one for each column; the values are the same."""
    names = ",".join(f"c{n}" for n in range(1500))
    rows = "\n".join(",".join(map(str, range(k, k + 1500))) for k in range(3))
    path = tmp_path / "wide.csv"
    path.write_text(f"{names}\n{rows}\n", encoding="utf-8")
    wide, _ = read_table(str(path))
    assert wide._mgr.nblocks == 1
    monkeypatch.setattr(_reading, "MANY_COLUMNS", 10_000)
    plain, _ = read_table(str(path))
    assert wide.equals(plain)


# --- where results go -----------------------------------------------------------------


@pytest.fixture
def table(people, tmp_path, monkeypatch):
    """Write a small table into a folder of its own, and go there."""
    home = tmp_path / "home" / "deep"
    home.mkdir(parents=True)
    monkeypatch.chdir(home)
    people[["age", "income", "cost"]].to_csv("people.csv", index=False)
    return "people.csv"


def all_files(folder):
    return {str(one.relative_to(folder)) for one in folder.rglob("*")}


@pytest.mark.parametrize("out", ["../up", "a/../../up"])
def test_results_go_where_out_leads_and_nowhere_else(out, table, cvst, tmp_path):
    """Names of files are ours; nothing in the data takes part in them."""
    before = all_files(tmp_path)
    Path("a").mkdir()
    assert cvst("search", table, "-t", "cost", *RIDGE, "--out", out).code == 0
    there = Path(os.path.normpath(Path.cwd() / out))
    fresh = all_files(tmp_path) - before - {"home/deep/a"}
    up = there.relative_to(tmp_path).as_posix()
    assert all(one == up or Path(one).parent.as_posix() == up for one in fresh)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("name", ["winner.json", "report.html", "summary.json"])
def test_links_in_a_folder_of_results_are_not_followed(name, table, cvst, tmp_path):
    """Whoever can write there cannot make us write elsewhere."""
    precious = tmp_path / "precious"
    precious.write_text("mine", encoding="utf-8")
    out = Path("results")
    out.mkdir()
    (out / name).symlink_to(precious)
    command = ["search", table, "-t", "cost", *RIDGE, "--out", out]
    assert f"already holds {name}" in refusal(cvst(*command))
    assert cvst(*command, "--overwrite").code == 0
    assert precious.read_text(encoding="utf-8") == "mine"
    assert not (out / name).is_symlink()


@pytest.mark.parametrize(
    "out", ["x\0y", "n" * 300, "people.csv", "people.csv/x", "./up/../../up"]
)
def test_places_that_cannot_be_are_refused_before_any_fit(out, table, cvst):
    before = all_files(Path.cwd())
    refusal(cvst("search", table, "-t", "cost", *RIDGE, "--out", out))
    assert all_files(Path.cwd()) == before


@pytest.mark.parametrize("option", ["--out", "--checkpoint"])
def test_an_empty_place_is_not_the_current_folder(option, table, cvst):
    """It is that of a variable of the shell that nobody has set."""
    before = all_files(Path.cwd())
    result = cvst("search", table, "-t", "cost", *RIDGE, option, "")
    assert f"argument {option}: an empty text is no name of a file" in (
        refusal(result).replace("-o/", "")
    )
    assert "an empty text" in refusal(cvst("report", ""))
    assert all_files(Path.cwd()) == before


def test_a_name_with_a_line_break_is_told_on_one_line(table, cvst):
    """What follows the break would look like a line of ours."""
    result = cvst("report", "race\ncvst search: done")
    assert "'race\\ncvst search: done' does not exist" in refusal(result)


@pytest.mark.skipif(sys.platform == "win32", reason="such names cannot be there")
@pytest.mark.parametrize(
    "name",
    [
        "a b;touch pwned.csv",
        "$(touch pwned).csv",
        "-t.csv",
        "new\nline.csv",
        "\x1b[2J.csv",
        "<script>alert(1)<!--.csv",
        "caf\udcff.csv",
    ],
)
def test_hostile_names_of_files_are_shown_and_quoted(name, table, cvst):
    """On the screen, in the command that repeats, and on the page."""
    Path(table).rename(name)
    path = f"./{name}" if name.startswith("-") else name
    out = ["--out", "results"]
    result = cvst("search", path, "-t", "cost", *RIDGE, *out)
    assert result.code == 0, result.err
    assert "\x1b" not in result.out + result.err
    document = json.loads(Path("results/summary.json").read_text(encoding="utf-8"))
    words = shlex.split(document["repeat"])
    assert path in words
    written = Path("results/command.txt").read_bytes()
    assert path in shlex.split(written.decode(errors="surrogateescape"))
    page = Path("results/report.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert not Path("pwned").exists()
