"""Every block of Python in the readme and the pages runs, in the order of its page.

What a page leaves unsaid stands in a comment that readers do not see,
``<!-- python … -->``. A block behind ``<!-- needs NAME -->`` runs where that package is
installed. Names of machines that no test has stand for real ones of this machine: see
``at_home``.
"""

from __future__ import annotations

import argparse
import doctest
import importlib.util
import re
import shlex
import sys
import types
import warnings
from contextlib import ExitStack
from pathlib import Path

import pytest
from docs_pages import differences

from cvst.cli import build_parser, main
from cvst.exceptions import CheckpointError

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if not {"_build", "examples", "api"} & set(path.relative_to(ROOT).parts[:-1])
)
BLOCK = re.compile(
    r"(?:^<!-- needs (?P<needs>\w+) -->\n+)?"
    r"(?:^```(?P<kind>[\w{}]+)\n(?P<shown>.*?)^```|^<!-- python\n(?P<hidden>.*?)^-->)",
    re.DOTALL | re.MULTILINE,
)
SECONDS = re.compile(r"(\bRaceSearchCV\([^()]*\btime_budget=)(\d+)")
# These have tests of their own, beside the code that they are about.
ELSEWHERE = {"spaces.md", "proposing.md", "datasets.md"}


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def python_blocks(path):
    """Return the code of a page as (line, text), hidden code included."""
    text = path.read_text(encoding="utf-8")
    return [
        (text[: match.start(part)].count("\n") + 1, match[part])
        for match in BLOCK.finditer(text)
        for part in ["hidden" if match["hidden"] else "shown"]
        if match["hidden"] or match["kind"] == "python"
        if not match["needs"] or importlib.util.find_spec(match["needs"])
    ]


def needs(path):
    """Return the packages without which some blocks of a page are left out."""
    found = BLOCK.finditer(path.read_text(encoding="utf-8"))
    return sorted({match["needs"] for match in found if match["needs"]})


def with_code(pages):
    return [path for path in pages if python_blocks(path)]


def run(block, line, path, names):
    """Run one block, as a session if it is written as one."""
    place = f"{name_of(path)}, line {line}"
    if ">>>" in block:
        test = doctest.DocTestParser().get_doctest(block, names, place, place, line)
        found = doctest.DocTestRunner(verbose=False).run(test, clear_globs=False)
        names.update(test.globs)
        assert found.failed == 0, place
    else:
        text = "\n" * (line - 1) + block
        # What this module imports from the future is not what a reader has.
        exec(compile(text, place, "exec", dont_inherit=True), names)


@pytest.fixture
def at_home(tmp_path):
    """Return a function that puts what this machine has in the place of what it lacks.

    A Dask cluster of processes in the place of one elsewhere, and without a card the
    device that takes the same path on NumPy. Runs of MLflow are kept in a folder. A
    search that proposes has at most three seconds, however many a reader would give it.
    """
    with ExitStack() as stack:

        def put(code):
            code = SECONDS.sub(lambda found: f"{found[1]}{min(int(found[2]), 3)}", code)
            if '"tcp://scheduler:8786"' in code:
                distributed = pytest.importorskip("distributed")
                cluster = distributed.LocalCluster(
                    n_workers=1, threads_per_worker=1, dashboard_address=None
                )
                address = stack.enter_context(cluster).scheduler_address
                code = code.replace("tcp://scheduler:8786", address)
            if "SLURMCluster(" in code:  # its scheduler starts here, its jobs do not
                dask = pytest.importorskip("dask")
                host = {"host": "127.0.0.1", "dashboard_address": None}
                settings = {"jobqueue.slurm.scheduler-options": host}
                stack.enter_context(dask.config.set(settings))
            if 'device="cuda"' in code and not has_card():
                code = code.replace('device="cuda"', 'device="numpy"')
            if "MLflowLogger" in code:
                mlflow = pytest.importorskip("mlflow")
                mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
            return code

        yield put


def has_card():
    """Return whether PyTorch finds a card."""
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return torch.cuda.is_available()


def first_of_their_kind(pages):
    """Leave out pages whose code is the beginning of that of another one."""
    codes = {path: "".join(block for _, block in python_blocks(path)) for path in pages}
    return [
        path
        for path in pages
        if not any(
            other is not path and codes[other].startswith(codes[path])
            for other in pages
        )
    ]


@pytest.mark.parametrize(
    "path",
    first_of_their_kind([one for one in with_code(PAGES) if one.name not in ELSEWHERE]),
    ids=name_of,
)
def test_code_runs(path, tmp_path, monkeypatch, capsys, at_home):
    """The first page also shows what its code prints."""
    code = "".join(block for _, block in python_blocks(path))
    if "import xgboost" in code or "from xgboost" in code:
        pytest.importorskip("xgboost")  # the test group has it on Linux alone
    if "from dask.distributed" in code:
        pytest.importorskip("distributed")
    if "dask_jobqueue" in code:
        pytest.importorskip("dask_jobqueue")
    if "DaskLGBM" in code and not sys.platform.startswith("linux"):
        pytest.skip("estimators that train on Dask are tested on Linux")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page")  # classes of a page must be found by pickle
    monkeypatch.setitem(sys.modules, "page", module)
    names = vars(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line, block in python_blocks(path):
            capsys.readouterr()
            run(at_home(block), line, path, names)
            text = path.read_text(encoding="utf-8").partition(f"{block}```\n\n")[2]
            if path.name == "getting_started.md" and text.startswith("```text\n"):
                shown = BLOCK.match(text)["shown"]
                assert differences(capsys.readouterr().out, shown) == []
    plt.close("all")


# What is too large for the environment of the tests, with the target that runs it.
RUN_ELSEWHERE = {"docs/user_guide/clusters.md": {"ray": "clusters"}}


def test_few_blocks_wait_for_a_package():
    """A block that nobody runs may be wrong for long."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    installed = text.partition("\ntest = [")[2].partition("\n]")[0]
    found = {
        name_of(path): waits
        for path in PAGES
        if (waits := [one for one in needs(path) if f'"{one}' not in installed])
    }
    assert found == {page: list(waits) for page, waits in RUN_ELSEWHERE.items()}
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for page, waits in RUN_ELSEWHERE.items():
        for target in waits.values():
            recipe = makefile.partition(f"\n{target}: ")[2].partition("\n\n")[0]
            assert f"tests/docs/test_code_blocks.py -k {Path(page).stem}" in recipe


def test_blocks_are_found():
    """The pattern sees shown and hidden code; else nothing would be tested."""
    assert len(with_code(PAGES)) > 20
    text = "a\n```python\nx = 1\n```\n<!-- python\ny = 2\n-->\n```text\nz\n```\n"
    kinds = [match["kind"] or "hidden" for match in BLOCK.finditer(text)]
    assert kinds == ["python", "hidden", "text"]


def test_a_search_has_few_seconds(at_home):
    """Other budgets, and names that only end like it, stay as they are."""
    code = "RaceSearchCV(\n    model, time_budget={},\n).set_params(time_budget=9)"
    assert at_home(code.format(60)) == code.format(3)
    assert at_home(code.format(2)) == code.format(2)
    other = "MyRaceSearchCV(model, time_budget=60)"
    assert at_home(other) == other
    texts = [path.read_text("utf-8") for path in with_code(PAGES)]
    assert sum(bool(SECONDS.search(text)) for text in texts) > 3


def test_outputs_are_compared():
    """Else a page could show anything."""
    assert differences("seen: 99 rows\n", "seen: 98 rows\n") == []
    assert differences("seen: 99 rows\n", "seen: 50 rows\n")
    assert differences("seen: 99 rows\n", "saw: 99 rows\n")
    assert differences("seen: 99 rows\nmore\n", "seen: 99 rows\n")


def test_the_refusal_of_another_search_is_that_of_the_page(tmp_path, monkeypatch):
    path = ROOT / "docs" / "user_guide" / "checkpoints.md"
    monkeypatch.chdir(tmp_path)
    names = {}
    line, block = python_blocks(path)[0]
    run(block, line, path, names)
    fewer = {**names["grid"], "alpha": names["grid"]["alpha"][:2]}
    with pytest.raises(CheckpointError) as caught:
        names["search"].set_params(param_grid=fewer).fit(names["X"], names["y"])
    [told] = re.findall(r"^```text\n(.*?)```", path.read_text("utf-8"), re.M | re.S)
    assert str(caught.value).split() == told.split()


def test_the_error_in_a_grid_is_that_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("wine.csv").write_text("hue,quality\n1,2.5\n2,3.5\n3,4.5\n", encoding="utf-8")
    text = (ROOT / "docs" / "user_guide" / "command_line.md").read_text("utf-8")
    blocks = [one["shown"] or "" for one in BLOCK.finditer(text)]
    [block] = [one for one in blocks if "\ncvst search: The grid" in one]
    command, *told = block.splitlines()
    assert main(shlex.split(command)[2:]) == 2
    assert capsys.readouterr().err.splitlines() == told


# Commands ---------------------------------------------------------------------------


def commands():
    """Return the commands of all pages, as (page, words)."""
    return [
        (name_of(path), words)
        for path in [*PAGES, ROOT / "benchmarks" / "README.md"]
        for words in commands_in(path.read_text(encoding="utf-8"))
    ]


def commands_in(text):
    """Return the commands in the blocks of a page, each as a list of words."""
    found = []
    for match in BLOCK.finditer(text):
        if match["kind"] not in {"shell", "bash", "console"}:
            continue
        prompt = match["kind"] == "console"
        # A line that ends in a backslash goes on in the next one.
        lines = match["shown"].replace("\\\n", " ").splitlines()
        found += [
            words
            for line in lines
            if not prompt or line.startswith("$ ")
            if (words := shlex.split(line.removeprefix("$ "), comments=True))
        ]
    return found


@pytest.mark.parametrize(
    "block",
    [
        "```shell\ncvst search a.csv \\\n  --target y  # predict y\nmake docs\n```\n",
        "```console\n$ cvst search a.csv \\\n    --target y\nseen\n$ make docs\n```\n",
    ],
    ids=["shell", "console"],
)
def test_a_command_may_go_on_in_the_next_line(block):
    first = ["cvst", "search", "a.csv", "--target", "y"]
    assert commands_in(block) == [first, ["make", "docs"]]


class RefusedError(Exception):
    """A command line that the parser does not take."""


@pytest.mark.parametrize(
    ("page", "words"),
    [one for one in commands() if one[1][0] == "cvst"],
    ids=lambda one: " ".join(one) if isinstance(one, list) else one,
)
def test_commands_of_the_pages_are_understood(page, words, monkeypatch):
    def refuse(self, message):
        raise RefusedError(f"{page}: {message}")

    monkeypatch.setattr(argparse.ArgumentParser, "error", refuse)
    pipe = words.index("|") if "|" in words else len(words)
    if "--print-completion" in words:
        return
    build_parser().parse_args(words[1:pipe])


def test_scripts_and_targets_of_the_pages_exist():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    seen = 0
    for page, words in commands():
        if words[0] == "make":
            assert words[1] in targets, page
        elif words[0] == "python" and not words[1].startswith("-"):
            assert (ROOT / words[1]).exists(), f"{page}: {words[1]}"
        else:
            continue
        seen += 1
    assert seen > 8


def test_pages_do_not_name_this_machine():
    """No page has a path or an address that only exists here."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/work/|/tmp/|/root/|simple/", text), name_of(path)


def links(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", text)


# Written by the build, so that they are not here when tests run.
BUILT = ("examples/", "api/")


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path):
    for link in links(path):
        if "://" in link or link.startswith(("mailto:", *BUILT)):
            continue
        target = (path.parent / link).resolve()
        inside = target.relative_to(ROOT.resolve()).as_posix()
        if inside.startswith(("docs/examples", "docs/api")):
            continue
        assert target.exists() or Path(f"{target}.md").exists(), link
